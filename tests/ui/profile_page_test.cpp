// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/profile_page.h"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <algorithm>

#include "tests/support/wait_for.h"
#include "tests/ui/demo_data.h"
#include "tests/ui/demo_export.h"
#include "tests/ui/demo_profile.h"
#include "ui/charts/bar_chart.h"
#include "ui/charts/clock_strip.h"
#include "ui/charts/roofline_chart.h"
#include "ui/charts/sample_chart.h"
#include "ui/charts/timing_strip.h"
#include "ui/models/profile_text.h"
#include "ui/pages/triage_card.h"
#include "ui/pages/trust_panel.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/section.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProfilePageTest : public ::testing::Test {
 protected:
  ProfilePageTest() {
    testing::fillDemo(m_record);
    testing::fillDemoProfile(m_profiles, m_record);
    m_best = testing::demoBest(m_record);
    QObject::connect(&m_session, &ProjectSession::noticed, &m_session,
                     [this](const services::Notice& notice) { m_notices.push_back(notice.text); });
    m_page.resize(700, 1400);
    m_page.show();
  }
  template <class T>
  [[nodiscard]] T* child(const QString& name) const {
    T* found = m_page.findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }
  void showRun() { m_session.showRun(testing::kDemoRun); }

  testing::FakeRunService m_run;
  testing::FakeRecordService m_record;
  testing::FakeProfileService m_profiles;
  ProjectSession m_session{m_run, m_record};
  PinnedBaseline m_pinned{m_session, m_record, m_profiles};
  ProfilePage m_page{m_session, m_profiles, m_pinned};
  domain::CandidateId m_best;
  std::vector<std::string> m_notices;
};

TEST_F(ProfilePageTest, SaysWhatToDoWhileNothingIsSelected) {
  EXPECT_TRUE(m_page.findChild<EmptyState*>()->isEmpty());
  showRun();
  EXPECT_FALSE(m_page.findChild<EmptyState*>()->isEmpty());
}

TEST_F(ProfilePageTest, BeginsWithWhatBoundsTheCandidateAndWhatCostsMost) {
  showRun();
  EXPECT_EQ(child<QLabel>(u"triageHeadline"_s)->text(), u"Memory-bound"_s);
  EXPECT_EQ(m_page.findChild<TriageCard*>()->findingCount(), 3);
  EXPECT_EQ(child<QLabel>(u"findingGain1"_s)->text(), u"up to 16 %"_s);
  EXPECT_EQ(child<Badge>(u"sourceBadge"_s)->text(), u"hardware counters"_s);
}

TEST_F(ProfilePageTest, AFindingLeadsToItsLine) {
  showRun();
  const QSignalSpy spy(&m_page, &ProfilePage::lineRequested);
  QTest::mouseClick(child<QPushButton>(u"findingLine3"_s), Qt::LeftButton);
  ASSERT_EQ(spy.size(), 1);
  EXPECT_EQ(spy.front().at(0).value<domain::CandidateId>(), m_best);
  EXPECT_EQ(spy.front().at(1).toInt(), 61);
}

TEST_F(ProfilePageTest, AFindingCanBeReachedByKeyboard) {
  showRun();
  const QSignalSpy spy(&m_page, &ProfilePage::lineRequested);
  auto* link = child<QPushButton>(u"findingLine1"_s);
  link->setFocus(Qt::TabFocusReason);
  QTest::keyClick(link, Qt::Key_Space);
  EXPECT_EQ(spy.size(), 1);
}

TEST_F(ProfilePageTest, NewElitesOfALiveSearchDoNotTakeTheLinksAway) {
  showRun();
  const auto* link = child<QPushButton>(u"findingLine1"_s);
  m_record.cellRows[1].bestTimeNs /= 2.0;
  const auto before = child<RooflineChart>(u"rooflineChart"_s)->points().size();
  Q_EMIT m_session.cellsChanged();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_EQ(child<QPushButton>(u"findingLine1"_s), link);
  EXPECT_EQ(child<RooflineChart>(u"rooflineChart"_s)->points().size(), before);
}

TEST_F(ProfilePageTest, APinnedCandidateStaysWhileBaselinesAreMeasured) {
  showRun();
  m_pinned.pinCandidate(m_best);
  Q_EMIT m_session.historyChanged();
  EXPECT_EQ(m_pinned.pinned().candidate, m_best);
  EXPECT_TRUE(m_pinned.numbers());
}

TEST_F(ProfilePageTest, WhatIsPinnedIsKeptForItsRun) {
  services::RunSummary other = m_record.runRows.front();
  other.id = domain::RunId(other.id.value() + 1);
  m_record.runRows.push_back(other);
  showRun();
  m_pinned.pinCandidate(m_best);
  m_session.showRun(other.id);
  EXPECT_EQ(m_pinned.pinned().mode, "compile") << "another run begins with its own baseline";
  showRun();
  EXPECT_EQ(m_pinned.pinned().candidate, m_best);
  EXPECT_TRUE(m_pinned.numbers());

  PinnedBaseline later(m_session, m_record, m_profiles);
  EXPECT_EQ(later.pinned().mode, "compile");
  later.restoreState(m_page.saveState());
  EXPECT_EQ(later.pinned().candidate, m_best) << "and after a restart";
  later.pin({Pin::Kind::Baseline, "eager", {}});
  m_page.restoreState(later.saveState());
  EXPECT_EQ(m_pinned.pinned().mode, "eager");
}

TEST_F(ProfilePageTest, AnotherKernelShowsItsOwnNumbers) {
  showRun();
  EXPECT_THAT(child<BarChart>(u"unitChart"_s)->bars(), SizeIs(7));
  auto* table = child<QTableView>(u"kernelTable"_s);
  table->setFocus();
  QTest::keyClick(table, Qt::Key_Down);
  EXPECT_THAT(child<BarChart>(u"unitChart"_s)->bars(), SizeIs(2));
  EXPECT_EQ(child<BarChart>(u"stallChart"_s)->bars()[0].label, u"barrier"_s);
  QTest::keyClick(table, Qt::Key_Down);  // what is outside of kernels has no counters; the kernel stays
  EXPECT_THAT(child<BarChart>(u"unitChart"_s)->bars(), SizeIs(2));
}

TEST_F(ProfilePageTest, ComparesWithTheFastestBaselineFromTheStart) {
  showRun();
  EXPECT_EQ(child<QComboBox>(u"pinPicker"_s)->currentText(), u"compile"_s);
  const auto& row = m_session.detail()->row;
  const Delta delta = compareTimes(intervalOf(row), m_pinned.numbers()->time);
  const QString expected = u"%1 against compile"_s.arg(formatDelta(delta));
  EXPECT_TRUE(child<Section>(u"timingSection"_s)->caption().startsWith(expected))
      << child<Section>(u"timingSection"_s)->caption().toStdString();
}

TEST_F(ProfilePageTest, APinnedCandidateIsBesideEveryNumber) {
  const domain::CandidateId other = m_record.cellRows[1].best;
  m_profiles.reports[other] = testing::demoReport(other);
  m_profiles.reports[other].diagnosis.kernels[0].units[1].share = 0.61;
  showRun();
  m_session.selectCandidate(other);
  QTest::mouseClick(child<QToolButton>(u"pinButton"_s), Qt::LeftButton);
  m_session.selectCandidate(m_best);
  EXPECT_EQ(child<QComboBox>(u"pinPicker"_s)->currentText(), u"candidate %1"_s.arg(other.value()));
  EXPECT_EQ(child<BarChart>(u"unitChart"_s)->bars()[1].delta, u"+22"_s);
  const auto lines = child<TimingStrip>(u"timingStrip"_s)->lines();
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [](const TimingLine& line) { return line.role == TimingLine::Role::Pinned; }));
  const auto points = child<RooflineChart>(u"rooflineChart"_s)->points();
  EXPECT_TRUE(std::any_of(points.begin(), points.end(),
                          [](const auto& point) { return point.role == RooflinePoint::Role::Pinned; }));
}

TEST_F(ProfilePageTest, PinningNothingRemovesTheDeltas) {
  showRun();
  auto* picker = child<QComboBox>(u"pinPicker"_s);
  picker->setFocus();
  QTest::keyClick(picker, Qt::Key_Home);
  EXPECT_FALSE(m_pinned.numbers());
  EXPECT_FALSE(child<Section>(u"timingSection"_s)->caption().contains(u"against"_s));
}

TEST_F(ProfilePageTest, WithoutCountersItSaysHowToGetThem) {
  m_profiles.reports[m_best] = testing::demoCompilerReport(m_best);
  showRun();
  EXPECT_EQ(child<Badge>(u"sourceBadge"_s)->tone(), Badge::Tone::Caution);
  EXPECT_TRUE(child<QLabel>(u"profileLimitation"_s)->text().contains(u"ERR_NVGPUCTRPERM"_s));
  EXPECT_FALSE(child<BarChart>(u"unitChart"_s)->isVisible());
  EXPECT_FALSE(child<RooflineChart>(u"rooflineChart"_s)->isVisible());
  EXPECT_TRUE(child<QTableView>(u"kernelTable"_s)->isVisible());
}

TEST_F(ProfilePageTest, SaysOfACpuMoreThanThatNothingWasCounted) {
  m_profiles.reports[m_best] = testing::demoCpuReport(m_best);
  showRun();
  EXPECT_EQ(child<QLabel>(u"triageHeadline"_s)->text(), u"No hardware counters; bottleneck unknown"_s);
  EXPECT_TRUE(child<QLabel>(u"triageReason"_s)->text().contains(u"34 % of the bandwidth of a copy"_s));
  EXPECT_EQ(m_page.findChild<TriageCard*>()->findingCount(), 2);
  EXPECT_THAT(child<BarChart>(u"unitChart"_s)->bars(), SizeIs(2));
  EXPECT_TRUE(child<QWidget>(u"processorPanel"_s)->isVisible());
  EXPECT_TRUE(child<QLabel>(u"profileRemarks"_s)->isVisible());
}

TEST_F(ProfilePageTest, MakesAProfileAndShowsIt) {
  m_profiles.reports.clear();
  m_session.openProject("/nowhere");
  showRun();
  EXPECT_TRUE(child<QLabel>(u"profileLimitation"_s)->text().startsWith(u"It was not profiled."_s));
  auto* button = child<QPushButton>(u"profileButton"_s);
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_EQ(m_profiles.running, m_best);
  EXPECT_EQ(m_profiles.project, "/nowhere");
  EXPECT_FALSE(button->isEnabled());
  m_profiles.tell(services::ProfileProgress::Stage::LoadingTask, 65.0);
  EXPECT_EQ(child<ElidedLabel>(u"profileStage"_s)->fullText(),
            u"Candidate %1: loading the task, 1:05"_s.arg(m_best.value()));
  m_profiles.finish(testing::demoReport(m_best));
  EXPECT_TRUE(button->isEnabled());
  EXPECT_EQ(child<QLabel>(u"triageHeadline"_s)->text(), u"Memory-bound"_s);
  EXPECT_THAT(m_notices, IsEmpty());
}

TEST_F(ProfilePageTest, CancelIsAcknowledgedAtOnceAndIsNoFailure) {
  showRun();
  m_page.profile();
  auto* cancel = child<QPushButton>(u"profileCancel"_s);
  QTest::mouseClick(cancel, Qt::LeftButton);
  EXPECT_EQ(m_profiles.cancels, 1);
  EXPECT_FALSE(cancel->isEnabled());
  m_profiles.finish(Error(ErrorKind::Cancelled, "the profile was cancelled"));
  EXPECT_THAT(m_notices, IsEmpty());
  EXPECT_TRUE(child<QPushButton>(u"profileButton"_s)->isEnabled());
  EXPECT_FALSE(cancel->isVisible());
}

TEST_F(ProfilePageTest, AFailedProfileIsANotice) {
  showRun();
  m_page.profile();
  m_profiles.finish(Error(ErrorKind::Environment, "cannot profile: no worker"));
  EXPECT_EQ(m_notices, std::vector<std::string>{"cannot profile: no worker"});
}

TEST_F(ProfilePageTest, DoesNotProfileWhileASearchMeasures) {
  showRun();
  auto* button = child<QPushButton>(u"profileButton"_s);
  EXPECT_TRUE(button->isEnabled());
  m_session.start({});
  m_run.create(testing::kDemoRun);
  EXPECT_FALSE(button->isEnabled());
  EXPECT_TRUE(button->toolTip().contains(u"stop it first"_s));
  m_page.profile();
  EXPECT_EQ(m_profiles.starts, 0);
}

TEST_F(ProfilePageTest, ShowsWhatWasCheckedWithReasons) {
  showRun();
  const auto badges = m_page.findChild<TrustPanel*>()->findChildren<Badge*>();
  QStringList words;
  for (const Badge* badge : badges) {
    words.push_back(badge->text());
  }
  EXPECT_EQ(words, (QStringList{u"passed"_s, u"passed"_s, u"passed"_s, u"not run"_s, u"not run"_s, u"passed"_s,
                                u"failed"_s, u"warning"_s}))
      << "as many as Export shows";
  const auto labels = m_page.findChild<TrustPanel*>()->findChildren<QLabel*>();
  EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
    return label->text() == u"correctness checks are weak: all outputs are zero for one of the seeds"_s;
  }));
  EXPECT_EQ(badges[3]->tone(), Badge::Tone::Caution);
  EXPECT_EQ(badges[6]->tone(), Badge::Tone::Bad) << "as in Export, also where it does not keep a kernel from leaving";
  EXPECT_EQ(child<Badge>(u"checkedBadge"_s)->text(), u"4 of 7 checks passed"_s);
  m_profiles.gateRows = testing::demoWrongGates();
  showRun();
  EXPECT_EQ(child<Badge>(u"checkedBadge"_s)->text(), u"check failed"_s);
  EXPECT_EQ(child<Badge>(u"checkedBadge"_s)->tone(), Badge::Tone::Bad);
}

TEST_F(ProfilePageTest, ShowsHowTheSamplesAreDistributedAndTheClock) {
  showRun();
  const auto* chart = child<SampleChart>(u"sampleChart"_s);
  ASSERT_THAT(chart->rows(), SizeIs(2));
  EXPECT_EQ(chart->rows()[1].name, u"eager (interleaved)"_s);
  EXPECT_EQ(chart->outliers(chart->rows()[0]), 1) << "the slowest does not stretch the axis";
  EXPECT_EQ(chart->outliers(chart->rows()[1]), 1) << "each row is about its own median";
  EXPECT_TRUE(child<Section>(u"sampleSection"_s)->caption().contains(u"64 of 120 samples were kept"_s));
  EXPECT_FALSE(child<ClockStrip>(u"clockStrip"_s)->isEmpty());
  EXPECT_TRUE(child<Section>(u"timingSection"_s)->caption().contains(u"120 samples (stopped when precise)"_s));
}

TEST_F(ProfilePageTest, SaysThatCompilationFailed) {
  showRun();
  auto failed = *m_session.detail();
  failed.kernels.clear();
  failed.evaluation = domain::CompileFailed{};
  EXPECT_EQ(whyNoProfile(failed), u"Compilation failed: there is nothing to profile."_s);
  failed.evaluation = domain::Duplicate{domain::CandidateId(7), "source"};
  EXPECT_EQ(whyNoProfile(failed), u"It is a duplicate of candidate 7: profile that one."_s);
  EXPECT_EQ(whyNoProfile(*m_session.detail()), QString());
}

TEST_F(ProfilePageTest, ExplainsWhereTheProfileAndTheEvaluationDisagree) {
  services::ProfileReport& report = m_profiles.reports[m_best];
  showRun();
  EXPECT_FALSE(child<QLabel>(u"profileRemarks"_s)->isVisible());
  report.diagnosis.kernelsNs = 2.0 * report.diagnosis.candidateNs;
  report.diagnosis.copyShare = 1.03;
  m_session.showRun(testing::kDemoRun);
  const QString remarks = child<QLabel>(u"profileRemarks"_s)->text();
  EXPECT_TRUE(remarks.contains(u"The profile ran at another moment"_s)) << remarks.toStdString();
  EXPECT_TRUE(remarks.contains(u"It reaches 103 % of a copy's bandwidth"_s));
}

TEST_F(ProfilePageTest, CallsNoisyTimesNoisy) {
  showRun();
  EXPECT_FALSE(child<Badge>(u"noisyBadge"_s)->isVisible());
  for (auto& row : m_record.rows) {
    row.highNs = row.timeNs * 1.05;
  }
  m_session.showRun(testing::kDemoRun);
  EXPECT_TRUE(child<Badge>(u"noisyBadge"_s)->isVisible());
  EXPECT_TRUE(child<Badge>(u"noisyBadge"_s)->toolTip().contains(u"±5 %"_s));
}

TEST_F(ProfilePageTest, AProfileThatCannotBeReadIsANotice) {
  m_profiles.failure = Error(ErrorKind::Storage, "the record cannot be read");
  showRun();
  EXPECT_THAT(m_notices, ::testing::Contains("the record cannot be read"));
  EXPECT_FALSE(m_page.findChild<TriageCard*>()->isVisible());
}

TEST_F(ProfilePageTest, NothingIsClippedInANarrowDock) {
  showRun();
  m_page.resize(m_page.minimumSizeHint().width(), 900);
  swage::testing::turnEventLoop();
  for (const QString& name : {u"unitChart"_s, u"rooflineChart"_s, u"timingStrip"_s}) {
    const auto* chart = child<ChartWidget>(name);
    EXPECT_GE(chart->width(), chart->minimumSizeHint().width()) << name.toStdString();
    const QPoint right = chart->mapTo(&m_page, QPoint(chart->width(), 0));
    EXPECT_LE(right.x(), m_page.width()) << name.toStdString();
  }
}

}  // namespace
}  // namespace swage::ui
