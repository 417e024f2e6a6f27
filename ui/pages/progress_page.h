// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/project_session.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

class EmptyState;
class HistoryChart;

// Best speedup over time.
class ProgressPage final : public QWidget {
  Q_OBJECT

 public:
  explicit ProgressPage(ProjectSession& session, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setChooseFile(const ChooseFile& chooseFile);

 private:
  void showHistory();

  ProjectSession& m_session;
  HistoryChart* m_chart;
  EmptyState* m_empty;
  double m_shownUntil = -1.0;
};

}  // namespace swage::ui
