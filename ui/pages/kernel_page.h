// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/session.h"
#include "ui/widgets/theme.h"

class QLabel;
class QTableView;
class QTabWidget;

namespace swage::ui {

class Badge;
class ElidedLabel;
class EmptyState;
class FactModel;
class KernelView;
class PlanModel;

// The selected candidate: what it is in one line, and its source, assembly, plan and evaluation.
class KernelPage final : public QWidget {
  Q_OBJECT

 public:
  explicit KernelPage(Session& session, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void focusSource();
  // Searches the text of the tab that is shown.
  void openFind();

 private:
  [[nodiscard]] QWidget* makeHeader();
  void makeTabs();
  void showSelection();
  void showDetail(const services::CandidateDetail& detail);

  Session& m_session;
  EmptyState* m_empty = nullptr;
  QLabel* m_title;
  ElidedLabel* m_cell;
  ElidedLabel* m_numbers;
  Badge* m_status;
  Badge* m_accuracy;
  QTabWidget* m_tabs;
  KernelView* m_source;
  KernelView* m_assembly;
  EmptyState* m_sourceOrEmpty;
  EmptyState* m_assemblyOrEmpty;
  PlanModel* m_plan;
  FactModel* m_facts;
  QTableView* m_factTable;
};

}  // namespace swage::ui
