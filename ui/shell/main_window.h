// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QTimer>

#include "ui/models/project_session.h"
#include "ui/models/settings_store.h"
#include "ui/shell/actions.h"
#include "ui/shell/desktop_notifier.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/pages.h"
#include "ui/shell/shell_state.h"
#include "ui/shell/theme_controller.h"
#include "ui/shell/window_places.h"
#include "ui/shell/window_services.h"

class QToolBar;

namespace swage::ui {

class Badge;
class DockLayout;
class ExchangeDialog;
class ExportDialog;
class HelpControl;
class Incidents;
class LayoutMenu;
class Locator;
class NoticeBanner;
class RunBar;
class RunControl;
class SettingsControl;
class SetupCheck;

// The one window: puts together the bars, the docks (pages.cpp lists the pages), the menus, and what is remembered
// between two starts. Closing it during a search stops the search first; closing it again kills the search. GUI thread
// only, nothing here waits.
class MainWindow final : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow(const WindowServices& services, const WindowOptions& options, QWidget* parent = nullptr);

  void selectTask(const QString& path);
  // A task, a project or a folder of tasks, as when it is dropped on the window.
  void openPath(const QString& path);
  void startSearch();
  void showNotice(const services::Notice& notice);
  // From here on closing it does not mean that the next start shall be without it.
  void keepForNextStart() { m_isKept = true; }
  // Closes this window and all others. The next start opens them again.
  void quit();
  [[nodiscard]] ProjectSession& session() { return m_session; }
  [[nodiscard]] const Actions& actions() const { return m_actions; }
  [[nodiscard]] DockLayout& docks() { return *m_docks; }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void makeBars();
  void watchIncidents();
  void connectParts();
  void connectRuns();
  void connectTasks();
  void connectSwarm();
  void showExchange();
  void connectWindows();
  void openWindow();
  void welcome(const ShellState& state);
  void exportKernel();
  void restoreSession(const ShellState& state);
  void offerRecovery(const ShellState& state);
  void applyCurrentTheme(const Theme& theme);
  void handleFinished();
  void restoreState();
  [[nodiscard]] bool restoresWindows() const;
  [[nodiscard]] ShellState takePlace(ShellState state);
  void openLeftWindows();
  void saveState();
  void savePlace();

  WindowServices m_services;
  WindowOptions m_options;
  SettingsStore m_settings;
  ProjectSession m_session;
  DesktopNotifier m_notifier;
  Actions m_actions;
  RunBar* m_bar;
  NoticeBanner* m_banner;
  Badge* m_mode = nullptr;  // of a window that is not what it looks like
  Incidents* m_incidents = nullptr;
  QToolBar* m_bannerBar = nullptr;
  RunControl* m_control;
  DockLayout* m_docks;
  WindowPlaces m_places;
  QTimer m_saveSoon;  // what is open, for the case that the program is ended from outside
  QMap<QString, QByteArray> m_layoutsAtStart;
  Pages m_pages;
  LayoutMenu* m_layouts;
  Locator* m_locator;
  HelpControl* m_help = nullptr;
  SettingsControl* m_settingsControl = nullptr;
  SetupCheck* m_setup = nullptr;         // null: nobody looks
  ExportDialog* m_export = nullptr;      // made when it is first asked for
  ExchangeDialog* m_exchange = nullptr;  // the same
  bool m_isArranged = false;             // the docks have their proportions
  bool m_isFirstStart = false;           // greets when it is shown
  bool m_closeWhenFinished = false;
  bool m_isKept = false;  // the next start opens it again, whatever other windows are open
};

}  // namespace swage::ui
