// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

#include <filesystem>

#include "ui/models/project_session.h"
#include "ui/models/task_catalogue.h"
#include "ui/shell/shell_state.h"
#include "ui/shell/window_services.h"

class QMenu;
class QWidget;

namespace swage::ui {

struct Actions;
class RunBar;

// What the user does with tasks, projects, runs and kernels: the part of the window behind its actions. GUI thread
// only; nothing here waits.
class RunControl final : public QObject {
  Q_OBJECT

 public:
  // `window` is what dialogs belong to, and owns this.
  RunControl(ProjectSession& session, RunBar& bar, const Actions& actions, const WindowServices& services,
             const WindowOptions& options, QWidget* window);

  // Chooses a task as the user does in the picker; shows what its project recorded.
  void selectTask(const QString& path);
  void openProject(const QString& folder);
  // A task, a project, or a folder of tasks: by what lies there.
  void openPath(const QString& path);
  void start();
  void resumeRecorded();
  // Shows the project of the chosen task.
  void showTask();

  void setRecentTasks(const QStringList& recent);
  [[nodiscard]] const QStringList& recentTasks() const { return m_recentTasks; }
  void setRecentProjects(const QStringList& recent) { m_recentProjects = recent; }
  [[nodiscard]] const QStringList& recentProjects() const { return m_recentProjects; }
  [[nodiscard]] LeftOff leftOff() const;
  // As far as it is still there.
  void goOn(const LeftOff& leftOff);
  [[nodiscard]] QString title() const;

  void fillRecordedRuns(QMenu& menu);
  void fillRecentProjects(QMenu& menu);

 Q_SIGNALS:
  void titleChanged();
  void recentTasksChanged();
  void taskFolderOpened(const QString& folder);
  void searchStarted();
  void noticed(const swage::services::Notice& notice);

 private:
  void connectActions();
  void updateActions();
  void startSearch(const services::RunSpec& spec);
  [[nodiscard]] std::filesystem::path projectOf(const std::string& task) const;

  ProjectSession& m_session;
  RunBar& m_bar;
  const Actions& m_actions;
  WindowServices m_services;
  WindowOptions m_options;
  QWidget* m_window;
  QStringList m_recentTasks;
  QStringList m_recentProjects;
};

}  // namespace swage::ui
