// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/session.h"
#include "ui/widgets/theme.h"

class QLabel;
class QTableView;

namespace swage::ui {

class EmptyState;
class FilterEdit;
class RunTableModel;

// Every run of the open record. A double click, or Enter, shows one in all pages.
class RunsPage final : public QWidget {
  Q_OBJECT

 public:
  RunsPage(Session& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

 private:
  void setUpTable();
  void reload();
  void showShownRun();
  void openRun(const QModelIndex& index);
  void updateCounts();

  Session& m_session;
  const services::RecordService& m_record;
  RunTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_empty;
  FilterEdit* m_filter;
  QLabel* m_count;
};

}  // namespace swage::ui
