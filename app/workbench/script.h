// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/workbench/options.h"
#include "core/services/types.h"

namespace swage::ui {
class MainWindow;
}

namespace swage::workbench {

// Carries out what the command line asks of the window: start, picture, quit. GUI thread only.
class Script final : public QObject {
  Q_OBJECT

 public:
  Script(ui::MainWindow& window, const WorkbenchOptions& options, QObject* parent = nullptr);
  void run();
  // Of the program, once the window is closed: how the last search or picture went.
  [[nodiscard]] int exitCode() const { return m_exitCode; }

 private:
  void takeScreenshot();
  void showPages();
  void giveCommands();
  void handleFinished(const services::RunOutcome& outcome);

  ui::MainWindow& m_window;
  WorkbenchOptions m_options;
  int m_exitCode = 0;
};

}  // namespace swage::workbench
