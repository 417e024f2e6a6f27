// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/swarm_service.h"

class QLabel;
class QProgressBar;
class QTableView;

namespace swage::ui {

class EmptyState;
class SpendingTableModel;

// What calls of models took, by model, and how much of the budgets of the run is used up.
class SpendingView final : public QWidget {
  Q_OBJECT

 public:
  explicit SpendingView(QWidget* parent = nullptr);
  void setReport(const services::SwarmReport& report);

 Q_SIGNALS:
  void settingsRequested();

 private:
  struct Meter {
    QLabel* text;
    QProgressBar* bar;
  };
  [[nodiscard]] Meter makeMeter(const QString& name, const QString& spoken);
  static void set(const Meter& meter, const QString& text, double share);

  SpendingTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_tableOrEmpty;
  Meter m_cost;
  Meter m_tokens;
  bool m_isFitted = false;
};

}  // namespace swage::ui
