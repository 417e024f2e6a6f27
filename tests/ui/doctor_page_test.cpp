// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/doctor_page.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "tests/support/fake_services.h"
#include "tests/ui/demo_data.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using services::SelfTestCase;

class DoctorPageTest : public ::testing::Test {
 protected:
  DoctorPageTest() {
    doctor.checks = demoChecks();
    page.resize(700, 800);
  }
  [[nodiscard]] QString text(const QString& name) const { return page.findChild<QLabel*>(name)->text(); }
  [[nodiscard]] QAbstractItemModel* table(const QString& name) const {
    return page.findChild<QTableView*>(name)->model();
  }
  void click(const QString& name) const { QTest::mouseClick(page.findChild<QPushButton*>(name), Qt::LeftButton); }

  FakeDoctorService doctor;
  FakeSelfTestService selfTest;
  ui::DoctorPage page{doctor, &selfTest};
};

TEST_F(DoctorPageTest, LooksWhenItIsFirstShownAndWhenAsked) {
  EXPECT_EQ(doctor.starts, 0);
  page.show();
  EXPECT_EQ(doctor.starts, 1);
  page.hide();
  page.show();
  EXPECT_EQ(doctor.starts, 1);
  click(u"checkAgain"_s);
  EXPECT_EQ(doctor.starts, 2);
}

TEST_F(DoctorPageTest, ShowsEachCheckWithWhatToDo) {
  const QAbstractItemModelTester tester(table(u"doctorTable"_s),
                                        QAbstractItemModelTester::FailureReportingMode::Warning);
  page.show();
  ASSERT_EQ(table(u"doctorTable"_s)->rowCount(), 3);
  EXPECT_EQ(table(u"doctorTable"_s)->index(1, 0).data(), u"warning"_s);
  EXPECT_EQ(table(u"doctorTable"_s)->index(1, 3).data(), u"apt install bubblewrap"_s);
  EXPECT_EQ(text(u"doctorSummary"_s), u"A search can run. 2 warnings."_s);
}

TEST_F(DoctorPageTest, PutsFirstWhatNeedsSomethingToBeDone) {
  page.show();
  const QAbstractItemModel* checks = table(u"doctorTable"_s);
  EXPECT_EQ(checks->index(0, 1).data(), u"NVIDIA driver"_s);
  EXPECT_EQ(checks->index(1, 1).data(), u"sandbox"_s);
  EXPECT_EQ(checks->index(2, 1).data(), u"C++ compiler"_s);
}

TEST_F(DoctorPageTest, TellsWhenNothingWorks) {
  const QSignalSpy checked(&page, &ui::DoctorPage::checked);
  doctor.checks[2].required = true;
  page.show();
  ASSERT_EQ(checked.count(), 1);
  EXPECT_EQ(checked.front().front().toStringList(), QStringList{u"NVIDIA driver"_s});
  EXPECT_EQ(text(u"doctorSummary"_s), u"A search cannot run. Missing: NVIDIA driver."_s);
}

TEST_F(DoctorPageTest, CopiesTheReport) {
  page.show();
  click(u"copyDoctor"_s);
  EXPECT_TRUE(QApplication::clipboard()->text().contains(u"warning: sandbox: bwrap was not found\n    apt install"_s));
}

TEST_F(DoctorPageTest, RunsTheSelfTestAndShowsItsVerdict) {
  page.show();
  click(u"runSelfTest"_s);
  EXPECT_EQ(selfTest.starts, 1);
  Q_EMIT selfTest.caseEnded({.name = "no_op",
                             .family = "control",
                             .expected = "correct",
                             .got = "wrong",
                             .detail = {},
                             .verdict = SelfTestCase::Verdict::Wrong},
                            1, 4);
  EXPECT_EQ(page.findChild<QProgressBar*>(u"selfTestProgress"_s)->maximum(), 4);
  EXPECT_TRUE(text(u"selfTestVerdict"_s).startsWith(u"Self-test: 1 of 4, 0:0"_s));
  EXPECT_EQ(table(u"selfTestTable"_s)->index(0, 0).data(), u"wrong"_s);
  services::SelfTestReport report;
  report.device.name = "Example";
  report.cases = {{.name = "no_op",
                   .family = {},
                   .expected = {},
                   .got = {},
                   .detail = {},
                   .verdict = SelfTestCase::Verdict::Wrong}};
  Q_EMIT selfTest.finished(report);
  EXPECT_TRUE(text(u"selfTestVerdict"_s).startsWith(u"Self-test failed on Example"_s));
}

TEST_F(DoctorPageTest, ShowsTheVerdictThatIsStored) {
  EXPECT_EQ(text(u"selfTestVerdict"_s), u"Self-test: not run with this version yet"_s);
  selfTest.stored = {{.deviceName = "Example", .driverVersion = {}, .torchVersion = "2.11.0", .cases = 79},
                     {.deviceName = "Other", .driverVersion = {}, .torchVersion = "2.11.0", .cases = 79}};
  const ui::DoctorPage other(doctor, &selfTest);
  const auto* verdict = other.findChild<QLabel*>(u"selfTestVerdict"_s);
  EXPECT_TRUE(verdict->text().startsWith(u"Self-test: passed on Example with PyTorch 2.11.0, 79 cases, "_s));
  EXPECT_TRUE(verdict->toolTip().contains(u"Other"_s));
}

TEST_F(DoctorPageTest, TheSelfTestCanBeCancelled) {
  page.show();
  click(u"runSelfTest"_s);
  click(u"runSelfTest"_s);
  EXPECT_EQ(selfTest.cancels, 1);
  Q_EMIT selfTest.finished(Error(ErrorKind::Cancelled, "cancelled"));
  EXPECT_EQ(text(u"selfTestVerdict"_s), u"The self-test was cancelled."_s);
  EXPECT_TRUE(page.findChild<QPushButton*>(u"runSelfTest"_s)->isEnabled());
}

}  // namespace
}  // namespace swage::testing
