// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QTemporaryDir>
#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/archive_view.h"
#include "ui/models/project_session.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QLayout;
class QComboBox;
class QMenu;
class QMimeData;
class QToolButton;

namespace swage::ui {

class CandidateMenu;
class HeatLegend;
class HeatMap;
class ScaleMenu;
class TimeBar;

// The live map of the 36 cells with its legend: what the colours stand for, whose islands, and when in the run.
class ArchivePage final : public QWidget {
  Q_OBJECT

 public:
  ArchivePage(ProjectSession& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  [[nodiscard]] HeatMap& map() { return *m_map; }
  void setChooseFile(const ChooseFile& chooseFile);
  // What is done with the best candidate of a cell.
  void setMenu(CandidateMenu* menu) { m_menu = menu; }

  // What the colours stand for, and how.
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 Q_SIGNALS:
  void cellOpened(int index);
  // What fell into a cell is to be listed.
  void cellListRequested(int index);
  // One cell was dropped on another, or chosen beside it.
  void compareRequested(swage::domain::CandidateId first, swage::domain::CandidateId second);

 private:
  [[nodiscard]] QLayout* makeBar();
  void fillMetrics();
  void connectScale();
  void fillIslands();
  void showCells();
  void showSelection();
  void selectCell(int index);
  void openCell(int index);
  void fillCellMenu(QMenu& menu, int index);
  // The source of the best candidate of a cell, as a text and as a file.
  void addSource(QMimeData& content, int index);
  void pairCells(int first, int second);
  [[nodiscard]] QString tooltip(int index);

  ProjectSession& m_session;
  const services::RecordService& m_record;
  ArchiveView m_view;
  QComboBox* m_metric;
  QToolButton* m_scaleButton;
  ScaleMenu* m_scale;
  QComboBox* m_island;
  HeatMap* m_map;
  TimeBar* m_time;
  HeatLegend* m_legend;
  CandidateMenu* m_menu = nullptr;
  QTemporaryDir m_dragged;  // files that were dragged away
};

}  // namespace swage::ui
