// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/services/export_service.h"
#include "core/services/record_service.h"
#include "core/services/run_service.h"
#include "ui/models/session.h"
#include "ui/shell/actions.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/shell_state.h"
#include "ui/shell/theme_controller.h"

class QToolBar;

namespace swage::ui {

class ArchivePage;
class CandidatesPage;
class KernelPage;
class NoticeBanner;
class ProgressPage;
class RunBar;

// What the window needs from outside. The services outlive it.
struct WindowServices {
  services::RunService& run;
  services::RecordService& record;
  const services::ExportService& exporter;
  Dialogs& dialogs;
  ThemeController& theme;
};

struct WindowOptions {
  services::RunSpec spec;                       // what the fields start with; `project` empty: the task's own
  QString tasksFolder;                          // bundled tasks
  std::filesystem::path stateFile;              // empty: remembers nothing
  std::optional<ThemeChoice> themeOfThisStart;  // not remembered
  std::function<std::filesystem::path(const std::string& task)> projectOf;
};

// The one window: map in the middle, candidates below, the selected kernel and the progress beside it, as docks.
// Closing it during a search stops the search first; closing it again kills the search. GUI thread only, nothing here
// waits.
class MainWindow final : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow(WindowServices services, WindowOptions options, QWidget* parent = nullptr);

  // Chooses a task as the user does in the picker; shows what its project recorded.
  void selectTask(const QString& path);
  void startSearch();
  void showNotice(const services::Notice& notice);
  [[nodiscard]] Session& session() { return m_session; }
  [[nodiscard]] const Actions& actions() const { return m_actions; }

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  void makeBars();
  void makePages();
  void makeMenus();
  void makeThemeMenu(QMenu& view);
  void makeColorMenu(QMenu& view);
  void arrangeDocks();
  void connectActions();
  void applyCurrentTheme(const Theme& theme);
  void fillRecordedRuns(QMenu& menu);

  void showTask();
  void resumeRecorded();
  void exportKernel();
  void writeExport(domain::CandidateId candidate, const QString& file);
  void updateActions();
  void updateTitle();
  void handleFinished();
  void restoreState();
  void saveState();
  [[nodiscard]] std::filesystem::path projectOf(const std::string& task) const;

  WindowServices m_services;
  WindowOptions m_options;
  Session m_session;
  Actions m_actions;
  RunBar* m_bar;
  NoticeBanner* m_banner;
  QToolBar* m_bannerBar = nullptr;
  ArchivePage* m_archive;
  CandidatesPage* m_candidates;
  KernelPage* m_kernel;
  ProgressPage* m_progress;
  QList<QDockWidget*> m_docks;
  QByteArray m_defaultLayout;
  QStringList m_recentTasks;
  bool m_closeWhenFinished = false;
};

}  // namespace swage::ui
