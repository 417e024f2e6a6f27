// SPDX-License-Identifier: Apache-2.0
// What a run tells of its processes and its proposers, and what the record still knows of it afterwards.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "core/engine/recorded_activity.h"
#include "core/run/proposer_board.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using services::LaneStatus;
using testing::fakeWorker;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(TimeLeft, IsSaidByTheBudgetThatEndsFirst) {
  using Limit = services::TimeLeft::Limit;
  services::Progress progress;
  EXPECT_EQ(services::timeLeft(progress).limit, Limit::None);
  progress.budgetSeconds = 60.0;
  progress.elapsedSeconds = 20.0;
  EXPECT_EQ(services::timeLeft(progress).limit, Limit::Time);
  EXPECT_DOUBLE_EQ(services::timeLeft(progress).seconds, 40.0);
  progress.maxEvaluations = 100;
  progress.evaluations = 80;
  EXPECT_EQ(services::timeLeft(progress).limit, Limit::Time) << "nobody knows yet how fast it is";
  progress.perSecond = 4.0;
  EXPECT_EQ(services::timeLeft(progress).limit, Limit::Evaluations);
  EXPECT_DOUBLE_EQ(services::timeLeft(progress).seconds, 5.0);
  progress.evaluations = 101;
  EXPECT_DOUBLE_EQ(services::timeLeft(progress).seconds, 0.0);
}

TEST(ActivitySample, ComesBackFromItsJsonAndRefusesOther) {
  const services::ActivitySample sample{12.5, 7, 31, {{"pattern swap", 0.25, 0.125}, {"merge", 0.5, 0.05}}, {3, 5, 12}};
  const auto parsed = run::parseSample(run::sampleJson(sample));
  ASSERT_THAT(parsed, testing::IsOk());
  EXPECT_EQ(run::sampleJson(*parsed), run::sampleJson(sample));
  EXPECT_EQ(parsed->exchange, sample.exchange);
  EXPECT_THAT(run::parseSample("{\"elapsed_s\": \"soon\"}"), testing::IsError(ErrorKind::Storage, HasSubstr("event")));
}

class ActivityTest : public testing::SessionFixture {
 protected:
  using Counts = std::map<std::pair<std::string, int>, std::pair<std::int64_t, std::int64_t>>;
  // Proposed and correct, by proposer and island; elites may migrate to where their proposer has proposed nothing.
  static Counts countsOf(const std::vector<services::ProposerTally>& tallies) {
    Counts counts;
    for (const services::ProposerTally& tally : tallies) {
      if (tally.proposed > 0) {
        counts[{tally.proposer, tally.island}] = {tally.proposed, tally.correct};
      }
    }
    return counts;
  }
  [[nodiscard]] Counts countsOfHistory() const {
    Counts counts;
    for (const store::CandidateRecord& candidate : history()) {
      auto& [proposed, correct] = counts[{std::string(domain::name(candidate.madeBy)), candidate.island}];
      ++proposed;
      correct += candidate.evaluation && domain::asCorrect(*candidate.evaluation) != nullptr ? 1 : 0;
    }
    return counts;
  }
  [[nodiscard]] services::RunActivity recorded() const {
    const auto activity = recordedActivity(record(), onlyRun().id);
    EXPECT_THAT(activity, testing::IsOk());
    return *activity;
  }
};

TEST_F(ActivityTest, EveryProcessIsALane) {
  m_spec.maxEvaluations = 40;
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok", {"--evaluate-ms", "20"}); };
  ASSERT_FALSE(run().error);
  ASSERT_THAT(m_lanes, Not(IsEmpty()));
  const std::vector<LaneStatus>& lanes = m_lanes.back();
  ASSERT_THAT(lanes, SizeIs(3));
  EXPECT_EQ(lanes[0].kind, LaneStatus::Kind::Worker);
  EXPECT_GE(lanes[0].done, 20) << "duplicates and what does not fit never reach it";
  EXPECT_GT(lanes[0].busySeconds, 0.3);
  EXPECT_LT(lanes[0].busyShare(), 1.0);
  EXPECT_EQ(lanes[0].replaced, 0);
  EXPECT_EQ(lanes[1].name, "compiler 1");
  EXPECT_GT(lanes[1].done + lanes[2].done, 20);
  const bool sawWork = std::any_of(m_lanes.begin(), m_lanes.end(), [](const auto& moment) {
    return !moment.empty() && moment.front().isBusy && moment.front().candidate.isValid() &&
           moment.front().sinceSeconds < 5.0;
  });
  EXPECT_TRUE(sawWork);
}

TEST_F(ActivityTest, ProposersAreCountedAsTheRecordCountsThem) {
  m_spec.maxEvaluations = 60;
  m_spaceSize = 200;
  ASSERT_FALSE(run().error);
  ASSERT_THAT(m_proposers, Not(IsEmpty()));
  const services::ProposerReport& report = m_proposers.back();
  EXPECT_EQ(countsOf(report.tallies), countsOfHistory());
  EXPECT_EQ(countsOf(recorded().report.tallies), countsOfHistory());
  double share = 0.0;
  for (const services::ProposerStanding& proposer : report.proposers) {
    share += proposer.share;
    EXPECT_GE(proposer.credit, 0.0);
    EXPECT_LE(proposer.credit, 1.0);
  }
  EXPECT_NEAR(share, 1.0, 1e-9);
  EXPECT_GT(report.improvements, 0);
  EXPECT_GT(report.filledCells, 0);
}

TEST_F(ActivityTest, TheRecordKeepsHowTheCreditWent) {
  m_spec.maxEvaluations = 40;
  ASSERT_FALSE(run().error);
  const services::RunActivity activity = recorded();
  ASSERT_THAT(activity.timeline, Not(IsEmpty()));
  EXPECT_THAT(activity.timeline.back().proposers, Not(IsEmpty()));
  EXPECT_EQ(activity.timeline.back().improvements, m_proposers.back().improvements);
  EXPECT_EQ(activity.report.filledCells, m_proposers.back().filledCells);
  ASSERT_THAT(activity.lanes, SizeIs(2)) << "the worker, and all compilers together";
  EXPECT_GT(activity.lanes[0].done, 20);
  EXPECT_GT(activity.lanes[1].done, 20);
}

TEST_F(ActivityTest, AResumedRunGoesOnCounting) {
  m_spec.maxEvaluations = 20;
  ASSERT_FALSE(run().error);
  m_spec.resume = onlyRun().id;
  m_spec.maxEvaluations = 30;
  ASSERT_FALSE(run().error);
  EXPECT_EQ(countsOf(m_proposers.back().tallies), countsOfHistory());
}

TEST_F(ActivityTest, ALostDeviceStaysInSightAndInTheRecord) {
  ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
  const auto gpu = [](const std::string& uuid, const std::string& behaviour, std::vector<std::string> more) {
    more.insert(more.end(), {"--gpu", "--evaluate-ms", "20", "--uuid", uuid});
    return fakeWorker(behaviour, more);
  };
  m_parts.programs.workerCommand = [gpu](domain::DeviceKind) { return gpu("GPU-1", "ok", {}); };
  m_parts.moreWorkers = {
      gpu("GPU-2", "poisoned", {"--from", "3", "--once", (m_folder / "lost").string(), "--then", "unusable"})};
  m_parts.programs.driver = [] { return process::DriverState::Loaded; };
  m_spec.target = "cuda";
  m_spec.maxEvaluations = 60;
  m_spaceSize = 1000;
  ASSERT_FALSE(run().error);
  ::unsetenv("XDG_RUNTIME_DIR");
  const LaneStatus& lost = m_lanes.back()[1];
  EXPECT_TRUE(lost.isLost);
  EXPECT_EQ(lost.doing, "lost");
  EXPECT_THAT(lost.lastEnd, HasSubstr("the device is given up"));
  const services::RunActivity activity = recorded();
  ASSERT_THAT(activity.lanes, SizeIs(3));
  EXPECT_FALSE(activity.lanes[0].isLost);
  EXPECT_TRUE(activity.lanes[1].isLost);
  EXPECT_GE(activity.lanes[1].replaced, 1);
}

}  // namespace
}  // namespace swage::engine
