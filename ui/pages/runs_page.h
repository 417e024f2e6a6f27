// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/other_projects.h"
#include "ui/models/project_session.h"
#include "ui/pages/run_picker.h"
#include "ui/widgets/theme.h"

class QLabel;
class QMenu;
class QTableView;

namespace swage::ui {

class CandidateMenu;
class EmptyState;
class FilterEdit;
class RunComparisonDialog;
class RunTableModel;

// Every run of the open record. A double click, or Enter, shows one in all pages; two are compared with each other, or
// one with a run of another project.
class RunsPage final : public QWidget {
  Q_OBJECT

 public:
  RunsPage(ProjectSession& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // What is done with the best candidate of a run.
  void setMenu(CandidateMenu* menu) { m_menu = menu; }
  // How runs of other projects are found; without it there are only those of the open one.
  void setOtherProjects(const OpenRecord& open, const ChooseFolder& chooseFolder);
  // Whether a report can be asked for.
  void offerReports() { m_offersReports = true; }

 Q_SIGNALS:
  void compareRequested(const swage::ui::CandidateRef& left, const swage::ui::CandidateRef& right);
  void reportRequested(const swage::services::RunSummary& run);

 private:
  void setUpTable();
  void showContextMenu(const QPoint& position);
  void fillMenuOfOne(QMenu& menu, const services::RunSummary& run);
  void fillMenuOfTwo(QMenu& menu, const services::RunSummary& left, const services::RunSummary& right);
  void compareRuns(const services::RunSummary& left, const services::RunSummary& right);
  [[nodiscard]] std::vector<services::RunSummary> chosen() const;
  void reload();
  void showShownRun();
  void openRun(const QModelIndex& index);
  void updateCounts();

  ProjectSession& m_session;
  const services::RecordService& m_record;
  RunTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_empty;
  FilterEdit* m_filter;
  QLabel* m_count;
  CandidateMenu* m_menu = nullptr;
  OtherProjects m_projects;
  ChooseFolder m_chooseFolder;
  RunComparisonDialog* m_comparison = nullptr;  // made when it is first asked for
  bool m_offersReports = false;
};

}  // namespace swage::ui
