// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/session.h"
#include "ui/widgets/theme.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QTableView;

namespace swage::ui {

class CandidateTableModel;
class EmptyState;
class StatusDelegate;

// Every candidate of the shown run, sorted and filtered by the record.
class CandidatesPage final : public QWidget {
  Q_OBJECT

 public:
  CandidatesPage(Session& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

 Q_SIGNALS:
  void candidateOpened();

 private:
  [[nodiscard]] QWidget* makeFilters();
  void setUpTable();
  void showRun();
  void refresh();
  void applyStatusFilter();
  void applyCellFilter();
  void updateCounts();
  void chooseRow(const QModelIndex& index);
  void showSelection();

  Session& m_session;
  CandidateTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_empty;
  StatusDelegate* m_delegate;
  QComboBox* m_status;
  QCheckBox* m_onlyCell;
  QLabel* m_count;
  bool m_showingSelection = false;
};

}  // namespace swage::ui
