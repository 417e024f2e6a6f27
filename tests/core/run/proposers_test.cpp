// SPDX-License-Identifier: Apache-2.0
// Proposers that only this file knows, in whole searches.
#include <QTimer>

#include <algorithm>
#include <deque>
#include <stdexcept>

#include <fmt/format.h>

#include "core/run/offer_event.h"
#include "tests/core/run/scripted_proposer.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::proposerName;
using testing::ScriptedProposer;
using testing::waitFor;

class ProposersTest : public testing::SessionFixture {
 protected:
  // Takes part in every run from now on. What it was told outlives the run.
  void enlist(std::string name, ScriptedProposer::Script onAsk) {
    m_parts.proposers.push_back([this, name, onAsk](const ProposerContext& context) {
      EXPECT_EQ(context.task.name, "tiny");
      auto proposer = std::make_unique<ScriptedProposer>(name, onAsk);
      m_enlisted.push_back(proposer.get());
      return proposer;
    });
  }
  // Its own kernel, which takes so many microseconds.
  static Offer offerOf(const ScriptedProposer& proposer, int microseconds) {
    domain::Program program;
    program.plan = testing::planWithNumber(microseconds);
    program.source = fmt::format("kernel {} of {}, attempt {}", microseconds, proposer.name().text(), proposer.asked);
    return {.number = proposer.asked, .madeBy = proposer.name(), .program = std::move(program)};
  }
  [[nodiscard]] std::vector<store::CandidateRecord> madeBy(const domain::ProposerName& name) const {
    std::vector<store::CandidateRecord> found = history();
    std::erase_if(found, [&name](const auto& candidate) { return candidate.madeBy != name; });
    return found;
  }
  [[nodiscard]] std::vector<std::string> sources() const {
    std::vector<std::string> result;
    for (const auto& candidate : history()) {
      result.push_back(candidate.program.source);
    }
    return result;
  }
  // All but `name` of a run with it.
  [[nodiscard]] std::int64_t evaluationsOfOthers(const domain::ProposerName& name) const {
    return onlyRun().evaluations - static_cast<std::int64_t>(madeBy(name).size());
  }

  std::vector<ScriptedProposer*> m_enlisted;  // each as long as its session
};

TEST_F(ProposersTest, WhatAnOutsiderOffersGoesTheWayOfEveryCandidate) {
  enlist("outsider", [](ScriptedProposer& self) {
    QTimer::singleShot(0, &self, [&self] {
      Offer offer = offerOf(self, 1);
      offer.note = "one thread for each row";
      offer.cost = {.seconds = 2.0, .cents = 0.5, .tokens = 1200};
      offer.parents = {domain::CandidateId(1), domain::CandidateId(1), domain::CandidateId()};
      offer.island = 1000;
      Q_EMIT self.offered(offer);
    });
  });
  m_spec.maxEvaluations = 40;
  start(m_session);
  ASSERT_TRUE(waitUntilFinished());
  ASSERT_FALSE(m_outcomes[0].error) << m_outcomes[0].error->message();
  const auto made = madeBy(proposerName("outsider"));
  ASSERT_GE(made.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<domain::Correct>(made[0].evaluation.value()));
  EXPECT_THAT(made[0].parents, ::testing::ElementsAre(domain::CandidateId(1)));
  EXPECT_LT(made[0].island, 4);
  EXPECT_TRUE(made[0].cell.has_value());

  const ScriptedProposer& outsider = *m_enlisted.at(0);
  EXPECT_EQ(outsider.heard.size(), made.size()) << "of each once";
  EXPECT_EQ(outsider.heard[0].id, made[0].id);
  EXPECT_EQ(outsider.heard[0].proposal, 1) << "the number that it gave";
  EXPECT_GT(outsider.elites, 0);
  EXPECT_GT(outsider.observed.size(), 10U) << "what the search found";
  EXPECT_TRUE(outsider.isStopped);

  const auto events = record().events(onlyRun().id);
  ASSERT_THAT(events, IsOk());
  const auto event =
      std::find_if(events->begin(), events->end(), [](const auto& e) { return e.kind == domain::EventKind::Offer; });
  ASSERT_NE(event, events->end());
  const auto kept = parseProvenance(event->json);
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(kept->candidate, made[0].id);
  EXPECT_EQ(kept->note, "one thread for each row");
  EXPECT_EQ(kept->cost.tokens, 1200);

  const auto& reported = m_proposers.back().proposers;
  const auto line = std::find_if(reported.begin(), reported.end(), [](const auto& p) { return p.name == "outsider"; });
  ASSERT_NE(line, reported.end());
  EXPECT_GT(line->share, 0.0);
  EXPECT_GE(line->seconds, 2.0 * static_cast<double>(made.size()));
  EXPECT_DOUBLE_EQ(line->cents, 0.5 * static_cast<double>(line->tokens) / 1200.0);
  EXPECT_GT(line->improvedPerCent(), 0.0);
}

TEST_F(ProposersTest, AProgramWithoutAGenomeMayWin) {
  m_spaceSize = 6;
  enlist("outsider", [](ScriptedProposer& self) { Q_EMIT self.offered(offerOf(self, 1)); });
  m_spec.maxEvaluations = 30;
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_TRUE(outcome.winner.isValid());
  EXPECT_EQ(onlyRun().evaluations, 30) << "the search goes on beside an elite that it cannot vary";
}

TEST_F(ProposersTest, OneThatNeverAnswersChangesNothing) {
  run();
  const std::vector<std::string> alone = sources();
  m_spec.project = m_folder / "again";
  testing::FakeClock clock;  // stands still, so that no deadline ever comes
  m_parts.now = clock.now();
  enlist("dead", [](ScriptedProposer&) {});
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(sources(), alone);
}

TEST_F(ProposersTest, TwoMayBeOutAtOnceAndASlowOnesAnswerIsTakenWhenItComes) {
  int slowOnesQuestions = 0;
  enlist("slow", [&](ScriptedProposer& self) {
    ++slowOnesQuestions;
    QTimer::singleShot(std::chrono::milliseconds(30), &self, [&self] { Q_EMIT self.offered(offerOf(self, 2)); });
  });
  enlist("quick", [](ScriptedProposer& self) {
    QTimer::singleShot(0, &self, [&self] { Q_EMIT self.offered(offerOf(self, 3)); });
  });
  m_spec.maxEvaluations = 0;
  m_spaceSize = 100000;
  start(m_session);
  ASSERT_TRUE(waitFor(
      [&] { return m_enlisted.size() == 2 && m_enlisted[0]->heard.size() >= 2 && m_enlisted[1]->heard.size() >= 4; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_GE(slowOnesQuestions, 2);
  const auto rest = evaluationsOfOthers(proposerName("slow"));
  EXPECT_GT(rest - static_cast<std::int64_t>(madeBy(proposerName("quick")).size()), 5) << "the search went on";
}

TEST_F(ProposersTest, TheEndOfTheSearchWaitsForAnAnswerUntilItsDeadline) {
  testing::FakeClock clock;
  m_parts.now = clock.now();
  m_spec.maxEvaluations = 0;
  m_spaceSize = 3;
  ScriptedProposer* asked = nullptr;
  enlist("late", [&asked](ScriptedProposer& self) { asked = &self; });
  start(m_session);
  // The space is exhausted when its last candidate has ended: nothing is in flight, and one answer is owed.
  ASSERT_TRUE(waitFor([&] {
    const auto isIdle = [](const services::Progress& progress) { return progress.stage == "idle"; };
    return asked != nullptr && m_rows.size() >= 4 && isIdle(m_progress.back());
  }));
  EXPECT_THAT(m_outcomes, IsEmpty());
  const std::size_t before = m_rows.size();
  Q_EMIT asked->offered(offerOf(*asked, 2));
  ASSERT_TRUE(waitFor([&] { return m_rows.size() > before; }));
  EXPECT_THAT(m_outcomes, IsEmpty()) << "asked again, and waited for again";
  ASSERT_TRUE(waitFor([&] { return asked->asked == 2; }));
  clock.advance(asked->patience());
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_EQ(m_outcomes[0].state, services::RunState::Finished);
}

TEST_F(ProposersTest, OneThatThrowsIsSaidAndLeftOut) {
  enlist("throwing", [](ScriptedProposer&) { throw std::runtime_error("no connection"); });
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(onlyRun().evaluations, 20);
  EXPECT_THAT(m_notices,
              Contains(Field(&services::Notice::text,
                             HasSubstr("the proposer 'throwing' is no longer used in this run: 'throwing' threw"))));
}

TEST_F(ProposersTest, GarbageIsDataAndCostsNobodyElseAnything) {
  enlist("garbage", [](ScriptedProposer& self) {
    Offer offer = offerOf(self, 5);
    switch (self.asked % 5) {
      case 0: offer.program.language = domain::Language::CudaCpp; break;
      case 1: offer.program.plan.steps.clear(); break;
      case 2: std::get<domain::KernelStep>(offer.program.plan.steps[0]).entry = "not a name"; break;
      case 3: offer.program.source = std::string(std::size_t{5} << 20U, 'x'); break;
      default:
        offer.island = -7;
        offer.genome = domain::Genome{{{.nodes = {99}, .pattern = "no such pattern", .parameters = {{"n", 7}}}}};
        offer.note = std::string(100'000, '\xff');
    }
    Q_EMIT self.offered(offer);
  });
  m_spec.maxEvaluations = 40;
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const auto made = madeBy(proposerName("garbage"));
  EXPECT_GE(made.size(), 5U);
  for (const store::CandidateRecord& candidate : made) {
    ASSERT_TRUE(candidate.evaluation.has_value());
    EXPECT_GE(candidate.island, 0);
    const bool isRefused = std::holds_alternative<domain::Rejected>(*candidate.evaluation) ||
                           std::holds_alternative<domain::Duplicate>(*candidate.evaluation);
    EXPECT_EQ(isRefused, !candidate.genome.has_value()) << domain::summary(*candidate.evaluation);
  }
  EXPECT_EQ(onlyRun().evaluations, 40);
  EXPECT_GE(evaluationsOfOthers(proposerName("garbage")), 15) << "it has its share of the turns, and no more";
}

TEST_F(ProposersTest, WhatAnEarlierSittingSpentIsTakenUpAgain) {
  enlist("outsider", [](ScriptedProposer& self) {
    Offer offer = offerOf(self, 4);
    offer.cost = {.seconds = 0.0, .cents = 1.0, .tokens = 10};
    Q_EMIT self.offered(offer);
  });
  const services::RunOutcome first = run();
  const auto centsOf = [](const services::ProposerReport& report) {
    for (const services::ProposerStanding& one : report.proposers) {
      if (one.name == "outsider") {
        return one.cents;
      }
    }
    return -1.0;
  };
  const double spent = centsOf(m_proposers.back());
  EXPECT_GT(spent, 0.0);
  m_parts.proposers.clear();
  m_spec.resume = first.run;
  m_spec.maxEvaluations = 25;
  const services::RunOutcome second = run();
  ASSERT_FALSE(second.error) << second.error->message();
  EXPECT_DOUBLE_EQ(centsOf(m_proposers.back()), spent) << "though it takes no part any more";
}

TEST_F(ProposersTest, TwoOfOneNameFailTheRunBeforeItsFirstCandidate) {
  enlist("search", [](ScriptedProposer&) {});
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(outcome.error->message(), HasSubstr("two proposers named 'search'"));
  EXPECT_THAT(history(), IsEmpty());
}

}  // namespace
}  // namespace swage::run
