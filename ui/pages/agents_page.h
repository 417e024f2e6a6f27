// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/project_session.h"
#include "ui/models/search_activity.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QBoxLayout;
class QLabel;
class QTableView;

namespace swage::ui {

class EmptyState;
class LaneModel;
class ProposerGridModel;
class ShareDelegate;
class SmallMultiples;
class TallyDelegate;
class TimelineChart;

// What a search is doing: how long it still takes, whether it stagnates, what each worker and compiler is at, what each
// operator has done on each island, and how speedup, cells and credit went. Of a run that is over, what its record has
// of that. The window calls it "Operators".
class AgentsPage final : public QWidget {
  Q_OBJECT

 public:
  AgentsPage(ProjectSession& session, services::RunService& run, const services::RecordService& record,
             QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // How charts are taken away; without, they can only be copied.
  void setOutlet(const ChartOutlet& outlet);

 Q_SIGNALS:
  void candidateOpened();  // the one that is selected now

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeContent();
  void setUpLanes();
  void setUpGrid();
  void showProgress();
  void showLanes();
  void showProposers();
  void showCharts();
  void showExchange();
  void fitIslands();
  void fitTables();
  void openCandidate(domain::CandidateId candidate);

  ProjectSession& m_session;
  SearchActivity m_activity;
  LaneModel* m_laneModel;
  ProposerGridModel* m_gridModel;
  QTableView* m_lanes;
  QTableView* m_grid;
  ShareDelegate* m_laneDelegate;
  ShareDelegate* m_earnedDelegate;
  TallyDelegate* m_tallyDelegate;
  TimelineChart* m_convergence;
  SmallMultiples* m_credit;
  EmptyState* m_convergenceEmpty;
  EmptyState* m_creditEmpty;
  EmptyState* m_empty = nullptr;
  QLabel* m_left;
  QLabel* m_reason;
  QLabel* m_exchange;
  QBoxLayout* m_charts = nullptr;
  QColor m_caution;
  double m_drawnFrom = -1.0;
  double m_drawnUntil = -1.0;
};

}  // namespace swage::ui
