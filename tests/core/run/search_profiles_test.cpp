// SPDX-License-Identifier: Apache-2.0
// Profiles in the middle of whole searches.
#include "core/run/search_profiles.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/run/advice_event.h"
#include "core/run/candidate_outcome.h"
#include "core/run/model_proposer.h"
#include "tests/core/models/loopback_server.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using services::RunState;
using ::testing::ElementsAre;
using testing::fakeWorker;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Not;
using ::testing::SizeIs;
using testing::waitFor;

constexpr std::chrono::seconds kUntilDue{61};
const std::string kStage = "profiling candidate ";

// Searches of ten minutes whose clock stands still, with one rule, which only speaks of what a profile tells.
class SearchProfilesTest : public testing::SessionFixture {
 protected:
  SearchProfilesTest() {
    m_parts.profiledInSearch = {domain::DeviceKind::Cpu, domain::DeviceKind::Cuda};
    m_parts.now = m_clock.now();
    m_parts.rules.emplace();
    std::filesystem::create_directories(m_spec.project / "rules");
    std::ofstream(m_spec.project / "rules/mine.toml")
        << "[[rule]]\nid = \"measured\"\nrole = \"fusion\"\ntitle = \"Mine\"\nwhen = [\"kernel.ns > 0\"]\n"
           "bottleneck = \"{kernel.entry} was measured\"\nmethod = \"Change something.\"\ngain = \"1.5\"\n"
           "source = \"a person\"\nsteer.operators = {parameter = 1.0}\n";
    m_parts.programs.workerCommand = [this](domain::DeviceKind) { return nextWorker(); };
    m_spec.timeBudgetSeconds = 600.0;
    m_spec.maxEvaluations = 0;
    m_spaceSize = 100000;
  }

  // Whether the session says so.
  [[nodiscard]] bool isProfiling() const { return !m_progress.empty() && m_progress.back().stage.starts_with(kStage); }
  process::LaunchCommand nextWorker() {
    m_profilers += isProfiling() ? 1 : 0;
    std::vector<std::string> more = m_more;
    more.insert(more.end(), {"--log", logFile().string(), "--name", isProfiling() ? "profiler" : "search"});
    return fakeWorker(isProfiling() ? m_behaviour : "ok", more);
  }
  // Until something is there that could be profiled.
  void search() {
    start(m_session);
    ASSERT_TRUE(waitFor([this] { return m_rows.size() > 10; }));
    ASSERT_EQ(m_profilers, 0) << "it is too early";
  }
  // The same, where something is faster than PyTorch's own operators, so that pairs of each island work at what is
  // best.
  void searchUntilFast() {
    m_spaceSize = 1000;
    search();
    ASSERT_TRUE(waitFor([this] {
      return std::any_of(m_rows.begin(), m_rows.end(), [](const auto& row) { return row.speedup.value > 1.0; });
    }));
  }
  void advanceToProfile() {
    const int before = m_profilers;
    m_clock.advance(kUntilDue);
    ASSERT_TRUE(waitFor([&] { return m_profilers > before; }));
  }
  void advanceBeyondProfile() {
    advanceToProfile();
    ASSERT_TRUE(waitFor([this] { return !isProfiling(); }));
    goOn();
  }
  // Some more candidates end.
  void goOn() {
    const std::size_t before = m_rows.size();
    ASSERT_TRUE(waitFor([&] { return m_rows.size() > before + 10; }));
  }
  void stop() {
    m_session->stop();
    ASSERT_TRUE(waitUntilFinished());
    ASSERT_FALSE(m_outcomes[0].error) << m_outcomes[0].error->message();
    m_session.reset();
  }
  [[nodiscard]] std::vector<domain::CandidateId> profiled() const {
    const store::Record record = this->record();
    std::vector<domain::CandidateId> found;
    for (const store::CandidateRecord& candidate : history()) {
      const auto profile = record.profile(candidate.id);
      EXPECT_THAT(profile, IsOk());
      if (profile && profile->has_value()) {
        found.push_back(candidate.id);
      }
    }
    return found;
  }
  // What candidates the rule spoke about, each once.
  [[nodiscard]] std::set<domain::CandidateId> advisedAbout() const {
    std::set<domain::CandidateId> found;
    const auto events = record().events(onlyRun().id);
    EXPECT_THAT(events, IsOk());
    for (const domain::RunEvent& event : *events) {
      if (event.kind == domain::EventKind::Advice) {
        const auto given = parseGivenAdvice(event.json);
        EXPECT_THAT(given, IsOk());
        EXPECT_EQ(given->advice.rule, "measured");
        EXPECT_EQ(given->advice.bottleneck, "tiny_kernel was measured");
        found.insert(given->about);
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<services::Notice> noticesOfProfiles() const {
    std::vector<services::Notice> found;
    std::copy_if(m_notices.begin(), m_notices.end(), std::back_inserter(found), [](const services::Notice& notice) {
      return notice.text.find("no more candidates are profiled") != std::string::npos;
    });
    return found;
  }
  [[nodiscard]] std::filesystem::path logFile() const { return m_folder / "log"; }
  [[nodiscard]] std::vector<std::string> log() const {
    std::vector<std::string> lines;
    std::ifstream stream(logFile());
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  // In the worker's own log: it was idle before the profiler came, and again only asked when that had gone.
  void expectNothingWasTimedMeanwhile() const {
    const std::vector<std::string> lines = log();
    const auto begin = std::find(lines.begin(), lines.end(), "profiler starts");
    ASSERT_NE(begin, lines.end());
    const auto end = std::find(begin, lines.end(), "profiler ends");
    ASSERT_NE(end, lines.end());
    const std::string evaluates = "search evaluates";
    EXPECT_GT(std::count(lines.begin(), begin, evaluates), 0);
    EXPECT_EQ(std::count(lines.begin(), begin, evaluates), std::count(lines.begin(), begin, "search answers"));
    EXPECT_EQ(std::count(begin, end, evaluates), 0);
    EXPECT_EQ(std::count(begin, end, "profiler profiles"), 1);
    EXPECT_GT(std::count(end, lines.end(), evaluates), 0);
  }

  testing::FakeClock m_clock;
  std::vector<std::string> m_more;  // of every worker's command line
  std::string m_behaviour = "ok";   // of profilers
  int m_profilers = 0;              // that were started
};

TEST_F(SearchProfilesTest, AreMadeDuringASearchAndSpokenOf) {
  searchUntilFast();
  advanceBeyondProfile();
  stop();
  EXPECT_EQ(m_profilers, 1);
  ASSERT_THAT(profiled(), SizeIs(1));
  EXPECT_THAT(advisedAbout(), ElementsAre(profiled().front()));
  EXPECT_THAT(noticesOfProfiles(), IsEmpty());
}

TEST_F(SearchProfilesTest, NothingIsTimedMeanwhile) {
  m_parts.programs.stopGrace = std::chrono::seconds(20);  // it is to end by itself, and say so
  search();
  advanceBeyondProfile();
  stop();
  expectNothingWasTimedMeanwhile();
}

TEST_F(SearchProfilesTest, NothingIsTimedMeanwhileOnAGpu) {
  ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
  m_parts.programs.stopGrace = std::chrono::seconds(20);
  m_parts.programs.driver = [] { return process::DriverState::Loaded; };
  m_spec.target = "cuda";
  m_more = {"--gpu", "--evaluate-ms", "5"};
  search();
  advanceBeyondProfile();
  stop();
  expectNothingWasTimedMeanwhile();
  EXPECT_THAT(profiled(), SizeIs(1));
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(SearchProfilesTest, FewAreMade) {
  search();
  advanceBeyondProfile();
  goOn();
  EXPECT_EQ(m_profilers, 1) << "the next one is later";
  advanceBeyondProfile();
  stop();
  EXPECT_EQ(m_profilers, 2);
  EXPECT_THAT(profiled(), SizeIs(2));
}

TEST_F(SearchProfilesTest, ThatFailAreToldOnceAndTheSearchGoesOn) {
  m_behaviour = "crash_before_hello";
  search();
  advanceBeyondProfile();
  m_clock.advance(kUntilDue);
  goOn();
  EXPECT_EQ(m_profilers, 1);
  ASSERT_THAT(noticesOfProfiles(), SizeIs(1));
  EXPECT_THAT(noticesOfProfiles()[0].text, HasSubstr("cannot profile"));
  EXPECT_EQ(noticesOfProfiles()[0].severity, services::Notice::Severity::Info);
  m_clock.advance(std::chrono::seconds(600));
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_FALSE(m_outcomes[0].error);
  EXPECT_FALSE(m_outcomes[0].interrupted);
  EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
  EXPECT_THAT(profiled(), IsEmpty());
}

TEST_F(SearchProfilesTest, OfAKernelThatEndsTheWorkerAreNone) {
  m_behaviour = "crash";
  search();
  advanceBeyondProfile();
  stop();
  ASSERT_THAT(noticesOfProfiles(), SizeIs(1));
  EXPECT_THAT(noticesOfProfiles()[0].text, HasSubstr("the worker was lost while it profiled"));
  EXPECT_THAT(profiled(), IsEmpty()) << "what the compiler said is known without";
}

TEST_F(SearchProfilesTest, WhereNobodyMayCountOneIsEnough) {
  m_more = {"--no-counters"};
  searchUntilFast();
  advanceBeyondProfile();
  m_clock.advance(kUntilDue);
  goOn();
  stop();
  EXPECT_EQ(m_profilers, 1);
  ASSERT_THAT(noticesOfProfiles(), SizeIs(1));
  EXPECT_THAT(noticesOfProfiles()[0].text, HasSubstr("nobody may count here"));
  EXPECT_THAT(profiled(), SizeIs(1)) << "times of kernels are better than nothing";
  EXPECT_THAT(advisedAbout(), SizeIs(1));
}

TEST_F(SearchProfilesTest, LanesSayWhatTheDeviceIsUsedFor) {
  m_behaviour = "hang";
  search();
  advanceToProfile();
  const auto isSaid = [this] {
    return !m_lanes.empty() && std::any_of(m_lanes.back().begin(), m_lanes.back().end(), [](const auto& lane) {
      return lane.doing == "profiling" && lane.isBusy && lane.candidate.isValid();
    });
  };
  EXPECT_TRUE(waitFor(isSaid));
  EXPECT_TRUE(isProfiling());
  stop();
  EXPECT_FALSE(isSaid());
}

TEST_F(SearchProfilesTest, AreGivenUpWhenTheRunIsStopped) {
  m_behaviour = "hang";
  search();
  advanceToProfile();
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_FALSE(m_outcomes[0].error);
  EXPECT_EQ(onlyRun().status, store::RunStatus::Interrupted);
  EXPECT_THAT(profiled(), IsEmpty());
  EXPECT_THAT(noticesOfProfiles(), IsEmpty()) << "nothing has gone wrong";
}

TEST_F(SearchProfilesTest, AreGivenUpWhenTheRunIsKilled) {
  m_behaviour = "hang";
  search();
  advanceToProfile();
  QTimer::singleShot(100, m_session.get(), &RunSession::kill);
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_EQ(onlyRun().status, store::RunStatus::Interrupted);
}

TEST_F(SearchProfilesTest, AreGivenUpWhenTheTimeIsOver) {
  m_behaviour = "hang";
  search();
  advanceToProfile();
  m_clock.advance(std::chrono::seconds(600));
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_FALSE(m_outcomes[0].interrupted);
  EXPECT_FALSE(m_outcomes[0].error);
  EXPECT_TRUE(m_outcomes[0].best.isValid());
}

TEST_F(SearchProfilesTest, APauseInTheMiddleOfOneComesAtOnceAndItsCandidateHasItsTurnLater) {
  m_behaviour = "hang";
  search();
  advanceToProfile();
  m_session->pause();
  ASSERT_TRUE(waitFor([this] { return m_states.back() == RunState::Paused; }));
  EXPECT_FALSE(isProfiling());
  EXPECT_THAT(profiled(), IsEmpty());
  m_behaviour = "ok";
  m_session->resume();
  goOn();
  advanceBeyondProfile();
  stop();
  EXPECT_THAT(profiled(), SizeIs(1));
  EXPECT_THAT(noticesOfProfiles(), IsEmpty());
}

TEST_F(SearchProfilesTest, WhoResumesBeforeThePauseHasComeGoesOn) {
  m_behaviour = "hang";
  search();
  advanceToProfile();
  m_session->pause();
  m_session->resume();
  goOn();
  EXPECT_EQ(std::count(m_states.begin(), m_states.end(), RunState::Paused), 0);
  stop();
}

TEST_F(SearchProfilesTest, NobodyAsksForThemWithoutAJudgeAndModels) {
  m_spec.judge = false;
  search();
  m_clock.advance(kUntilDue);
  goOn();
  stop();
  EXPECT_EQ(m_profilers, 0);
}

TEST_F(SearchProfilesTest, AModelAsksForThemAlsoWithoutAJudge) {
  testing::LoopbackServer server(
      [](const testing::ServedRequest&) { return testing::openAiReply("I would rather not.", 100, 50, "stop", 1000); });
  ModelUse use;
  use.keys = std::make_shared<models::KeyRing>();
  use.endpoints = {testing::endpointOf(server)};
  m_parts.proposers = modelProposers(use).value();
  m_spec.budgetTokens = 1000000;
  m_spec.judge = false;
  search();
  advanceBeyondProfile();
  stop();
  EXPECT_THAT(profiled(), SizeIs(1));
}

TEST_F(SearchProfilesTest, OfAnEarlierSittingAreSpokenOfAfterAResume) {
  m_parts.profiledTargets = {domain::DeviceKind::Cpu};  // at the end
  m_spec.timeBudgetSeconds = 0.0;
  m_spec.maxEvaluations = 20;
  m_spaceSize = 30;
  const services::RunOutcome first = run();
  ASSERT_FALSE(first.error) << first.error->message();
  ASSERT_THAT(profiled(), Not(IsEmpty()));
  EXPECT_THAT(advisedAbout(), IsEmpty());
  m_spec.resume = first.run;
  m_spec.maxEvaluations = 30;
  ASSERT_FALSE(run().error);
  EXPECT_TRUE(advisedAbout().contains(first.best));
}

// One sitting after the other over the archive of a run that is over, without anybody who times.
class SittingsTest : public SearchProfilesTest {
 protected:
  SittingsTest() {
    m_parts.profiledInSearch.clear();
    m_spec.maxEvaluations = 20;
    m_spaceSize = 30;
    EXPECT_FALSE(run().error);
    m_context = std::make_unique<RunContext>(m_parts);
    m_context->spec = m_spec;
    m_context->spec.resume = onlyRun().id;
    EXPECT_THAT(openRecord(*m_context), IsOk());
    m_searcher = std::make_unique<search::Searcher>(m_space, search::SearchOptions());
    const auto history = m_context->record->history(m_context->run);
    EXPECT_THAT(history, IsOk());
    for (const store::CandidateRecord& candidate : *history) {
      search::Proposal proposal;
      proposal.genome = candidate.genome;
      proposal.island = candidate.island;
      m_searcher->restore(proposal, outcomeOf(candidate, *candidate.evaluation));
    }
    m_context->searcher = m_searcher.get();
    m_context->parts.programs.workerCommand = [this](domain::DeviceKind) {
      ++m_profilers;
      return fakeWorker(m_behaviour);
    };
    m_context->spec.maxEvaluations = 0;
    m_context->clock.run();
  }
  // Every candidate that is profiled in one sitting.
  std::vector<domain::CandidateId> sit() {
    RunRigs rigs(*m_context);
    SearchProfiles profiles(*m_context, rigs);
    std::vector<domain::CandidateId> made;
    QObject::connect(&profiles, &SearchProfiles::profiled, &profiles,
                     [&made](domain::CandidateId id) { made.push_back(id); });
    QObject::connect(&profiles, &SearchProfiles::givenUp, &profiles,
                     [this](const Error& why) { m_why = why.message(); });
    int finished = 0;
    QObject::connect(&profiles, &SearchProfiles::finished, &profiles, [&finished] { ++finished; });
    m_clock.advance(kUntilDue);
    for (int turn = 1; profiles.isDue(20); ++turn) {
      EXPECT_TRUE(profiles.start());
      EXPECT_TRUE(profiles.isRunning());
      EXPECT_FALSE(profiles.isDue(20)) << "one at a time";
      EXPECT_TRUE(waitFor([&] { return finished == turn; }));
      EXPECT_FALSE(profiles.isRunning());
      m_clock.advance(std::chrono::seconds(11));
    }
    return made;
  }

  testing::FakeSynthesizer m_space{30, domain::DeviceKind::Cpu};
  std::unique_ptr<RunContext> m_context;
  std::unique_ptr<search::Searcher> m_searcher;
  std::string m_why;
};

TEST_F(SittingsTest, WhatHasAProfileGetsNoOther) {
  const std::vector<domain::CandidateId> expected = profileOrder(m_searcher->archive());
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(expected.front(), m_searcher->archive().bestOverall()->candidate);
  EXPECT_EQ(sit(), expected) << "the best one first";
  EXPECT_EQ(m_why, "");
  EXPECT_THAT(sit(), IsEmpty());
  EXPECT_EQ(m_profilers, static_cast<int>(expected.size()));
}

TEST_F(SittingsTest, OneThatTakesTooLongIsGivenUpAndNoOtherBegun) {
  m_behaviour = "hang";
  m_context->spec.timeBudgetSeconds = 21.0;  // of which the first profile gets two seconds
  RunRigs rigs(*m_context);
  SearchProfiles profiles(*m_context, rigs);
  bool isFinished = false;
  QObject::connect(&profiles, &SearchProfiles::givenUp, &profiles, [this](const Error& why) { m_why = why.message(); });
  QObject::connect(&profiles, &SearchProfiles::finished, &profiles, [&isFinished] { isFinished = true; });
  m_clock.advance(std::chrono::seconds(5));
  ASSERT_TRUE(profiles.isDue(20));
  ASSERT_TRUE(profiles.start());
  ASSERT_TRUE(waitFor([&isFinished] { return isFinished; }));
  EXPECT_THAT(m_why, HasSubstr("one takes longer than 2.1 s"));
  EXPECT_TRUE(profiles.isGone());
  m_clock.advance(std::chrono::seconds(5));
  EXPECT_FALSE(profiles.isDue(20));
}

TEST(ProfileOrder, TheBestOfEachIslandComesBeforeOthersAndWhatIsSlowNotAtAll) {
  search::Archive archive(2);
  const auto add = [&archive](int island, int cell, std::int64_t id, double speedup) {
    const auto inserted = archive.insert(island, domain::Cell::fromIndex(cell),
                                         {.candidate = domain::CandidateId(id),
                                          .genome = {},
                                          .timeNs = 1.0,
                                          .overEager = domain::Speedup::exactly(speedup)});
    EXPECT_NE(inserted, search::Archive::Insertion::NotBetter);
  };
  EXPECT_THAT(profileOrder(archive), IsEmpty());
  add(0, 0, 1, 3.0);
  add(0, 1, 2, 2.9);
  add(0, 2, 3, 1.0);
  add(1, 0, 4, 2.5);
  add(1, 1, 5, 2.4);
  EXPECT_THAT(profileOrder(archive), ElementsAre(domain::CandidateId(1), domain::CandidateId(4), domain::CandidateId(2),
                                                 domain::CandidateId(5)));
}

}  // namespace
}  // namespace swage::run
