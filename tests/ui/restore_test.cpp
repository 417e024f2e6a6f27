// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/recovery_dialog.h"
#include "ui/shell/run_bar.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

class RestoreTest : public WindowTest {
 protected:
  RestoreTest() {
    options.stateFile = folder / "state.json";
    options.spec.project.clear();
    options.projectOf = [this](const std::string&) { return folder / "project"; };
    write(folder / "project" / "runs.sqlite", "");
  }
  // Works a little, and leaves.
  void leaveWithCandidate(std::int64_t id) {
    open();
    window->selectTask(task());
    window->session().selectCandidate(domain::CandidateId(id));
    child<QDockWidget>(u"progressDock"_s)->hide();
    window->close();
    window.reset();
  }
  [[nodiscard]] QString task() const { return QString::fromStdString((folder / "tasks" / "softmax_rows.py").string()); }
  [[nodiscard]] domain::CandidateId selected() const { return window->session().selectedCandidate(); }
};

TEST_F(RestoreTest, GoesOnWhereTheUserLeftOff) {
  leaveWithCandidate(12);
  open();
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), task());
  EXPECT_EQ(window->session().shownRun(), kDemoRun);
  EXPECT_EQ(selected(), domain::CandidateId(12));
  EXPECT_TRUE(child<QDockWidget>(u"progressDock"_s)->isHidden());
}

TEST_F(RestoreTest, NotWhenItIsSwitchedOff) {
  leaveWithCandidate(12);
  settings.settings = {{"general.restore_session", false}};
  open();
  EXPECT_FALSE(window->session().shownRun().isValid());
  EXPECT_TRUE(child<QDockWidget>(u"progressDock"_s)->isHidden());
}

TEST_F(RestoreTest, WhatIsGoneIsPassedOver) {
  leaveWithCandidate(12);
  std::filesystem::remove(folder / "project" / "runs.sqlite");
  open();
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), task());
  EXPECT_FALSE(window->session().shownRun().isValid());
}

TEST_F(RestoreTest, SafeModeNeitherRestoresNorRemembers) {
  leaveWithCandidate(12);
  options.safeMode = true;
  open();
  EXPECT_FALSE(window->session().shownRun().isValid());
  EXPECT_FALSE(child<QDockWidget>(u"progressDock"_s)->isHidden());
  window->close();
  window.reset();
  options.safeMode = false;
  open();
  EXPECT_EQ(selected(), domain::CandidateId(12));
}

TEST_F(RestoreTest, AfterACrashTheUserDecides) {
  leaveWithCandidate(12);
  options.crashNote = u"ended by SIGSEGV"_s;
  open();
  EXPECT_FALSE(window->session().shownRun().isValid());
  EXPECT_EQ(child<QPlainTextEdit>(u"crashNote"_s)->toPlainText(), u"ended by SIGSEGV"_s);
  QTest::mouseClick(child<QPushButton>(u"checkRecord"_s), Qt::LeftButton);
  EXPECT_EQ(recordCheck.checked, folder / "project");
  Q_EMIT recordCheck.finished(Result<>());
  EXPECT_EQ(child<QLabel>(u"recordVerdict"_s)->text(), u"The record is intact."_s);
  Q_EMIT recordCheck.finished(Error(ErrorKind::Storage, "it is damaged", "put a backup in its place"));
  EXPECT_EQ(child<QLabel>(u"recordVerdict"_s)->text(), u"it is damaged\nput a backup in its place"_s);
  QTest::mouseClick(child<QPushButton>(u"restoreSession"_s), Qt::LeftButton);
  EXPECT_EQ(selected(), domain::CandidateId(12));
}

TEST_F(RestoreTest, AfterACrashTheUserMayStartAfresh) {
  leaveWithCandidate(12);
  options.crashNote = QString();
  open();
  QTest::mouseClick(child<QPushButton>(u"startAfresh"_s), Qt::LeftButton);
  EXPECT_FALSE(window->session().shownRun().isValid());
}

TEST_F(RestoreTest, RecentProjectsAreOffered) {
  open();
  dialogs.path = QString::fromStdString((folder / "project").string());
  window->actions().openProject->trigger();
  window->close();
  window.reset();
  open();
  auto* menu = child<QMenu>(u"recentProjects"_s);
  Q_EMIT menu->aboutToShow();
  ASSERT_EQ(menu->actions().size(), 1);
  EXPECT_EQ(menu->actions().front()->text(), dialogs.path);
}

}  // namespace
}  // namespace swage::testing
