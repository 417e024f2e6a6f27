// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_control.h"

#include <QFileInfo>
#include <QMenu>

#include "ui/models/format.h"
#include "ui/models/other_projects.h"
#include "ui/models/run_words.h"
#include "ui/models/task_tree.h"
#include "ui/shell/actions.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/run_bar.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

using Severity = services::Notice::Severity;

RunControl::RunControl(ProjectSession& session, RunBar& bar, const Actions& actions, const WindowServices& services,
                       const WindowOptions& options, QWidget* window)
    : QObject(window),
      m_session(session),
      m_bar(bar),
      m_actions(actions),
      m_services(services),
      m_options(options),
      m_window(window) {
  m_bar.setSettings(m_options.spec);
  m_bar.setTasks(tasksIn(m_options.tasksFolder), {});
  connectActions();
  updateActions();
}

void RunControl::connectActions() {
  const auto on = [this](QAction* action, auto handler) { connect(action, &QAction::triggered, this, handler); };
  on(m_actions.openTask,
     [this] { m_services.dialogs.chooseTaskFile(m_window, [this](const QString& path) { selectTask(path); }); });
  on(m_actions.openBundle,
     [this] { m_services.dialogs.chooseTaskBundle(m_window, [this](const QString& path) { selectTask(path); }); });
  on(m_actions.openProject, [this] {
    m_services.dialogs.chooseProject(m_window, toQString(m_session.project().string()),
                                     [this](const QString& path) { openProject(path); });
  });
  on(m_actions.start, [this] { start(); });
  on(m_actions.pause, [this] { m_session.togglePause(); });
  on(m_actions.stop, [this] { m_session.stop(); });
  on(m_actions.stopNow, [this] { m_session.kill(); });
  on(m_actions.resumeRecorded, [this] { resumeRecorded(); });
  on(m_actions.followBest, [this] { m_session.followBest(); });
  connect(&m_bar, &RunBar::edited, this, &RunControl::updateActions);
  connect(&m_bar, &RunBar::taskChosen, this, &RunControl::showTask);
  connect(&m_session, &ProjectSession::stateChanged, this, &RunControl::updateActions);
  connect(&m_session, &ProjectSession::selectionChanged, this, &RunControl::updateActions);
  connect(&m_session, &ProjectSession::runShown, this, &RunControl::updateActions);
}

std::filesystem::path RunControl::projectOf(const std::string& task) const {
  if (!m_options.spec.project.empty() || !m_options.projectOf || task.empty()) {
    return m_options.spec.project;
  }
  return m_options.projectOf(task);
}

void RunControl::setRecentTasks(const QStringList& recent) {
  m_recentTasks = mendedTasks(recent, m_options.tasksFolder);
  m_bar.setTasks(tasksIn(m_options.tasksFolder), m_recentTasks);
  Q_EMIT recentTasksChanged();
}

void RunControl::selectTask(const QString& path) {
  if (m_session.isActive()) {
    Q_EMIT noticed({Severity::Info, tr("A search is running.").toStdString(),
                    tr("Stop it before opening another task.").toStdString()});
    return;
  }
  const QString task = absoluteTask(path);  // it has to be found from another folder, too
  setRecentTasks(withRecent(m_recentTasks, task));
  m_bar.chooseTask(task);
}

void RunControl::openProject(const QString& folder) {
  if (!m_session.canStart()) {
    return;
  }
  const QString project = QFileInfo(folder).absoluteFilePath();
  m_recentProjects = withRecent(m_recentProjects, project);
  m_options.spec.project = project.toStdString();
  m_session.openProject(m_options.spec.project);
}

void RunControl::openPath(const QString& path) {
  switch (kindOfPath(path)) {
    case PathKind::Task: selectTask(path); break;
    case PathKind::Project: openProject(QFileInfo(path).isDir() ? path : QFileInfo(path).path()); break;
    case PathKind::TaskFolder: Q_EMIT taskFolderOpened(path); break;
    case PathKind::Nothing:
      Q_EMIT noticed({Severity::Warning, tr("Swage cannot open '%1'.").arg(path).toStdString(),
                      tr("Open a Python file with a PyTorch module, a task bundle, a project, or a folder of tasks.")
                          .toStdString()});
  }
}

void RunControl::showTask() {
  const std::filesystem::path project = projectOf(m_bar.task().toStdString());
  if (!m_session.isActive() && project != m_session.project()) {
    m_session.openProject(project);
  }
  Q_EMIT titleChanged();
}

void RunControl::start() {
  if (!m_session.canStart() || !m_bar.isComplete()) {
    return;
  }
  services::RunSpec spec = m_bar.spec();
  spec.project = projectOf(spec.task);
  setRecentTasks(withRecent(m_recentTasks, toQString(spec.task)));
  startSearch(spec);
}

void RunControl::resumeRecorded() {
  if (!m_session.canResumeRecorded()) {
    return;
  }
  services::RunSpec spec = m_bar.spec();
  spec.project = m_session.project();
  spec.resume = m_session.shownRun();
  startSearch(spec);
}

void RunControl::startSearch(const services::RunSpec& spec) {
  m_recentProjects = withRecent(m_recentProjects, toQString(spec.project.string()));
  Q_EMIT searchStarted();
  m_session.start(spec);
}

void RunControl::fillRecordedRuns(QMenu& menu) {
  menu.clear();
  const auto runs = m_services.record.runs();
  if (!m_session.hasRecord() || !runs || runs->empty()) {
    menu.addAction(tr("None yet"))->setEnabled(false);
    return;
  }
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    QAction* action = menu.addAction(tr("%1: %2, %3, %4")
                                         .arg(QString::number(run->id.value()), toQString(run->taskName),
                                              statusWord(run->status), formatSpeedup(run->bestSpeedup)));
    action->setCheckable(true);
    action->setChecked(run->id == m_session.shownRun());
    action->setEnabled(m_session.canStart());
    connect(action, &QAction::triggered, this, [this, id = run->id] { m_session.showRun(id); });
  }
}

void RunControl::fillRecentProjects(QMenu& menu) {
  menu.clear();
  if (m_recentProjects.empty()) {
    menu.addAction(tr("None yet"))->setEnabled(false);
  }
  for (const QString& folder : m_recentProjects) {
    QAction* action = menu.addAction(QString(folder).replace(u"&"_s, u"&&"_s));
    action->setEnabled(m_session.canStart());
    connect(action, &QAction::triggered, this, [this, folder] { openProject(folder); });
  }
}

void RunControl::updateActions() {
  const auto& detail = m_session.detail();
  const bool isPaused = m_session.state() == services::RunState::Paused;
  m_actions.start->setEnabled(m_session.canStart() && m_bar.isComplete());
  m_actions.pause->setEnabled(m_session.canPause());
  m_actions.pause->setChecked(isPaused);
  m_actions.pause->setText(isPaused ? tr("&Continue") : tr("&Pause"));
  m_actions.stop->setEnabled(m_session.canStop());
  m_actions.stopNow->setEnabled(m_session.isActive());
  m_actions.resumeRecorded->setEnabled(m_session.canResumeRecorded());
  for (QAction* action : {m_actions.openTask, m_actions.openBundle, m_actions.openProject}) {
    action->setEnabled(m_session.canStart());
  }
  // What keeps a candidate from leaving is said where it is exported.
  const bool hasBest = m_session.summary() && bestOf(*m_session.summary()).isValid();
  m_actions.exportKernel->setEnabled(detail.has_value() || hasBest);
  m_actions.findInKernel->setEnabled(detail.has_value());
  Q_EMIT titleChanged();
}

LeftOff RunControl::leftOff() const {
  const bool chosen = m_session.follow() == ProjectSession::Follow::Candidate;
  return {.task = m_bar.task(),
          .project = toQString(m_session.project().string()),
          .projectChosen = !m_options.spec.project.empty(),
          .run = m_session.shownRun().value(),
          .candidate = chosen ? m_session.selectedCandidate().value() : 0};
}

void RunControl::goOn(const LeftOff& leftOff) {
  const QStringList task = mendedTasks({leftOff.task}, m_options.tasksFolder);
  if (!task.isEmpty() && kindOfPath(task.front()) == PathKind::Task) {
    m_bar.chooseTask(task.front());
  }
  if (leftOff.projectChosen && kindOfPath(leftOff.project) == PathKind::Project) {
    openProject(leftOff.project);
  }
  if (toQString(m_session.project().string()) != leftOff.project || !m_session.hasRecord()) {
    return;
  }
  if (const domain::RunId run(leftOff.run); run != m_session.shownRun() && m_services.record.run(run)) {
    m_session.showRun(run);
  }
  const auto candidate = m_services.record.candidate(domain::CandidateId(leftOff.candidate));
  if (candidate && candidate->row.run == m_session.shownRun()) {
    m_session.selectCandidate(candidate->row.id);
  }
}

QString RunControl::title() const {
  const auto& summary = m_session.summary();
  const QString task = summary ? toQString(summary->taskName) : taskEntry(m_bar.task()).name;
  return task.isEmpty() ? tr("Swage") : tr("%1 – Swage").arg(task);
}

}  // namespace swage::ui
