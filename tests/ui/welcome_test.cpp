// SPDX-License-Identifier: Apache-2.0
#include <QComboBox>
#include <QCommandLinkButton>
#include <QDir>
#include <QDockWidget>
#include <QListWidget>
#include <QProgressBar>

#include <utility>

#include "core/base/files.h"
#include "tests/support/wait_for.h"
#include "tests/ui/window_fixture.h"
#include "ui/pages/welcome_page.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/run_bar.h"
#include "ui/widgets/elided_label.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

class WelcomeTest : public WindowTest {
 protected:
  WelcomeTest() {
    options.spec.project.clear();
    options.projectOf = [this](const std::string&) { return folder / "project"; };
    options.stateFile = folder / "state.json";
    options.openDemo = [this] {
      ++demos;
      return Result<>();
    };
    options.openWindow = [this](const QString& task, const QString& project) {
      openedTask = task;
      openedProject = project;
      return Result<>();
    };
  }
  [[nodiscard]] bool isShown() const {
    return QTest::qWaitFor([this] { return !child<QDockWidget>(u"welcomeDock"_s)->isHidden(); }, 200);
  }
  [[nodiscard]] QString task() const { return QString::fromStdString((folder / "tasks" / "softmax_rows.py").string()); }
  void leave() {
    window->close();
    window.reset();
  }

  int demos = 0;
  QString openedTask;
  QString openedProject;
};

TEST_F(WelcomeTest, AFirstStartOffersWhatCanBeDone) {
  open();
  ASSERT_TRUE(isShown());
  for (const char* name : {"openTask", "openProject", "playDemo", "show_doctor", "help"}) {
    EXPECT_TRUE(child<QCommandLinkButton>(u"welcome_"_s + QString::fromLatin1(name))->isEnabled()) << name;
  }
  child<QCommandLinkButton>(u"welcome_playDemo"_s)->click();
  EXPECT_EQ(demos, 1);
  child<QCommandLinkButton>(u"welcome_show_doctor"_s)->click();
  EXPECT_FALSE(child<QDockWidget>(u"doctorDock"_s)->isHidden());
}

TEST_F(WelcomeTest, ItGoesWhenATaskIsChosenAndDoesNotComeAgain) {
  open();
  ASSERT_TRUE(isShown());
  window->selectTask(task());
  EXPECT_TRUE(child<QDockWidget>(u"welcomeDock"_s)->isHidden());
  leave();
  open();
  EXPECT_FALSE(isShown());
  child<QAction>(u"show_welcome"_s)->trigger();
  EXPECT_TRUE(isShown());
  window->actions().start->trigger();
  EXPECT_TRUE(child<QDockWidget>(u"welcomeDock"_s)->isHidden());
}

TEST_F(WelcomeTest, ARecentTaskIsAClickAway) {
  open();
  window->selectTask(task());
  leave();
  open();
  child<QAction>(u"show_welcome"_s)->trigger();
  auto* recent = child<QListWidget>(u"welcomeRecent"_s);
  ASSERT_EQ(recent->count(), 1);
  EXPECT_TRUE(recent->item(0)->text().endsWith(task()));
  Q_EMIT recent->itemClicked(recent->item(0));
  EXPECT_TRUE(QTest::qWaitFor([this] { return child<ui::RunBar>(u"runBar"_s)->task() == task(); }, kDeadlineMs));
}

TEST_F(WelcomeTest, WhoSaysWhatToOpenNeedsNone) {
  options.spec.task = task().toStdString();
  open();
  EXPECT_FALSE(isShown());
}

TEST_F(WelcomeTest, ARelativeTaskIsRememberedWithItsFolder) {
  const QString before = QDir::currentPath();
  QDir::setCurrent(QString::fromStdString((folder / "tasks").string()));
  open();
  window->selectTask(u"softmax_rows.py"_s);
  leave();
  QDir::setCurrent(before);
  open();
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), task());
  EXPECT_TRUE(window->actions().start->isEnabled());
}

TEST_F(WelcomeTest, ANewWindowShowsTheSame) {
  open();
  window->selectTask(task());
  window->actions().newWindow->trigger();
  EXPECT_EQ(openedTask, task());
  EXPECT_EQ(openedProject, QString());
  dialogs.path = QString::fromStdString((folder / "project").string());
  window->actions().openProject->trigger();
  window->actions().newWindow->trigger();
  EXPECT_EQ(openedProject, dialogs.path);
}

TEST_F(WelcomeTest, F11GivesTheWindowTheScreenAndTakesItBack) {
  open();
  window->actions().fullScreen->trigger();
  EXPECT_TRUE(QTest::qWaitFor([this] { return window->isFullScreen(); }, kDeadlineMs));
  EXPECT_TRUE(window->actions().fullScreen->isChecked());
  window->actions().fullScreen->trigger();
  EXPECT_TRUE(QTest::qWaitFor([this] { return !window->isFullScreen(); }, kDeadlineMs));
  EXPECT_FALSE(window->actions().fullScreen->isChecked());
}

class WindowStateTest : public WindowTest {
 protected:
  [[nodiscard]] QString stage() const { return child<ui::ElidedLabel>(u"stage"_s)->fullText(); }
};

TEST_F(WindowStateTest, AFreshTaskIsNotStartedWhateverBecameOfTheLastRun) {
  openWithTask();
  EXPECT_TRUE(stage().startsWith(u"Not started"_s));
  startRun();
  services::RunOutcome outcome;
  outcome.state = services::RunState::Failed;
  outcome.run = kDemoRun;
  run.finish(outcome);
  EXPECT_TRUE(stage().startsWith(u"failed"_s)) << stage().toStdString();
  window->session().showRun(kDemoRun);
  EXPECT_TRUE(stage().startsWith(u"recorded run: finished"_s)) << stage().toStdString();
  window->session().openProject(folder / "elsewhere");
  EXPECT_TRUE(stage().startsWith(u"Not started"_s)) << stage().toStdString();
}

TEST_F(WindowStateTest, AStoppedRunIsCalledStopped) {
  openWithTask();
  startRun();
  record.runRows.front().status = domain::RunStatus::Interrupted;
  services::RunOutcome outcome;
  outcome.state = services::RunState::Interrupted;
  outcome.run = kDemoRun;
  run.finish(outcome);
  EXPECT_TRUE(stage().startsWith(u"stopped"_s)) << stage().toStdString();
}

TEST_F(WindowStateTest, TheSelfTestSaysHowFarItIsAndWhyItRuns) {
  openWithTask();
  window->actions().start->trigger();
  run.enter(services::RunState::Preparing);
  services::Progress progress;
  progress.stage = "self-test 12 of 79";
  progress.step = 12;
  progress.steps = 79;
  Q_EMIT run.progressed(progress);
  ASSERT_TRUE(QTest::qWaitFor([this] { return stage().startsWith(u"self-test 12 of 79"_s); }, kDeadlineMs));
  EXPECT_TRUE(stage().contains(u"left"_s));
  EXPECT_TRUE(stage().contains(u"wrong kernels are found on this device"_s));
  EXPECT_EQ(child<QProgressBar>(u"budgetBar"_s)->value(), 12);
  EXPECT_EQ(child<QProgressBar>(u"budgetBar"_s)->maximum(), 79);
}

TEST_F(WindowStateTest, ASearchMayEndAfterANumberOfCandidates) {
  openWithTask();
  child<QComboBox>(u"timeBudget"_s)->setCurrentText(u"500 candidates"_s);
  window->actions().start->trigger();
  EXPECT_EQ(run.spec.timeBudgetSeconds, 0.0);
  EXPECT_EQ(run.spec.maxEvaluations, 500);
}

TEST_F(WindowStateTest, FitsIntoASmallScreenInEveryLayout) {
  openWithTask();
  startRun();
  sendEverything();
  for (const ui::Layout layout : {ui::Layout::Search, ui::Layout::Inspect, ui::Layout::Compare}) {
    window->docks().apply(layout);
    window->resize(1000, 700);
    ASSERT_TRUE(waitUntilStill([&] { return std::pair(window->size(), window->minimumSizeHint()); }));
    EXPECT_EQ(window->size(), QSize(1000, 700)) << static_cast<int>(layout);
    EXPECT_LE(window->minimumSizeHint().width(), 1000) << static_cast<int>(layout);
    EXPECT_LE(window->minimumSizeHint().height(), 700) << static_cast<int>(layout);
  }
}

}  // namespace
}  // namespace swage::testing
