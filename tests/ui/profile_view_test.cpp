// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/profile_view.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

#include "tests/ui/demo_data.h"
#include "tests/ui/demo_profile.h"
#include "ui/models/format.h"
#include "ui/models/kernel_share_model.h"
#include "ui/models/profile_text.h"
#include "ui/models/quantity.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const domain::CandidateId kId(214);

TEST(Delta, NobodyWinsInsideTheInterval) {
  const DeltaInterval fast{100.0, 99.0, 101.0};
  const DeltaInterval near{100.9, 100.5, 101.3};
  const DeltaInterval slow{110.0, 109.0, 111.0};
  EXPECT_EQ(compareTimes(fast, slow).verdict, Verdict::Better);
  EXPECT_EQ(compareTimes(slow, fast).verdict, Verdict::Worse);
  EXPECT_EQ(compareTimes(fast, near).verdict, Verdict::Undecided);
  EXPECT_EQ(compareTimes(fast, {}).verdict, Verdict::Unknown);
  EXPECT_EQ(formatDelta(compareTimes(slow, fast)), u"+10 %"_s);
  EXPECT_EQ(formatDelta(compareTimes(near, fast)), u"+0.9 %, within the intervals"_s);
  EXPECT_EQ(formatDelta(compareTimes(fast, {})), QString());
}

TEST(Delta, ATimeWithoutAnIntervalIsItsOwn) {
  EXPECT_EQ(compareTimes({100.0, 0.0, 0.0}, {101.0, 0.0, 0.0}).verdict, Verdict::Better);
  EXPECT_EQ((DeltaInterval{100.0, 0.0, 0.0}).relativeHalfWidth(), 0.0);
  EXPECT_DOUBLE_EQ((DeltaInterval{100.0, 97.0, 101.0}).relativeHalfWidth(), 0.03);
}

TEST(Delta, ExactNumbersHaveAWinnerOnlyWhereOneIsPreferred) {
  EXPECT_EQ(compareValues(30, 40, Preference::Lower).verdict, Verdict::Better);
  EXPECT_EQ(compareValues(30, 40, Preference::Higher).verdict, Verdict::Worse);
  EXPECT_EQ(compareValues(40, 40, Preference::Lower).verdict, Verdict::Same);
  EXPECT_EQ(compareValues(30, 40, Preference::Neither).verdict, Verdict::Unknown);
  EXPECT_EQ(formatDelta(compareValues(40, 40, Preference::Lower)), u"±0"_s);
  EXPECT_EQ(formatDelta(compareValues(30, 40, Preference::Lower)), u"−25 %"_s);
}

TEST(Quantity, HasThreeDigitsAndADecimalPrefix) {
  EXPECT_EQ(formatBytes(16.77e6), u"16.8 MB"_s);
  EXPECT_EQ(formatBytes(0), u"0 B"_s);
  EXPECT_EQ(formatByteRate(3.352e12), u"3.35 TB/s"_s);
  EXPECT_EQ(formatFlopRate(999.7e9), u"1.00 TFLOP/s"_s);
  EXPECT_EQ(formatFlopCount(1e11), u"100 GF"_s);
}

TEST(ProfileText, SaysWhatBoundsACandidateAndWhy) {
  const services::ProfileReport report = testing::demoReport(kId);
  EXPECT_EQ(headline(report.diagnosis), u"Memory-bound"_s);
  EXPECT_EQ(headlineReason(report.diagnosis),
            u"Memory is 83 % busy, arithmetic 23 % in softmax_rows, which takes 77 % of the time"_s);
  EXPECT_EQ(headlineReason(testing::demoCompilerReport(kId).diagnosis), QString());
}

TEST(ProfileText, SaysOfACpuWhatIsKnownWithoutCounters) {
  domain::Diagnosis diagnosis;
  diagnosis.candidateNs = 1e6;
  diagnosis.taskBytes = 4e6;
  diagnosis.copyShare = 0.4;
  diagnosis.kernels.resize(1);
  diagnosis.kernels[0].share = 1.0;
  domain::ProcessorUse& use = diagnosis.kernels[0].processor.emplace();
  use.vectorBits = 0;
  EXPECT_EQ(headline(diagnosis), u"No hardware counters; bottleneck unknown"_s);
  EXPECT_EQ(headlineReason(diagnosis), u"It moves the 4 MB of the task at 4 GB/s, 40 % of the bandwidth of a copy"_s);
  ASSERT_THAT(processorFacts(use), SizeIs(1));
  EXPECT_EQ(processorFacts(use)[0].value, u"scalar"_s);
  use.instructionsPerCycle = 1.5;
  use.clockHz = 3.4e9;
  EXPECT_EQ(headline(diagnosis), u"No single bottleneck"_s);
  EXPECT_EQ(processorFacts(use)[2].value, u"3.40 GHz"_s);
}

TEST(ProfileText, EveryKindOfFindingHasWords) {
  for (const auto kind :
       {domain::FindingKind::Stall, domain::FindingKind::ExtraTraffic, domain::FindingKind::PartialSectors,
        domain::FindingKind::Occupancy, domain::FindingKind::Divergence, domain::FindingKind::Spills,
        domain::FindingKind::OutsideKernels, domain::FindingKind::NarrowVectors, domain::FindingKind::IdleThreads,
        domain::FindingKind::ThreadWaits, domain::FindingKind::CacheMisses, domain::FindingKind::BranchMisses}) {
    const FindingText text = describeFinding({kind, "k", "registers", 0.25, 0.3, 12});
    EXPECT_FALSE(text.what.isEmpty());
    EXPECT_FALSE(text.what.contains(u"%1"_s)) << text.what.toStdString();
    EXPECT_EQ(text.gain, u"up to 30 %"_s);
  }
  EXPECT_EQ(describeFinding({domain::FindingKind::Spills, "k", {}, 64, std::nullopt, 0}).gain, QString());
}

TEST(ProfileText, CallsATimeNoisyWithItsReasons) {
  domain::Timing timing;
  timing.samples = 50;
  timing.medianNs = 100.0;
  timing.lowNs = 99.0;
  timing.highNs = 101.0;
  EXPECT_THAT(noiseReasons(timing), IsEmpty());
  timing.highNs = 104.0;
  timing.repeated = 9;
  timing.conditions.throttleReasons = {"power cap"};
  EXPECT_EQ(noiseReasons(timing),
            (QStringList{u"the interval of the median is ±4 %"_s,
                         u"9 samples were measured again because the device was throttled or shared"_s,
                         u"the device was throttled: power cap"_s}));
}

TEST(ProfileText, TellsTheConditionsThatAreKnown) {
  EXPECT_EQ(conditionsText({}), QString());
  EXPECT_EQ(conditionsText({1755, 1740, 3201, 46, 412.3, {"thermal"}}),
            u"1755 MHz (lowest 1740), memory 3201 MHz, 46 °C, 412 W, throttled: thermal"_s);
}

TEST(KernelShareModel, ListsKernelsByShareAndWhatIsOutsideOfThem) {
  KernelShareModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  services::ProfileReport report = testing::demoReport(kId);
  std::swap(report.profile.kernels[0], report.profile.kernels[1]);
  std::swap(report.diagnosis.kernels[0], report.diagnosis.kernels[1]);
  model.setRows(kernelShares(report));
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(model.item(0).index, 1);
  const auto text = [&model](int row, KernelColumn column) {
    return model.index(row, static_cast<int>(column)).data().toString();
  };
  EXPECT_EQ(text(0, KernelColumn::Name), u"softmax_rows"_s);
  EXPECT_EQ(text(0, KernelColumn::Share), u"77 %"_s);
  EXPECT_EQ(text(0, KernelColumn::Limit), u"4.42×"_s);
  EXPECT_EQ(text(0, KernelColumn::Occupancy), u"68 % / 75 %"_s);
  EXPECT_EQ(text(2, KernelColumn::Name), u"outside of kernels"_s);
  EXPECT_EQ(text(2, KernelColumn::Launches), u"–"_s);
}

TEST(KernelShareModel, ShowsWhatTheCompilerSaidWhereNothingWasTimed) {
  KernelShareModel model;
  model.setRows(kernelShares(testing::demoCompilerReport(kId)));
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.index(0, static_cast<int>(KernelColumn::Time)).data().toString(), u"–"_s);
  EXPECT_EQ(model.index(0, static_cast<int>(KernelColumn::Share)).data().toString(), u"–"_s);
  EXPECT_EQ(model.index(0, static_cast<int>(KernelColumn::Registers)).data().toString(), u"40"_s);
}

TEST(ProfileView, ComparesKernelsOfTheSameName) {
  const services::ProfileReport report = testing::demoReport(kId);
  PinnedNumbers pinned;
  pinned.report = testing::demoReport(domain::CandidateId(1));
  std::swap(pinned.report->diagnosis.kernels[0], pinned.report->diagnosis.kernels[1]);
  EXPECT_EQ(counterpart(&pinned, report.diagnosis.kernels[0]), &pinned.report->diagnosis.kernels[1]);
  pinned.report->diagnosis.kernels.resize(1);
  EXPECT_EQ(counterpart(&pinned, report.diagnosis.kernels[0]), pinned.report->diagnosis.kernels.data());
  EXPECT_EQ(counterpart(nullptr, report.diagnosis.kernels[0]), nullptr);
}

TEST(ProfileView, BarsShowTheDifferenceInPoints) {
  const domain::KernelDiagnosis kernel = testing::demoReport(kId).diagnosis.kernels[0];
  domain::KernelDiagnosis other = kernel;
  other.units[1].share = 0.61;
  other.stalls.erase(other.stalls.begin());
  EXPECT_EQ(unitBars(kernel, &other)[0].delta, u"±0"_s);
  EXPECT_EQ(unitBars(kernel, &other)[1].delta, u"+22"_s);
  EXPECT_EQ(unitBars(kernel, &other)[1].text, u"83 %"_s);
  EXPECT_EQ(stallBars(kernel, &other)[0].delta, u"+61"_s) << "it did not wait for that at all";
  EXPECT_EQ(stallBars(kernel)[0].delta, QString());
  EXPECT_EQ(stallBars(kernel)[0].label, u"long scoreboard"_s);
}

TEST(ProfileView, NamesWhatLimitsTheOccupancy) {
  const services::ProfileReport report = testing::demoReport(kId);
  EXPECT_EQ(occupancyLimits(report.profile.kernels[0]),
            u"Limited by registers. Blocks on a multiprocessor: registers allow 6, shared memory 14, warps 8, the "
            "hardware 32"_s);
  EXPECT_EQ(occupancyLimits(testing::demoCompilerReport(kId).profile.kernels[0]), QString());
  EXPECT_THAT(occupancyBars(report.profile.kernels[0], report.diagnosis.kernels[0]), SizeIs(2));
}

TEST(ProfileView, PutsBaselinesAndElitesOnTheRooflineByTheTasksOwnWork) {
  services::ProfileReport report = testing::demoReport(kId);
  report.diagnosis.taskOperations = 2e9;
  report.diagnosis.taskBytes = 1e6;
  domain::Baseline eager;
  eager.mode = "eager";
  eager.timing.medianNs = 1e6;
  std::vector<services::CellSummary> cells(2);
  cells[0].state = services::CellSummary::State::Filled;
  cells[0].best = domain::CandidateId(3);
  cells[0].bestTimeNs = 5e5;
  cells[1] = cells[0];
  cells[1].best = kId;  // stands there already, as counted
  const auto points = rooflinePoints({report, std::nullopt, {eager}, cells});
  ASSERT_THAT(points, SizeIs(4));
  EXPECT_TRUE(points[0].isCounted);
  EXPECT_EQ(points[0].name, u"candidate 214: softmax_rows"_s);
  EXPECT_EQ(points[2].role, RooflinePoint::Role::Baseline);
  EXPECT_DOUBLE_EQ(points[2].flopsPerByte, 2000.0);
  EXPECT_DOUBLE_EQ(points[2].flopsPerSecond, 2e12);
  EXPECT_DOUBLE_EQ(points[3].flopsPerSecond, 4e12);
  EXPECT_FALSE(points[3].isCounted);
}

TEST(ProfileView, PutsACandidateWithoutCountersThereByItsTime) {
  services::ProfileReport report = testing::demoCompilerReport(kId);
  report.diagnosis.taskOperations = 2e9;
  report.diagnosis.taskBytes = 1e6;
  report.diagnosis.candidateNs = 1e6;
  const auto points = rooflinePoints({report, std::nullopt, {}, {}});
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_FALSE(points[0].isCounted);
  EXPECT_EQ(points[0].role, RooflinePoint::Role::Candidate);
}

TEST(ProfileView, TimesAreThoseOfTheRecord) {
  testing::FakeRecordService record;
  testing::fillDemo(record);
  const auto detail = record.candidate(testing::demoBest(record)).value();
  const auto lines = timingLines(detail, std::nullopt, record.baselineRows);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0].time.median, detail.row.timeNs);
  EXPECT_EQ(lines[0].time.low, detail.row.lowNs);
  EXPECT_EQ(lines[1].name, u"eager (interleaved)"_s);
  EXPECT_EQ(lines[2].role, TimingLine::Role::Other);
  PinnedNumbers pinned;
  pinned.name = u"compile"_s;
  EXPECT_EQ(timingLines(detail, pinned, record.baselineRows)[2].role, TimingLine::Role::Pinned);
}

}  // namespace
}  // namespace swage::ui
