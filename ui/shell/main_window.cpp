// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMenuBar>
#include <QMetaObject>
#include <QMimeData>
#include <QTimer>
#include <QToolBar>

#include <chrono>
#include <utility>

#include "core/base/log.h"
#include "ui/models/format.h"
#include "ui/models/task_catalogue.h"
#include "ui/pages/benchmark_page.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/swarm_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/pages/welcome_page.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/exchange_dialog.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/help_control.h"
#include "ui/shell/incidents.h"
#include "ui/shell/layout_menu.h"
#include "ui/shell/locator.h"
#include "ui/shell/locator_sources.h"
#include "ui/shell/menus.h"
#include "ui/shell/pages.h"
#include "ui/shell/recovery_dialog.h"
#include "ui/shell/run_bar.h"
#include "ui/shell/run_control.h"
#include "ui/shell/settings_control.h"
#include "ui/shell/setup_check.h"
#include "ui/shell/status_strip.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr QSize kFirstSize(1440, 900);
constexpr std::chrono::seconds kSaveSoon{2};

// Those of the file as other windows have left it, with what this window has changed of them since its start.
QMap<QString, QByteArray> mergedLayouts(const QMap<QString, QByteArray>& atStart, const QMap<QString, QByteArray>& mine,
                                        QMap<QString, QByteArray> inFile) {
  for (auto one = atStart.begin(); one != atStart.end(); ++one) {
    if (!mine.contains(one.key())) {
      inFile.remove(one.key());
    }
  }
  for (auto one = mine.begin(); one != mine.end(); ++one) {
    if (atStart.value(one.key()) != one.value()) {
      inFile.insert(one.key(), one.value());
    }
  }
  return inFile;
}

}  // namespace

MainWindow::MainWindow(const WindowServices& services, const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      m_services(services),
      m_options(options),
      m_settings(services.settings),
      m_session(services.run, services.record),
      m_notifier(services.bus.value_or(DesktopNotifier::sessionBus())),
      m_actions(this),
      m_bar(new RunBar(m_session, m_actions, this)),
      m_banner(new NoticeBanner(this)),
      m_control(new RunControl(m_session, *m_bar, m_actions, services, options, this)),
      m_docks(new DockLayout(*this)),
      m_places(options.safeMode ? std::filesystem::path() : options.windows),
      m_layouts(new LayoutMenu(*m_docks, services.dialogs, this)),
      m_locator(new Locator(this)) {
  setObjectName(u"mainWindow"_s);
  setWindowIcon(applicationIcon());
  resize(kFirstSize);
  makeBars();
  m_pages = addPages(*m_docks, m_session, services, options, m_actions);
  m_help = new HelpControl(*m_pages.help, *m_docks, m_actions, this);
  fillMenuBar(*menuBar(), {m_actions, *m_control, *m_docks, *m_layouts, services.theme, m_pages, *m_help});
  setStatusBar(new StatusStrip(m_session, services.edits, services.profiles, this));
  m_settingsControl = new SettingsControl(m_settings, services, options, *this);
  m_help->setShortcuts(m_settingsControl->shortcuts());
  m_settingsControl->applyTo(*m_bar);
  m_settingsControl->applyTo(m_notifier);
  watchIncidents();
  connectParts();
  connectRuns();
  connectTasks();
  connectSwarm();
  connectWindows();
  if (m_pages.doctor != nullptr) {
    m_setup = new SetupCheck(*m_pages.doctor, *m_docks, this);
  }
  setAcceptDrops(true);
  restoreState();
  applyCurrentTheme(services.theme.theme());
  if (!options.spec.task.empty()) {
    m_bar->chooseTask(absoluteTask(toQString(options.spec.task)));
  }
  m_control->showTask();
  if (const auto complaint = m_settingsControl->complaint()) {
    showNotice(*complaint);
  }
}

void MainWindow::makeBars() {
  if (!m_options.mode.isEmpty()) {
    m_mode = new Badge(this);
    m_mode->setObjectName(u"modeBadge"_s);
    m_mode->setBadge(m_options.mode, Badge::Tone::Caution);
    m_mode->setToolTip(m_options.modeMeaning);
    menuBar()->setCornerWidget(m_mode);
  }
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
}

void MainWindow::watchIncidents() {
  Incidents::WaysOut waysOut{.resume = [this] { m_control->resumeRecorded(); },
                             .chooseProject = [this] { m_actions.openProject->trigger(); },
                             .openDoctor = {}};
  if (m_pages.doctor != nullptr) {
    waysOut.openDoctor = [this] { m_docks->show(u"doctor"_s); };
  }
  m_incidents = new Incidents(m_session, m_notifier, *m_banner, std::move(waysOut), *this);
}

void MainWindow::connectSwarm() {
  if (m_pages.swarm != nullptr) {
    connect(m_pages.swarm, &SwarmPage::settingsRequested, this, [this] { m_settingsControl->showDialog(u"swarm"_s); });
    connect(m_pages.swarm, &SwarmPage::exchangeRequested, this, &MainWindow::showExchange);
  }
}

void MainWindow::showExchange() {
  if (m_exchange == nullptr) {
    m_exchange = new ExchangeDialog(*m_services.swarm, m_services.dialogs, this);
    m_exchange->setTheme(m_services.theme.theme());
  }
  m_exchange->setWaiting(m_pages.swarm->waiting());
  m_exchange->show();
  m_exchange->raise();
  m_exchange->activateWindow();
}

void MainWindow::connectParts() {
  connect(m_banner, &NoticeBanner::shownChanged, m_bannerBar, &QToolBar::setVisible);
  // A layout that was saved says of the messages, too, whether they were shown.
  connect(m_docks, &DockLayout::arranged, this, [this] { m_bannerBar->setVisible(m_banner->hasNotice()); });
  connect(m_actions.settings, &QAction::triggered, this, [this] { m_settingsControl->showDialog(u"general"_s); });
  connect(m_actions.exportKernel, &QAction::triggered, this, &MainWindow::exportKernel);
  connect(&m_settings, &SettingsStore::failed, &m_session, &ProjectSession::report);
  connect(m_actions.quit, &QAction::triggered, this, &MainWindow::quit);
  connect(m_actions.closeWindow, &QAction::triggered, this, &MainWindow::close);
  connect(m_actions.about, &QAction::triggered, this, [this] { m_services.dialogs.showAbout(this); });
  connect(m_actions.commandPalette, &QAction::triggered, this,
          [this] { m_locator->open(tr("Name of a command"), commandSource(*menuBar())); });
  connect(m_actions.quickOpen, &QAction::triggered, this, [this] {
    m_locator->open(tr("Candidate number, cell, run, task or page"),
                    placeSource({m_session, m_services.record, *m_control, *m_docks, m_pages,
                                 [this](const QString& section) { m_settingsControl->showDialog(section); }}));
  });
  connect(m_control, &RunControl::titleChanged, this, [this] { setWindowTitle(m_control->title()); });
  connect(m_control, &RunControl::searchStarted, m_banner, &NoticeBanner::clear);
  connect(m_control, &RunControl::noticed, this, &MainWindow::showNotice);
  connect(&m_session, &ProjectSession::finished, this, &MainWindow::handleFinished);
  connect(&m_services.theme, &ThemeController::changed, this, &MainWindow::applyCurrentTheme);
}

// Runs that lie in other projects than the open one.
void MainWindow::connectRuns() {
  const auto showRun = [this](const std::filesystem::path& project, domain::RunId run) {
    if (m_session.canStart()) {  // a search holds its record
      m_control->openProject(toQString(project.string()));
      m_session.showRun(run);
      m_docks->show(u"archive"_s);
    }
  };
  m_pages.runs->setRecentProjects([this] { return m_control->recentProjects(); });
  connect(m_pages.runs, &RunsPage::runOfProjectRequested, this, showRun);
  if (m_pages.benchmark != nullptr) {
    connect(m_pages.benchmark, &BenchmarkPage::runRequested, this, showRun);
  }
}

void MainWindow::connectTasks() {
  connect(m_control, &RunControl::recentTasksChanged, m_pages.tasks,
          [this] { m_pages.tasks->setRecent(m_control->recentTasks()); });
  connect(m_control, &RunControl::recentTasksChanged, m_pages.welcome,
          [this] { m_pages.welcome->setRecent(m_control->recentTasks()); });
  connect(m_pages.welcome, &WelcomePage::taskChosen, m_control, &RunControl::selectTask);
  // It has done its part when there is something to look at.
  connect(m_bar, &RunBar::taskChosen, m_docks, [this] { m_docks->hide(u"welcome"_s); });
  connect(&m_session, &ProjectSession::runShown, m_docks, [this](domain::RunId run) {
    if (run.isValid() || m_session.isActive()) {
      m_docks->hide(u"welcome"_s);
    }
  });
  connect(m_control, &RunControl::taskFolderOpened, m_pages.tasks, [this](const QString& folder) {
    m_pages.tasks->addFolder(folder);
    m_docks->show(u"tasks"_s);
  });
  connect(m_pages.tasks, &TasksPage::taskChosen, m_control, &RunControl::selectTask);
  connect(m_pages.tasks, &TasksPage::folderRequested, this, [this] {
    m_services.dialogs.chooseTaskFolder(this, [this](const QString& folder) { m_pages.tasks->addFolder(folder); });
  });
}

void MainWindow::connectWindows() {
  m_actions.newWindow->setEnabled(m_options.openWindow != nullptr);
  m_actions.playDemo->setEnabled(m_options.openDemo != nullptr);
  connect(m_actions.newWindow, &QAction::triggered, this, &MainWindow::openWindow);
  connect(m_actions.playDemo, &QAction::triggered, this, [this] {
    if (const Result<> opened = m_options.openDemo(); !opened) {
      m_session.report(opened.error());
    }
  });
  m_saveSoon.setSingleShot(true);
  m_saveSoon.setInterval(kSaveSoon);
  connect(&m_saveSoon, &QTimer::timeout, this, &MainWindow::savePlace);
  connect(&m_session, &ProjectSession::runShown, &m_saveSoon, qOverload<>(&QTimer::start));
  connect(m_bar, &RunBar::taskChosen, &m_saveSoon, qOverload<>(&QTimer::start));
  connect(m_actions.fullScreen, &QAction::triggered, this,
          [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
}

// It looks as this one does now, and shows the same.
void MainWindow::openWindow() {
  saveState();
  const LeftOff here = m_control->leftOff();
  if (const Result<> opened = m_options.openWindow(here.task, here.projectChosen ? here.project : QString()); !opened) {
    m_session.report(opened.error());
  }
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::WindowStateChange) {
    m_actions.fullScreen->setChecked(isFullScreen());
  }
}

void MainWindow::exportKernel() {
  if (m_export == nullptr) {
    m_export = new ExportDialog(m_session, m_services, this);
    connect(m_export, &ExportDialog::noticed, this, &MainWindow::showNotice);
  }
  m_export->showSelected();
}

void MainWindow::applyCurrentTheme(const Theme& theme) {
  m_actions.setTheme(theme);
  m_bar->setTheme(theme);
  m_banner->setTheme(theme);
  if (m_mode != nullptr) {
    m_mode->setTheme(theme);
  }
  m_docks->setTheme(theme);
  m_locator->setTheme(theme);
  if (m_export != nullptr) {
    m_export->setTheme(theme);
  }
  if (m_exchange != nullptr) {
    m_exchange->setTheme(theme);
  }
}

void MainWindow::selectTask(const QString& path) {
  m_control->selectTask(path);
}

void MainWindow::openPath(const QString& path) {
  m_control->openPath(path);
}

void MainWindow::startSearch() {
  m_control->start();
}

void MainWindow::showNotice(const services::Notice& notice) {
  m_incidents->show(notice);
}

// Later: a service may have finished within closeEvent(), where Qt ignores that the window is closed once more.
void MainWindow::handleFinished() {
  if (m_closeWhenFinished) {
    QMetaObject::invokeMethod(this, &MainWindow::close, Qt::QueuedConnection);
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!m_session.isActive()) {
    saveState();
    // Who closes one of several windows is done with it; who closes the last one leaves.
    const bool isKept = m_isKept || m_places.others().empty();
    m_places.leave(isKept ? WindowPlaces::Forget::No : WindowPlaces::Forget::Yes);
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

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->source() == nullptr) {  // not a cell that is on its way out
    event->acceptProposedAction();
  }
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) {
      openPath(url.toLocalFile());
    }
  }
  event->acceptProposedAction();
}

void MainWindow::restoreState() {
  const ShellState state = m_options.safeMode ? ShellState() : loadShellState(m_options.stateFile);
  restoreGeometry(state.geometry);
  m_docks->apply(Layout::Search);
  m_control->setRecentTasks(state.recentTasks);
  m_control->setRecentProjects(state.recentProjects);
  m_layouts->setSaved(state.layouts);
  m_layoutsAtStart = state.layouts;
  // What is not remembered would be shown at every start.
  if (m_setup != nullptr && !m_options.safeMode && !m_options.stateFile.empty()) {
    m_setup->remember(state.missing);
  }
  welcome(state);
  if (m_options.crashNote) {
    offerRecovery(state);
  } else {
    restoreSession(state);
  }
}

// Who has used Swage before, or says what to open, needs no welcome.
void MainWindow::welcome(const ShellState& state) {
  m_isFirstStart = !m_options.safeMode && !m_options.stateFile.empty() && state.layout.isEmpty() &&
                   state.recentTasks.isEmpty() && m_options.spec.task.empty() && m_options.spec.project.empty();
}

bool MainWindow::restoresWindows() const {
  return m_options.spec.task.empty() && m_options.spec.project.empty() &&
         (!m_options.place.isEmpty() || m_settings.value(u"general.restore_session"_s).toBool());
}

// What is restored: the state of a window that was left, or else what the window that was closed last showed.
ShellState MainWindow::takePlace(ShellState state) {
  if (!restoresWindows()) {
    if (m_places.others().empty()) {
      m_places.forgetLeft();  // a new session
    }
    m_places.takeNew();
    return state;
  }
  for (const QString& place : m_options.place.isEmpty() ? m_places.left() : QStringList(m_options.place)) {
    if (!m_places.take(place)) {
      continue;
    }
    if (ShellState own = m_places.state(); !own.layout.isEmpty()) {
      own.missing = state.missing;
      return own;
    }
    return state;
  }
  m_places.takeNew();
  return state;
}

// A window that was opened for a place leaves the others to who opened it.
void MainWindow::openLeftWindows() {
  if (!restoresWindows() || !m_options.place.isEmpty() || !m_options.restoreWindow) {
    return;
  }
  for (const QString& place : m_places.left()) {
    if (const Result<> opened = m_options.restoreWindow(place); !opened) {
      m_session.report(opened.error());
    }
  }
}

void MainWindow::restoreSession(const ShellState& lastClosed) {
  const ShellState state = takePlace(lastClosed);
  restoreGeometry(state.geometry);
  m_isArranged = m_docks->restore(state.layout);
  m_docks->restorePages(state.pages);
  if (restoresWindows()) {
    m_control->goOn(state.leftOff);
  }
  openLeftWindows();
}

// Docks get their proportions only in a window that has its size, which the desktop decides when it is shown.
void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (!std::exchange(m_isArranged, true)) {
    QTimer::singleShot(0, m_docks, &DockLayout::reset);
  }
  if (std::exchange(m_isFirstStart, false)) {
    QTimer::singleShot(0, m_docks, [this] { m_docks->show(u"welcome"_s); });
  }
  if (m_setup != nullptr) {
    QTimer::singleShot(0, m_setup, &SetupCheck::start);
  }
}

void MainWindow::offerRecovery(const ShellState& state) {
  auto* dialog = new RecoveryDialog(
      {.note = *m_options.crashNote, .project = state.leftOff.project.toStdString(), .check = m_services.recordCheck},
      this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &RecoveryDialog::restoreRequested, this, [this, state] { restoreSession(state); });
  connect(dialog, &RecoveryDialog::rejected, this, [this] {
    if (m_places.others().empty()) {
      m_places.forgetLeft();
    }
    m_places.takeNew();
  });
  dialog->open();
}

void MainWindow::quit() {
  m_isKept = true;
  if (m_options.closeOther) {
    for (const qint64 process : m_places.others()) {
      m_options.closeOther(process);
    }
  }
  close();
}

void MainWindow::savePlace() {
  const ShellState state{.geometry = saveGeometry(),
                         .layout = m_docks->save(),
                         .layouts = {},
                         .pages = m_docks->savePages(),
                         .recentTasks = {},
                         .recentProjects = {},
                         .leftOff = m_control->leftOff(),
                         .missing = {}};
  if (const Result<> saved = m_places.save(state); !saved) {
    log::warn("cannot remember what this window shows: {}", saved.error().message());
  }
}

void MainWindow::saveState() {
  if (m_options.stateFile.empty() || m_options.safeMode) {
    return;
  }
  savePlace();
  // Other windows may have written meanwhile.
  const ShellState others = loadShellState(m_options.stateFile);
  const ShellState state{
      .geometry = saveGeometry(),
      .layout = m_docks->save(),
      .layouts = mergedLayouts(m_layoutsAtStart, m_layouts->saved(), others.layouts),
      .pages = m_docks->savePages(),
      .recentTasks = mendedTasks(m_control->recentTasks() + others.recentTasks, m_options.tasksFolder),
      .recentProjects = withRecents(m_control->recentProjects(), others.recentProjects),
      .leftOff = m_control->leftOff(),
      .missing = m_setup != nullptr ? m_setup->known() : SetupCheck::Missing()};
  if (const Result<> saved = saveShellState(state, m_options.stateFile); !saved) {
    log::warn("cannot remember the window's layout: {}", saved.error().message());
  }
}

}  // namespace swage::ui
