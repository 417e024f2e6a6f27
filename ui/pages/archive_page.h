// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/archive_view.h"
#include "ui/models/session.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QBoxLayout;
class QComboBox;

namespace swage::ui {

class HeatLegend;
class HeatMap;
class TimeBar;

// The live map of the 36 cells with its legend: what the colours stand for, whose islands, and when in the run.
class ArchivePage final : public QWidget {
  Q_OBJECT

 public:
  ArchivePage(Session& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  [[nodiscard]] HeatMap& map() { return *m_map; }
  void setChooseFile(const ChooseFile& chooseFile);

 Q_SIGNALS:
  void cellOpened(int index);
  // One cell was dropped on another, or chosen beside it.
  void compareRequested(swage::domain::CandidateId first, swage::domain::CandidateId second);

 private:
  [[nodiscard]] QBoxLayout* makeBar();
  void fillMetrics();
  void fillIslands();
  void showCells();
  void showSelection();
  void selectCell(int index);
  void pairCells(int first, int second);
  [[nodiscard]] QString tooltip(int index);

  Session& m_session;
  ArchiveView m_view;
  QComboBox* m_metric;
  QComboBox* m_island;
  HeatMap* m_map;
  TimeBar* m_time;
  HeatLegend* m_legend;
};

}  // namespace swage::ui
