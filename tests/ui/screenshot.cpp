// SPDX-License-Identifier: Apache-2.0
// Draws the window with made-up data, for people who work on how it looks. Not a part of the product.
//   swage-ui-screenshot FILE.png [light|dark]
//   [empty|self-test|running|finished|error|full-disk|killed|throttled|plan|evaluation|kernel|problems|parameters|
//    swarm|swarm-1|swarm-2|swarm-3|found|models|endpoint|exchange|recovery]
//   [WIDTHxHEIGHT] [ACTION|=TEXT|NAME:INDEX]…
// Then triggers actions by their object names, types texts where the keyboard is, and chooses in lists, tabs and boxes
// by their names. A number of a scene is that of a tab. Where a dialog is open, it alone is drawn.
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QStringList>
#include <QTabWidget>
#include <QTimer>
#include <QTreeView>

#include "tests/support/fake_export_service.h"
#include "tests/support/fake_pattern_search.h"
#include "tests/support/fake_profile_service.h"
#include "tests/ui/demo_activity.h"
#include "tests/ui/demo_comparison.h"
#include "tests/ui/demo_data.h"
#include "tests/ui/demo_swarm.h"
#include "tests/ui/kernel_scene.h"
#include "ui/pages/kernel_page.h"
#include "ui/pages/pattern_finder.h"
#include "ui/pages/swarm_page.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/main_window.h"

using namespace Qt::StringLiterals;
using namespace swage;

namespace {

struct Scene {
  QString file;
  ui::ThemeChoice theme = ui::ThemeChoice::Light;
  QString name = u"running"_s;
  QSize size{1440, 900};
  QStringList steps;
};

Scene parse(const QStringList& arguments) {
  Scene scene;
  scene.file = arguments.value(1);
  scene.theme = ui::parseThemeChoice(arguments.value(2)).value_or(ui::ThemeChoice::Light);
  scene.name = arguments.value(3, scene.name);
  const QStringList size = arguments.value(4, u"1440x900"_s).split(u'x');
  scene.size = {size.value(0).toInt(), size.value(1).toInt()};
  scene.steps = arguments.mid(5);
  return scene;
}

void play(const Scene& scene, ui::MainWindow& window, testing::FakeRunService& run,
          testing::FakeRecordService& record) {
  if (scene.name == "empty"_L1 || scene.name == "self-test"_L1) {
    if (scene.name == "self-test"_L1) {
      window.startSearch();
      run.enter(services::RunState::Preparing);
      services::Progress progress;
      progress.stage = "self-test 31 of 79";
      progress.step = 31;
      progress.steps = 79;
      Q_EMIT run.progressed(progress);
    }
    auto* tree = window.findChild<QTreeView*>(u"taskTree"_s);
    tree->setCurrentIndex(tree->model()->index(2, 0, tree->model()->index(0, 0)));
    return;
  }
  window.startSearch();
  run.enter(services::RunState::Running);
  run.create(testing::kDemoRun);
  Q_EMIT run.progressed(testing::demoProgress(record));
  Q_EMIT run.archiveChanged(record.cellRows);
  Q_EMIT run.lanesChanged(testing::demoLanes(54.0));
  Q_EMIT run.proposersChanged(testing::demoReport(record, 54.0));
  if (scene.name == "plan"_L1 || scene.name == "evaluation"_L1) {
    window.findChild<QTabWidget*>(u"kernelTabs"_s)->setCurrentIndex(scene.name == "plan"_L1 ? 2 : 3);
    window.session().selectCell(domain::Cell::parse("A1B1C1")->index());
  }
  if (scene.name == "finished"_L1) {
    run.finish({});
  }
  if (scene.name == "killed"_L1) {
    Q_EMIT run.noticed(
        {services::Notice::Severity::Warning,
         "the worker of Example GPU was killed by somebody else; another one takes its place",
         "Nothing is lost: the candidate in work is evaluated again. If you did not end it, the system ran "
         "out of memory: close what needs much of it (`dmesg` names what was killed).",
         services::Notice::Subject::WorkerKilled});
  }
  if (scene.name == "throttled"_L1) {
    Q_EMIT run.noticed({services::Notice::Severity::Warning,
                        "the baseline 'compile' was measured while the device was held back (thermal): candidates look "
                        "better beside it than they are",
                        "Search again when nothing else uses the device and it is cool; a later run measures the "
                        "baseline anew."});
  }
  if (scene.name == "full-disk"_L1) {
    record.runRows.front().status = domain::RunStatus::Running;
    services::RunOutcome outcome;
    outcome.state = services::RunState::Failed;
    outcome.cause = services::Notice::Subject::DiskFull;
    outcome.error = Error(ErrorKind::Storage,
                          "cannot record a candidate in '/tmp/example.swage-project/runs.sqlite': database or disk is "
                          "full");
    run.finish(outcome);
  }
  if (scene.name == "error"_L1) {
    Q_EMIT run.noticed({services::Notice::Severity::Warning, "The worker was replaced: it crashed in softmax_rows.",
                        "Its candidate is recorded as crashed; nothing else is lost."});
    services::RunOutcome outcome;
    outcome.state = services::RunState::Failed;
    outcome.error = Error(ErrorKind::Environment, "cannot run the compiler 'g++': no such file or directory",
                          "install it with: apt install g++");
    run.finish(outcome);
  }
}

void choose(QWidget& widget, int index) {
  if (auto* list = qobject_cast<QListWidget*>(&widget)) {
    list->setCurrentRow(index);
  } else if (auto* tabs = qobject_cast<QTabWidget*>(&widget)) {
    tabs->setCurrentIndex(index);
  } else if (auto* box = qobject_cast<QComboBox*>(&widget)) {
    box->setCurrentIndex(index);
  }
}

void take(const QStringList& steps, ui::MainWindow& window) {
  for (const QString& step : steps) {
    if (step.contains(u':') && !step.startsWith(u'=')) {
      choose(*window.findChild<QWidget*>(step.section(u':', 0, 0)), step.section(u':', 1).toInt());
    } else if (!step.startsWith(u'=')) {
      window.findChild<QAction*>(step)->trigger();
    } else if (auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget())) {
      field->setText(step.mid(1));
    }
  }
}

// Language models in the settings, one of them, or a prompt that waits for a person.
void playModels(const Scene& scene, ui::MainWindow& window, testing::FakeSwarmService& swarm) {
  auto* page = window.findChild<ui::SwarmPage*>();
  services::SwarmReport report = testing::demoSwarm(90.0);
  if (scene.name == "exchange"_L1) {
    report.waiting = {{"exchange", "/p/001-prompt.md", "/p/001-reply.md"}};
  }
  swarm.tell(report);
  window.docks().show(u"swarm"_s);
  if (scene.name == "exchange"_L1) {
    Q_EMIT page->exchangeRequested();
  } else if (scene.name.startsWith("swarm"_L1)) {
    window.findChild<QTabWidget*>(u"swarmTabs"_s)->setCurrentIndex(scene.name.mid(6).toInt());
  } else {
    Q_EMIT page->settingsRequested();
    if (scene.name == "endpoint"_L1) {
      window.findChild<QPushButton*>(u"endpointEdit"_s)->click();
    }
  }
}

// A search over what is known on this machine.
void playSearch(ui::MainWindow& window) {
  window.docks().show(u"patterns"_s);
  window.findChild<QTabWidget*>(u"patternScopes"_s)->setCurrentIndex(1);
  window.findChild<ui::PatternFinder*>()->ask(u"row softmax, long rows, sm_90"_s);
}

// What is drawn: the dialog that was opened last, else the window.
QWidget& drawn(ui::MainWindow& window) {
  QWidget* found = &window;
  for (QDialog* dialog : window.findChildren<QDialog*>()) {
    found = dialog->isVisible() ? dialog : found;
  }
  return *found;
}

// The page of a candidate alone, as wide as a tab of the middle would be.
int showKernelPage(const Scene& scene, testing::FakeRunService& run, const ui::Theme& theme) {
  testing::FakeRecordService record;
  testing::FakeEditService edits;
  const bool isBroken = scene.name == "problems"_L1;
  testing::fillKernel(record, edits, isBroken ? testing::KernelScene::Failed : testing::KernelScene::Profiled);
  ui::ProjectSession session(run, record);
  session.showRun(testing::kDemoRun);
  ui::KernelPage page(session, ui::KernelServices{&record, &edits, {}}, nullptr);
  page.setTheme(theme);
  page.resize(scene.size);
  page.show();
  page.findChild<QAction*>(u"show_sassView"_s)->setChecked(!isBroken);
  page.findChild<QTabWidget*>(u"kernelTabs"_s)->setCurrentIndex(scene.name == "parameters"_L1 ? 1 : 0);
  QTimer::singleShot(200, &page, [&] {
    if (scene.name != "parameters"_L1) {
      page.activateWindow();
      page.goToSourceLine(8);
      page.findChild<QAction*>(u"nextProblem"_s)->trigger();
    }
  });
  QTimer::singleShot(900, &page, [&] {
    const bool saved = page.grab().save(scene.file);
    QApplication::exit(saved ? 0 : 1);
  });
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  const Scene scene = parse(QApplication::arguments());
  testing::FakeRunService run;
  ui::ThemeController theme(application);
  theme.choose(scene.theme);
  if (scene.name == "kernel"_L1 || scene.name == "problems"_L1 || scene.name == "parameters"_L1) {
    return showKernelPage(scene, run, theme.theme());
  }
  testing::FakeRecordService record;
  testing::fillDemo(record);
  testing::fillDemoActivity(record);
  const testing::FakeExportService exporter;
  testing::FakePatternService patterns;
  patterns.rows = testing::demoPatterns();
  testing::FakePatternSearchService patternSearch;
  patternSearch.entries = testing::demoFoundPatterns();
  testing::FakeDoctorService doctor;
  doctor.checks = testing::demoChecks();
  testing::FakeSelfTestService selfTest;
  testing::FakeProfileService profiles;
  testing::FakeSwarmService swarm;
  testing::FakeEndpointService endpoints;
  endpoints.rows = testing::demoEndpoints();
  const testing::DemoComparison compared = testing::fillDemoComparison(record);
  testing::FakeCompareService compare;
  compare.ancestor = compared.ancestor;
  ui::RealDialogs dialogs;
  ui::WindowOptions options;
  options.themeOfThisStart = scene.theme;
  options.spec.project = "/tmp/example.swage-project";
  options.tasksFolder = QStringLiteral(SWAGE_TASKS_FOLDER);
  if (scene.name == "recovery"_L1) {
    options.crashNote =
        u"ended by SIGSEGV\nswage-workbench 0.1.0\nbacktrace:\n  swage::ui::HeatMap::paintEvent\n  QWidget::event"_s;
  }
  testing::FakeRecordCheckService recordCheck;
  testing::FakeExportCheckService exportChecks;
  options.openDemo = [] { return Result<>(); };
  options.openWindow = [](const QString&, const QString&) { return Result<>(); };
  ui::MainWindow window({.run = run,
                         .record = record,
                         .exporter = exporter,
                         .dialogs = dialogs,
                         .theme = theme,
                         .exportChecks = &exportChecks,
                         .profiles = &profiles,
                         .compare = &compare,
                         .patterns = &patterns,
                         .patternSearch = &patternSearch,
                         .doctor = &doctor,
                         .selfTest = &selfTest,
                         .recordCheck = &recordCheck,
                         .swarm = &swarm,
                         .endpoints = &endpoints},
                        options);
  window.resize(scene.size);
  window.show();
  window.selectTask(QStringLiteral(SWAGE_TASKS_FOLDER "/softmax_rows.py"));
  play(scene, window, run, record);
  const QStringList ofModels{u"models"_s, u"endpoint"_s, u"exchange"_s};
  QTimer::singleShot(300, &window, [&] {
    take(scene.steps, window);
    if (ofModels.contains(scene.name) || scene.name.startsWith("swarm"_L1)) {
      playModels(scene, window, swarm);
    }
    if (scene.name == "found"_L1) {
      playSearch(window);
    }
  });
  QTimer::singleShot(900, &window, [&] {
    const bool saved = drawn(window).grab().save(scene.file);
    QApplication::exit(saved ? 0 : 1);
  });
  return QApplication::exec();
}
