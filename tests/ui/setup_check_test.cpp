// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QDockWidget>

#include "tests/support/wait_for.h"
#include "tests/ui/window_fixture.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

class SetupCheckTest : public WindowTest {
 protected:
  SetupCheckTest() { options.stateFile = folder / "state.json"; }
  void loseCompiler() {
    doctor.checks[0].status = services::DoctorCheck::Status::Failed;
    doctor.checks[0].required = true;
  }
  [[nodiscard]] bool isPageShown() const { return !child<QDockWidget>(u"doctorDock"_s)->isHidden(); }
  // Whether the page with the fixes came up by itself.
  bool startAndLook() {
    const int before = doctor.starts;
    open();
    EXPECT_TRUE(waitFor([&] { return doctor.starts > before; }));
    turnEventLoop();
    return isPageShown();
  }
  // The same where nobody is to look.
  bool startWithoutLooking() {
    open();
    turnEventLoop();
    return isPageShown();
  }
  void leave() {
    window->close();
    window.reset();
  }
};

TEST_F(SetupCheckTest, AFirstStartWithoutACompilerOpensThePageWithTheFixes) {
  loseCompiler();
  open();
  EXPECT_TRUE(QTest::qWaitFor([this] { return isPageShown(); }, kDeadlineMs));
  EXPECT_EQ(doctor.starts, 1);
}

TEST_F(SetupCheckTest, TheSameIsNotShownAtEachStart) {
  loseCompiler();
  ASSERT_TRUE(startAndLook());
  child<QDockWidget>(u"doctorDock"_s)->hide();
  leave();
  EXPECT_FALSE(startAndLook());
  EXPECT_EQ(doctor.starts, 2);
}

TEST_F(SetupCheckTest, SomethingElseThatIsMissingIsShown) {
  loseCompiler();
  ASSERT_TRUE(startAndLook());
  child<QDockWidget>(u"doctorDock"_s)->hide();
  leave();
  doctor.checks[1].status = services::DoctorCheck::Status::Failed;
  doctor.checks[1].required = true;
  EXPECT_TRUE(startAndLook());
}

TEST_F(SetupCheckTest, NobodyLooksAgainOnceAllWasThere) {
  EXPECT_FALSE(startAndLook());
  EXPECT_EQ(doctor.starts, 1);
  leave();
  loseCompiler();
  EXPECT_FALSE(startWithoutLooking());
  EXPECT_EQ(doctor.starts, 1);
}

TEST_F(SetupCheckTest, NobodyLooksWhereNothingIsRemembered) {
  loseCompiler();
  options.safeMode = true;
  EXPECT_FALSE(startWithoutLooking());
  EXPECT_EQ(doctor.starts, 0);
}

}  // namespace
}  // namespace swage::testing
