// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include <QActionGroup>
#include <QCloseEvent>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>

#include "core/base/log.h"
#include "ui/models/format.h"
#include "ui/models/task_catalogue.h"
#include "ui/pages/archive_page.h"
#include "ui/pages/candidates_page.h"
#include "ui/pages/kernel_page.h"
#include "ui/pages/progress_page.h"
#include "ui/shell/run_bar.h"
#include "ui/shell/status_strip.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kLayoutVersion = 1;
constexpr QSize kFirstSize(1440, 900);

QDockWidget* makeDock(QMainWindow* window, QWidget* page, const QString& title, const QString& name,
                      Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, window);
  dock->setObjectName(name);
  dock->setWidget(page);
  window->addDockWidget(area, dock);
  return dock;
}

}  // namespace

MainWindow::MainWindow(WindowServices services, WindowOptions options, QWidget* parent)
    : QMainWindow(parent),
      m_services(services),
      m_options(std::move(options)),
      m_session(services.run, services.record),
      m_actions(this),
      m_bar(new RunBar(m_session, m_actions, this)),
      m_banner(new NoticeBanner(this)),
      m_archive(new ArchivePage(m_session, this)),
      m_candidates(new CandidatesPage(m_session, services.record, this)),
      m_kernel(new KernelPage(m_session, this)),
      m_progress(new ProgressPage(m_session, this)) {
  setObjectName(u"mainWindow"_s);
  setWindowIcon(applicationIcon());
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  makeBars();
  makePages();
  makeMenus();
  setStatusBar(new StatusStrip(m_session, this));
  connectActions();
  restoreState();
  m_bar->setSettings(m_options.spec);
  m_bar->setTasks(tasksIn(m_options.tasksFolder), m_recentTasks);
  applyCurrentTheme(services.theme.theme());
  if (!m_options.spec.task.empty()) {
    m_bar->chooseTask(toQString(m_options.spec.task));
  }
  showTask();
  updateActions();
}

void MainWindow::makeBars() {
  addToolBar(Qt::TopToolBarArea, m_bar);
  addToolBarBreak(Qt::TopToolBarArea);
  m_bannerBar = new QToolBar(tr("Messages"), this);
  m_bannerBar->setObjectName(u"bannerBar"_s);
  m_bannerBar->setMovable(false);
  m_bannerBar->setContextMenuPolicy(Qt::PreventContextMenu);
  m_bannerBar->setStyleSheet(u"QToolBar{padding:0;border:none;}"_s);
  m_bannerBar->addWidget(m_banner);
  m_bannerBar->hide();
  addToolBar(Qt::TopToolBarArea, m_bannerBar);
  connect(m_banner, &NoticeBanner::shownChanged, m_bannerBar, &QToolBar::setVisible);
}

void MainWindow::makePages() {
  setCentralWidget(m_archive);
  m_docks = {
      makeDock(this, m_candidates, tr("Candidates"), u"candidatesDock"_s, Qt::BottomDockWidgetArea),
      makeDock(this, m_kernel, tr("Kernel"), u"kernelDock"_s, Qt::RightDockWidgetArea),
      makeDock(this, m_progress, tr("Best speedup over time"), u"progressDock"_s, Qt::RightDockWidgetArea),
  };
  // The kernel needs height more than the table needs width.
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  resize(kFirstSize);
  arrangeDocks();
  m_defaultLayout = QMainWindow::saveState(kLayoutVersion);
}

void MainWindow::arrangeDocks() {
  resizeDocks({m_docks[0]}, {kFirstSize.height() * 34 / 100}, Qt::Vertical);
  resizeDocks({m_docks[1]}, {kFirstSize.width() * 38 / 100}, Qt::Horizontal);
  resizeDocks({m_docks[1], m_docks[2]}, {kFirstSize.height() * 58 / 100, kFirstSize.height() * 28 / 100}, Qt::Vertical);
}

void MainWindow::makeMenus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addActions({m_actions.openTask, m_actions.openBundle, m_actions.openProject});
  file->addSeparator();
  file->addAction(m_actions.exportKernel);
  file->addSeparator();
  file->addAction(m_actions.quit);
  QMenu* run = menuBar()->addMenu(tr("&Run"));
  run->addActions({m_actions.start, m_actions.pause, m_actions.stop});
  run->addSeparator();
  QMenu* recorded = run->addMenu(tr("Recorded R&uns"));
  recorded->setObjectName(u"recordedRuns"_s);
  connect(recorded, &QMenu::aboutToShow, this, [this, recorded] { fillRecordedRuns(*recorded); });
  run->addAction(m_actions.resumeRecorded);
  QMenu* view = menuBar()->addMenu(tr("&View"));
  view->addActions({m_actions.followBest, m_actions.findInKernel});
  view->addSeparator();
  for (QDockWidget* dock : m_docks) {
    view->addAction(dock->toggleViewAction());
  }
  connect(view->addAction(tr("&Reset Layout")), &QAction::triggered, this, [this] {
    QMainWindow::restoreState(m_defaultLayout, kLayoutVersion);
    m_bannerBar->setVisible(m_banner->hasNotice());
  });
  view->addSeparator();
  makeThemeMenu(*view);
  makeColorMenu(*view);
  menuBar()->addMenu(tr("&Help"))->addAction(m_actions.about);
}

void MainWindow::makeThemeMenu(QMenu& view) {
  QMenu* menu = view.addMenu(tr("&Theme"));
  auto* group = new QActionGroup(menu);
  const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::System, tr("As the &Desktop")},
                                                     {ThemeChoice::Light, tr("&Light")},
                                                     {ThemeChoice::Dark, tr("D&ark")}};
  for (const auto& [choice, text] : choices) {
    QAction* action = menu->addAction(text);
    action->setObjectName(u"theme_"_s % name(choice));
    action->setCheckable(true);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, choice = choice] { m_services.theme.choose(choice); });
    connect(menu, &QMenu::aboutToShow, action,
            [this, action, choice = choice] { action->setChecked(m_services.theme.choice() == choice); });
  }
}

void MainWindow::makeColorMenu(QMenu& view) {
  QMenu* menu = view.addMenu(tr("&Colours of the Map"));
  auto* group = new QActionGroup(menu);
  const std::pair<ColorMap, QString> maps[] = {{ColorMap::Viridis, tr("&Viridis")},
                                               {ColorMap::Cividis, tr("&Cividis")}};
  for (const auto& [map, text] : maps) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, map = map] { m_services.theme.setColorMap(map); });
    connect(menu, &QMenu::aboutToShow, action,
            [this, action, map = map] { action->setChecked(m_services.theme.theme().heat == map); });
  }
}

void MainWindow::connectActions() {
  const auto on = [this](QAction* action, auto handler) { connect(action, &QAction::triggered, this, handler); };
  on(m_actions.openTask,
     [this] { m_services.dialogs.chooseTaskFile(this, [this](const QString& path) { selectTask(path); }); });
  on(m_actions.openBundle,
     [this] { m_services.dialogs.chooseTaskBundle(this, [this](const QString& path) { selectTask(path); }); });
  on(m_actions.openProject, [this] {
    m_services.dialogs.chooseProject(this, toQString(m_session.project().string()), [this](const QString& path) {
      m_options.spec.project = path.toStdString();
      m_session.openProject(m_options.spec.project);
    });
  });
  on(m_actions.exportKernel, [this] { exportKernel(); });
  on(m_actions.quit, [this] { close(); });
  on(m_actions.start, [this] { startSearch(); });
  on(m_actions.pause, [this] { m_session.togglePause(); });
  on(m_actions.stop, [this] { m_session.stop(); });
  on(m_actions.resumeRecorded, [this] { resumeRecorded(); });
  on(m_actions.followBest, [this] { m_session.followBest(); });
  on(m_actions.findInKernel, [this] { m_kernel->openFind(); });
  on(m_actions.about, [this] { m_services.dialogs.showAbout(this); });
  connect(m_bar, &RunBar::edited, this, &MainWindow::updateActions);
  connect(m_bar, &RunBar::taskChosen, this, &MainWindow::showTask);
  connect(m_archive, &ArchivePage::cellOpened, this, [this] { m_kernel->focusSource(); });
  connect(m_candidates, &CandidatesPage::candidateOpened, m_kernel, &KernelPage::focusSource);
  connect(&m_session, &Session::stateChanged, this, &MainWindow::updateActions);
  connect(&m_session, &Session::selectionChanged, this, &MainWindow::updateActions);
  connect(&m_session, &Session::runShown, this, &MainWindow::updateActions);
  connect(&m_session, &Session::noticed, this, &MainWindow::showNotice);
  connect(&m_session, &Session::finished, this, &MainWindow::handleFinished);
  connect(&m_services.theme, &ThemeController::changed, this, &MainWindow::applyCurrentTheme);
}

void MainWindow::applyCurrentTheme(const Theme& theme) {
  m_actions.setTheme(theme);
  m_bar->setTheme(theme);
  m_banner->setTheme(theme);
  m_archive->setTheme(theme);
  m_candidates->setTheme(theme);
  m_kernel->setTheme(theme);
  m_progress->setTheme(theme);
}

void MainWindow::fillRecordedRuns(QMenu& menu) {
  menu.clear();
  const auto runs = m_services.record.runs();
  if (!m_session.hasRecord() || !runs || runs->empty()) {
    menu.addAction(tr("None yet"))->setEnabled(false);
    return;
  }
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    QAction* action = menu.addAction(tr("%1: %2, %3, %4")
                                         .arg(QString::number(run->id.value()), toQString(run->taskName),
                                              toQString(run->status), formatSpeedup(run->bestSpeedup)));
    action->setCheckable(true);
    action->setChecked(run->id == m_session.shownRun());
    action->setEnabled(m_session.canStart());
    connect(action, &QAction::triggered, this, [this, id = run->id] { m_session.showRun(id); });
  }
}

std::filesystem::path MainWindow::projectOf(const std::string& task) const {
  if (!m_options.spec.project.empty() || !m_options.projectOf || task.empty()) {
    return m_options.spec.project;
  }
  return m_options.projectOf(task);
}

void MainWindow::selectTask(const QString& path) {
  if (m_session.isActive()) {
    showNotice({services::Notice::Severity::Info, tr("A search is running.").toStdString(),
                tr("Stop it before opening another task.").toStdString()});
    return;
  }
  m_recentTasks = withRecent(m_recentTasks, path);
  m_bar->setTasks(tasksIn(m_options.tasksFolder), m_recentTasks);
  m_bar->chooseTask(path);
}

void MainWindow::showTask() {
  const std::filesystem::path project = projectOf(m_bar->task().toStdString());
  if (!m_session.isActive() && project != m_session.project()) {
    m_session.openProject(project);
  }
  updateTitle();
}

void MainWindow::startSearch() {
  if (!m_session.canStart() || !m_bar->isComplete()) {
    return;
  }
  m_banner->clear();
  services::RunSpec spec = m_bar->spec();
  spec.project = projectOf(spec.task);
  m_recentTasks = withRecent(m_recentTasks, toQString(spec.task));
  m_session.start(spec);
}

void MainWindow::resumeRecorded() {
  if (!m_session.canResumeRecorded()) {
    return;
  }
  m_banner->clear();
  services::RunSpec spec = m_bar->spec();
  spec.project = m_session.project();
  spec.resume = m_session.shownRun();
  m_session.start(spec);
}

void MainWindow::exportKernel() {
  const auto& detail = m_session.detail();
  if (!detail) {
    return;
  }
  const QString task = m_session.summary() ? toQString(m_session.summary()->taskName) : tr("kernel");
  m_services.dialogs.chooseExportFile(this, task % u"_new.py"_s,
                                      [this, id = detail->row.id](const QString& file) { writeExport(id, file); });
}

void MainWindow::writeExport(domain::CandidateId candidate, const QString& file) {
  const Result<> written =
      m_services.exporter.exportCandidate(candidate, services::ExportFormat::ModelNew, file.toStdString());
  if (!written) {
    m_session.report(written.error());
    return;
  }
  showNotice({services::Notice::Severity::Info, tr("Candidate %1 was exported.").arg(candidate.value()).toStdString(),
              file.toStdString()});
}

void MainWindow::showNotice(const services::Notice& notice) {
  m_banner->showNotice(notice);
}

void MainWindow::updateActions() {
  const auto& detail = m_session.detail();
  const bool isPaused = m_session.state() == services::RunState::Paused;
  m_actions.start->setEnabled(m_session.canStart() && m_bar->isComplete());
  m_actions.pause->setEnabled(m_session.canPause());
  m_actions.pause->setChecked(isPaused);
  m_actions.pause->setText(isPaused ? tr("&Continue") : tr("&Pause"));
  m_actions.stop->setEnabled(m_session.canStop());
  m_actions.resumeRecorded->setEnabled(m_session.canResumeRecorded());
  for (QAction* action : {m_actions.openTask, m_actions.openBundle, m_actions.openProject}) {
    action->setEnabled(m_session.canStart());
  }
  m_actions.exportKernel->setEnabled(detail && detail->evaluation && domain::asCorrect(*detail->evaluation) != nullptr);
  m_actions.findInKernel->setEnabled(detail.has_value());
  updateTitle();
}

void MainWindow::updateTitle() {
  const auto& summary = m_session.summary();
  const QString task = summary ? toQString(summary->taskName) : taskEntry(m_bar->task()).name;
  setWindowTitle(task.isEmpty() ? tr("Swage") : tr("%1 – Swage").arg(task));
}

void MainWindow::handleFinished() {
  updateActions();
  if (m_closeWhenFinished) {
    close();
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!m_session.isActive()) {
    saveState();
    event->accept();
    return;
  }
  event->ignore();
  if (m_closeWhenFinished) {
    m_session.kill();
    return;
  }
  m_closeWhenFinished = true;
  showNotice({services::Notice::Severity::Warning, tr("The search is being stopped.").toStdString(),
              tr("The window closes when the evaluation in progress has ended. Close it again to end it at once; "
                 "nothing that is recorded is lost.")
                  .toStdString()});
  m_session.stop();
}

void MainWindow::restoreState() {
  if (m_options.stateFile.empty()) {
    return;
  }
  const ShellState state = loadShellState(m_options.stateFile);
  m_recentTasks = state.recentTasks;
  restoreGeometry(state.geometry);
  QMainWindow::restoreState(state.layout, kLayoutVersion);
  m_bannerBar->hide();
}

void MainWindow::saveState() {
  if (m_options.stateFile.empty()) {
    return;
  }
  const ShellState state{.geometry = saveGeometry(),
                         .layout = QMainWindow::saveState(kLayoutVersion),
                         .theme = m_services.theme.choice() == m_options.themeOfThisStart
                                      ? loadShellState(m_options.stateFile).theme
                                      : m_services.theme.choice(),
                         .heat = m_services.theme.theme().heat,
                         .recentTasks = m_recentTasks};
  if (const Result<> saved = saveShellState(state, m_options.stateFile); !saved) {
    log::warn("cannot remember the window's layout: {}", saved.error().message());
  }
}

}  // namespace swage::ui
