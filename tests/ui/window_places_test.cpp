// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QDockWidget>
#include <QPushButton>

#include <unistd.h>

#include "tests/support/wait_for.h"
#include "tests/ui/window_fixture.h"
#include "ui/shell/run_bar.h"
#include "ui/shell/window_places.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ui::WindowPlaces;

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

class WindowPlacesTest : public WindowTest {
 protected:
  WindowPlacesTest() {
    options.stateFile = folder / "state.json";
    options.windows = folder / "windows";
    options.spec.project.clear();
    options.projectOf = [this](const std::string&) { return folder / "project"; };
    options.restoreWindow = [this](const QString& place) {
      restored.push_back(place);
      return Result<>();
    };
    options.closeOther = [this](qint64 process) { closed.push_back(process); };
    write(folder / "project" / "runs.sqlite", "");
  }
  [[nodiscard]] QString task() const { return QString::fromStdString((folder / "tasks" / "softmax_rows.py").string()); }
  [[nodiscard]] QStringList left() const { return WindowPlaces(folder / "windows").left(); }
  void leave() {
    window->close();
    window.reset();
  }
  // What a window with the candidate 12 has left.
  void leaveWindow() {
    open();
    window->selectTask(task());
    window->session().selectCandidate(domain::CandidateId(12));
    child<QDockWidget>(u"progressDock"_s)->hide();
    leave();
  }

  QStringList restored;
  std::vector<qint64> closed;
};

TEST_F(WindowPlacesTest, APlaceIsHeldByOneWindowUntilItIsLeft) {
  WindowPlaces first(folder / "windows");
  first.takeNew();
  ASSERT_TRUE(first.save({}).has_value());
  WindowPlaces second(folder / "windows");
  EXPECT_THAT(second.left(), IsEmpty());
  EXPECT_THAT(second.others(), ElementsAre(::getpid()));
  EXPECT_FALSE(second.take(u"1"_s));
  second.takeNew();
  EXPECT_THAT(first.others(), ElementsAre(::getpid()));
  first.leave(WindowPlaces::Forget::No);
  EXPECT_THAT(second.others(), IsEmpty());
  EXPECT_THAT(second.left(), ElementsAre(u"1"_s));
  second.forgetLeft();
  EXPECT_THAT(second.left(), IsEmpty());
}

TEST_F(WindowPlacesTest, WithoutAFolderNothingIsKept) {
  WindowPlaces places({});
  places.takeNew();
  EXPECT_TRUE(places.save({}).has_value());
  EXPECT_THAT(places.left(), IsEmpty());
  EXPECT_THAT(places.others(), IsEmpty());
}

TEST_F(WindowPlacesTest, AllWindowsThatWereOpenAtTheEndAreOpenedAgain) {
  leaveWindow();
  {
    WindowPlaces other(folder / "windows");
    other.takeNew();
    ASSERT_TRUE(other.save({}).has_value());
  }
  EXPECT_THAT(left(), ElementsAre(u"1"_s, u"2"_s));
  open();
  EXPECT_EQ(window->session().selectedCandidate(), domain::CandidateId(12));
  EXPECT_TRUE(child<QDockWidget>(u"progressDock"_s)->isHidden());
  EXPECT_THAT(restored, ElementsAre(u"2"_s));
}

TEST_F(WindowPlacesTest, AWindowIsOpenedForItsPlaceAndOpensNoOther) {
  leaveWindow();
  WindowPlaces other(folder / "windows");
  other.takeNew();
  ASSERT_TRUE(other.save({}).has_value());
  other.leave(WindowPlaces::Forget::No);
  options.place = u"1"_s;
  open();
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), task());
  EXPECT_EQ(window->session().selectedCandidate(), domain::CandidateId(12));
  EXPECT_THAT(restored, IsEmpty());
}

TEST_F(WindowPlacesTest, OneOfSeveralThatIsClosedStaysClosed) {
  WindowPlaces other(folder / "windows");
  other.takeNew();
  ASSERT_TRUE(other.save({}).has_value());
  leaveWindow();
  other.leave(WindowPlaces::Forget::No);
  EXPECT_THAT(left(), ElementsAre(u"1"_s));
}

TEST_F(WindowPlacesTest, QuittingClosesTheOthersAndAllComeBack) {
  WindowPlaces other(folder / "windows");
  other.takeNew();
  ASSERT_TRUE(other.save({}).has_value());
  open();
  window->actions().quit->trigger();
  EXPECT_THAT(closed, ElementsAre(::getpid()));
  EXPECT_FALSE(window->isVisible());
  other.leave(WindowPlaces::Forget::No);
  EXPECT_THAT(left(), ElementsAre(u"1"_s, u"2"_s));
}

TEST_F(WindowPlacesTest, WhoSaysWhatToOpenBeginsANewSession) {
  leaveWindow();
  options.spec.task = task().toStdString();
  open();
  EXPECT_THAT(restored, IsEmpty());
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(WindowPlacesTest, NothingIsRestoredWhereThatIsSwitchedOff) {
  leaveWindow();
  settings.settings = {{"general.restore_session", false}};
  open();
  EXPECT_FALSE(window->session().shownRun().isValid());
  EXPECT_THAT(left(), IsEmpty());
}

// As a process that is killed leaves it: no window was closed.
TEST_F(WindowPlacesTest, WhatIsOpenIsWrittenWhileItIsOpen) {
  open();
  window->selectTask(task());
  const auto saved = [this] { return ui::loadShellState(folder / "windows" / "1.json").leftOff.task == task(); };
  EXPECT_TRUE(QTest::qWaitFor(saved, kDeadlineMs));
}

TEST_F(WindowPlacesTest, AfterACrashStartingAfreshForgetsTheWindows) {
  leaveWindow();
  options.crashNote = u"ended by SIGSEGV"_s;
  open();
  EXPECT_THAT(left(), ElementsAre(u"1"_s));
  QTest::mouseClick(child<QPushButton>(u"startAfresh"_s), Qt::LeftButton);
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(WindowPlacesTest, ALayoutThatAnotherWindowSavedIsKept) {
  open();
  ui::ShellState others;
  others.layouts.insert(u"mine"_s, "state");
  ASSERT_TRUE(ui::saveShellState(others, options.stateFile).has_value());
  leave();
  EXPECT_TRUE(ui::loadShellState(options.stateFile).layouts.contains(u"mine"_s));
}

}  // namespace
}  // namespace swage::testing
