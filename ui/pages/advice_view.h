// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/swarm_service.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace swage::ui {

class AdviceTableModel;
class EmptyState;

// The advice of a run, newest first, with what was expected of it and what came of it, and all of the chosen one.
class AdviceView final : public QWidget {
  Q_OBJECT

 public:
  explicit AdviceView(QWidget* parent = nullptr);
  void setReport(const services::SwarmReport& report, bool isLive);

 Q_SIGNALS:
  void candidateChosen(swage::domain::CandidateId candidate);

 private:
  void applySearch();
  void showCurrent();
  [[nodiscard]] const services::AdviceStanding* current() const;

  AdviceTableModel* m_model;
  QLineEdit* m_search;
  QTableView* m_table;
  EmptyState* m_tableOrEmpty;
  QLabel* m_detail;
  bool m_isFitted = false;
  bool m_isLive = false;
};

}  // namespace swage::ui
