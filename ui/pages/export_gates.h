// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/theme.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QTableView;

namespace swage::ui {

class ExportAssistant;
class ExportGateModel;
class ToneDelegate;

// What speaks for and against letting a candidate out, and a button that finds it out again.
class ExportGates final : public QWidget {
  Q_OBJECT

 public:
  explicit ExportGates(ExportAssistant& assistant, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

 private:
  [[nodiscard]] QTableView* makeTable();
  void showGates();
  void showState();
  void toggle();

  ExportAssistant& m_assistant;
  ExportGateModel* m_model;
  ToneDelegate* m_delegate;
  QLabel* m_summary;
  QProgressBar* m_progress;
  QPushButton* m_verify;
  QTableView* m_table;
};

}  // namespace swage::ui
