// SPDX-License-Identifier: Apache-2.0
#include "core/judge/swarm.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tests/core/judge/simulated_search.h"

namespace swage::judge::testing {
namespace {

using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kSeeds = 10;
constexpr int kBudget = 250;

// What came of an advice of the first pair.
ScoredAdvice scored(Role role, double reward) {
  ScoredAdvice one;
  one.role = role;
  one.rule = "spills";
  one.reward = reward;
  return one;
}

RuleBook bookOf(const std::string& text) {
  RuleBook book;
  const auto added = book.add(text, "test.toml");
  EXPECT_TRUE(added) << (added ? "" : added.error().message());
  return book;
}

// As Swage's rules say it, with the names of the simulated parameters.
std::string rule(const std::string& id, const std::string& role, const std::string& when, const std::string& gain,
                 const std::string& steering) {
  return fmt::format(
      "[[rule]]\nid = \"{}\"\nrole = \"{}\"\ntitle = \"t\"\nwhen = [\"{}\"]\nbottleneck = \"b\"\nmethod = \"m\"\n"
      "gain = \"{}\"\nsource = \"s\"\n{}\n",
      id, role, when, gain, steering);
}

const RuleBook& goodRules() {
  static const RuleBook book = bookOf(
      rule("spills", "parameters", "kernel.spill_bytes > 0", "1 + kernel.spill_bytes / 256",
           "steer.operators = {parameter = 1.0}\nsteer.parameters = {a = \"down\"}") +
      rule("blocks", "parameters", "kernel.grid_blocks < 512", "1.3",
           "steer.operators = {parameter = 1.0}\nsteer.parameters = {b = \"up\"}") +
      rule("narrow", "memory", "kernel.movement == 0", "1.2",
           "steer.operators = {parameter = 1.0}\nsteer.parameters = {c = \"up\"}") +
      rule("fuse", "fusion", "candidate.overfetch > 1.2", "candidate.overfetch", "steer.operators = {merge = 1.0}") +
      rule("swap", "arithmetic", "candidate.over_roof > 1.2", "1.2", "steer.operators = {pattern_swap = 1.0}"));
  return book;
}

// The same with everything the wrong way round.
const RuleBook& badRules() {
  static const RuleBook book =
      bookOf(rule("spill", "parameters", "kernel.registers > 0", "3",
                  "steer.operators = {parameter = 1.0}\nsteer.parameters = {a = \"up\"}") +
             rule("blocks", "memory", "kernel.grid_blocks > 0", "3",
                  "steer.operators = {parameter = 1.0}\nsteer.parameters = {b = \"down\"}") +
             rule("split", "fusion", "candidate.kernels > 0", "3", "steer.operators = {split = 1.0}"));
  return book;
}

double meanLogEvaluations(const RuleBook* rules) {
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    sum += std::log(evaluationsTo(simulateRun(rules, seed, kBudget), 0.95));
  }
  return sum / kSeeds;
}

TEST(Swarm, GivesTheSameProposalsForTheSameSeed) {
  const SimulatedRun first = simulateRun(&goodRules(), 3, kBudget);
  const SimulatedRun second = simulateRun(&goodRules(), 3, kBudget);
  EXPECT_EQ(first.proposals, second.proposals);
  EXPECT_NE(first.proposals, simulateRun(&goodRules(), 4, kBudget).proposals);
}

TEST(Swarm, FollowingAdviceBeatsIgnoringIt) {
  const double ratio = std::exp(meanLogEvaluations(nullptr) - meanLogEvaluations(&goodRules()));
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_THAT(ratio, Gt(1.1));
}

TEST(Swarm, AJudgeThatMisleadsCostsLittleAndIsAskedLess) {
  const double ratio = std::exp(meanLogEvaluations(&badRules()) - meanLogEvaluations(nullptr));
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LT(ratio, 1.5);
  EXPECT_LT(simulateRun(&badRules(), 1, kBudget).guidedShare, Swarm::kMost);
}

TEST(Swarm, WithoutAnythingToSayItLeavesTheSearchAlone) {
  const RuleBook nothing;
  EXPECT_EQ(simulateRun(&nothing, 5, 100).proposals, simulateRun(nullptr, 5, 100).proposals);
}

TEST(Swarm, SpreadsPairsOverIslandsAndRoles) {
  const Swarm swarm(goodRules(), {.pairs = 32});
  std::map<std::pair<int, Role>, int> count;
  for (const PairState& pair : swarm.pairs()) {
    ++count[{pair.island, pair.role}];
  }
  EXPECT_EQ(count.size(), 16U);
  EXPECT_TRUE(std::all_of(count.begin(), count.end(), [](const auto& one) { return one.second == 2; }));
  EXPECT_EQ(Swarm(goodRules(), {.pairs = 0}).pairs().size(), 1U);
}

TEST(Swarm, ScoresWhatCameOfAnAdviceAgainstWhatWasExpected) {
  const SimulatedRun run = simulateRun(&goodRules(), 1, kBudget);
  ASSERT_THAT(run.scored, Not(IsEmpty()));
  int followed = 0;
  for (const PairState& pair : run.pairs) {
    followed += pair.followed;
  }
  EXPECT_EQ(followed, static_cast<int>(run.scored.size()));
  for (const ScoredAdvice& scored : run.scored) {
    const auto index = [](domain::CandidateId id) { return static_cast<std::size_t>(id.value() - 1); };
    EXPECT_DOUBLE_EQ(scored.achievedGain, run.speedups[index(scored.candidate)] / run.speedups[index(scored.about)]);
    EXPECT_TRUE(scored.expectedGain.has_value());
  }
}

// One pair and one candidate at a time, by hand.
class SwarmByHand : public ::testing::Test {
 protected:
  SwarmByHand() {
    genome = simulatedSpace().seeds().front();
    genome.regions.front().parameters["a"] = 7;
  }
  SwarmNews end(search::ProposalId proposal, const SimulatedCandidate& made) {
    return swarm.ended({.proposal = proposal,
                        .genome = &genome,
                        .island = 0,
                        .what = {.program = &made.program,
                                 .kernels = &made.kernels,
                                 .evaluation = &made.evaluation,
                                 .device = &device,
                                 .task = simulatedTask()},
                        .outcome = made.outcome});
  }
  // Until a turn is guided.
  Swarm::Turn guidedTurn() {
    for (int i = 0; i < 100; ++i) {
      if (Swarm::Turn turn = swarm.next(); turn.guidance) {
        return turn;
      }
    }
    return {};
  }
  search::Proposal follow(const Swarm::Turn& turn, std::int64_t id) {
    search::Proposal proposal;
    proposal.id = search::ProposalId(id);
    proposal.genome = genome;
    proposal.isGuided = true;
    swarm.proposed(turn, proposal);
    return proposal;
  }

  RuleBook rules =
      bookOf(rule("spills", "fusion", "kernel.spill_bytes > 0", "1.4",
                  "steer.operators = {parameter = 1.0}\nsteer.parameters = {a = \"down\"}") +
             "[[rule]]\nid = \"crash\"\npass = \"functional\"\nrole = \"memory\"\ntitle = \"t\"\nwhen = "
             "[\"failed.crash == 1\"]\nbottleneck = \"{failure.message}\"\nmethod = \"m\"\nsource = \"s\"\n"
             "steer.operators = {pattern_swap = 1.0}\n");
  domain::DeviceInfo device = simulatedDevice();
  Swarm swarm{rules, {.pairs = 1, .islands = 1}};
  domain::Genome genome;
};

TEST_F(SwarmByHand, AnAdviceBecomesTheGuidanceOfItsRule) {
  const SwarmNews news = end({}, simulate(genome, domain::CandidateId(7)));
  ASSERT_EQ(news.given.size(), 1U);
  EXPECT_EQ(news.given[0].advice.rule, "spills");
  EXPECT_EQ(news.given[0].about, domain::CandidateId(7));
  const Swarm::Turn turn = guidedTurn();
  ASSERT_TRUE(turn.guidance);
  EXPECT_EQ(turn.guidance->base, domain::CandidateId(7));
  EXPECT_EQ(turn.guidance->genome, genome);
  EXPECT_EQ(turn.guidance->parameters, (std::map<std::string, int>{{"a", -1}}));
}

TEST_F(SwarmByHand, AnAdviceIsFollowedAFewTimesAndNoMore) {
  (void)end({}, simulate(genome, domain::CandidateId(7)));
  int guided = 0;
  for (int i = 0; i < 200; ++i) {
    guided += swarm.next().guidance ? 1 : 0;
  }
  EXPECT_EQ(guided, Swarm::kFollows);
}

TEST_F(SwarmByHand, APausedPairGetsNoTurns) {
  (void)end({}, simulate(genome, domain::CandidateId(7)));
  EXPECT_TRUE(swarm.setPaused(0, true));
  EXPECT_FALSE(guidedTurn().guidance);
  EXPECT_TRUE(swarm.pairs().front().isPaused);
  EXPECT_TRUE(swarm.setPaused(0, false));
  EXPECT_TRUE(guidedTurn().guidance);
  EXPECT_FALSE(swarm.setPaused(1, true)) << "there is one pair";
}

TEST_F(SwarmByHand, APairKeepsTheRoleThatAPersonGaveIt) {
  (void)end({}, simulate(genome, domain::CandidateId(7)));
  EXPECT_TRUE(swarm.setRole(0, Role::Arithmetic));
  EXPECT_FALSE(guidedTurn().guidance) << "what it worked at was its old role's";
  EXPECT_EQ(swarm.pairs().front().role, Role::Arithmetic);
  for (int i = 0; i < 3 * Swarm::kReview; ++i) {
    swarm.restore(scored(Role::Arithmetic, 0.0));
  }
  EXPECT_EQ(swarm.pairs().front().role, Role::Arithmetic);
  EXPECT_FALSE(swarm.setRole(7, Role::Memory));
}

TEST_F(SwarmByHand, WhatFailsIsRepairedBeforeItGoesOn) {
  (void)end({}, simulate(genome, domain::CandidateId(7)));
  const Swarm::Turn turn = guidedTurn();
  const auto proposal = follow(turn, 1);
  SimulatedCandidate failed = simulate(genome, domain::CandidateId(8));
  failed.evaluation = domain::Crashed{11, "SIGSEGV"};
  failed.outcome = {search::Outcome::Kind::Failed, domain::CandidateId(8), std::nullopt, 0.0, {}};
  const SwarmNews news = end(proposal.id, failed);
  ASSERT_TRUE(news.scored);
  EXPECT_EQ(news.scored->achievedGain, 0.0);
  EXPECT_EQ(news.scored->about, domain::CandidateId(7));
  ASSERT_EQ(news.given.size(), 1U);
  EXPECT_EQ(news.given[0].advice.bottleneck, "SIGSEGV");
  EXPECT_EQ(swarm.pairs()[0].pass, domain::AdvicePass::Functional);
  EXPECT_EQ(swarm.pairs()[0].about, domain::CandidateId(8));
  for (int i = 0; i < Swarm::kRepairs; ++i) {
    EXPECT_EQ(guidedTurn().advice->advice.rule, "crash");
  }
  EXPECT_EQ(swarm.pairs()[0].pass, domain::AdvicePass::Optimisation);
  EXPECT_EQ(swarm.pairs()[0].about, domain::CandidateId(7));
}

TEST_F(SwarmByHand, AProposalThatWentItsOwnWayIsNoAdvicesCredit) {
  (void)end({}, simulate(genome, domain::CandidateId(7)));
  const Swarm::Turn turn = guidedTurn();
  search::Proposal proposal = follow(turn, 1);
  proposal.isGuided = false;
  swarm.proposed(turn, proposal);
  EXPECT_FALSE(end(proposal.id, simulate(genome, domain::CandidateId(8))).scored);
}

TEST_F(SwarmByHand, CreditOfAnEarlierSittingCountsAgain) {
  ScoredAdvice scored;
  scored.rule = "spills";
  scored.reward = 1.0;
  const double before = swarm.guidedShare();
  for (int i = 0; i < 5; ++i) {
    swarm.restore(scored);
  }
  EXPECT_EQ(swarm.pairs()[0].followed, 5);
  EXPECT_GT(swarm.ruleCredit().at("spills"), 0.5);
  EXPECT_GE(swarm.guidedShare(), before);
  scored.pair = 99;
  swarm.restore(scored);  // of a run with more pairs
}

// One pair, one candidate, and what a profile of it tells.
class SwarmWithProfile : public ::testing::Test {
 protected:
  SwarmWithProfile() {
    genome = simulatedSpace().seeds().front();
    genome.regions.front().parameters["a"] = 7;
    made = simulate(genome, domain::CandidateId(7));
    profile.source = domain::ProfileSource::Counters;
    for (const domain::KernelFacts& facts : made.kernels) {
      domain::KernelProfile& kernel = profile.kernels.emplace_back();
      kernel.entry = facts.entry;
      kernel.durationNs = 1e5;
    }
  }
  [[nodiscard]] SwarmEnd end(const domain::Profile* known) const {
    return {.proposal = {},
            .genome = &genome,
            .island = 0,
            .what = {.program = &made.program,
                     .kernels = &made.kernels,
                     .evaluation = &made.evaluation,
                     .profile = known,
                     .device = &device,
                     .task = simulatedTask()},
            .outcome = made.outcome};
  }
  // By rule, of so many turns.
  std::map<std::string, int> followed(int turns) {
    std::map<std::string, int> count;
    for (int i = 0; i < turns; ++i) {
      if (const Swarm::Turn turn = swarm.next(); turn.advice) {
        ++count[turn.advice->advice.rule];
      }
    }
    return count;
  }

  RuleBook rules =
      bookOf(rule("spills", "fusion", "kernel.spill_bytes > 0", "1.4", "steer.operators = {parameter = 1.0}") +
             rule("unmeasured", "fusion", "not known(kernel.ns)", "1.2", "steer.operators = {parameter = 1.0}") +
             rule("measured", "fusion", "kernel.ns > 0", "2", "steer.operators = {parameter = 1.0}"));
  domain::DeviceInfo device = simulatedDevice();
  Swarm swarm{rules, {.pairs = 1, .islands = 1}};
  domain::Genome genome;
  SimulatedCandidate made;
  domain::Profile profile;
};
constexpr int kManyTurns = 500;

TEST_F(SwarmWithProfile, WhoWorksAtItsCandidateHearsWhatItTells) {
  ASSERT_EQ(swarm.ended(end(nullptr)).given.size(), 1U);
  EXPECT_EQ(swarm.pairs().front().rule, "spills");
  const SwarmNews news = swarm.profiled(end(&profile));
  ASSERT_EQ(news.given.size(), 1U);
  EXPECT_EQ(news.given[0].advice.rule, "measured");
  EXPECT_EQ(news.given[0].about, domain::CandidateId(7));
  EXPECT_FALSE(news.scored);
  EXPECT_EQ(followed(kManyTurns),
            (std::map<std::string, int>{{"measured", Swarm::kFollows}, {"spills", Swarm::kFollows}}))
      << "what does not hold any more is not followed";
}

TEST_F(SwarmWithProfile, WhatAPairHasBegunItFollowsToTheEnd) {
  (void)swarm.ended(end(nullptr));
  int turns = 0;
  while (!swarm.next().advice && turns < kManyTurns) {
    ++turns;
  }
  ASSERT_LT(turns, kManyTurns);
  EXPECT_THAT(swarm.profiled(end(&profile)).given, IsEmpty());
  EXPECT_EQ(swarm.pairs().front().rule, "spills");
  EXPECT_EQ(followed(kManyTurns),
            (std::map<std::string, int>{{"measured", Swarm::kFollows}, {"spills", Swarm::kFollows - 1}}));
}

TEST_F(SwarmWithProfile, WhoHasFollowedAllIsToldWhatIsNew) {
  (void)swarm.ended(end(nullptr));
  EXPECT_EQ(followed(kManyTurns),
            (std::map<std::string, int>{{"spills", Swarm::kFollows}, {"unmeasured", Swarm::kFollows}}));
  EXPECT_EQ(swarm.profiled(end(&profile)).given.size(), 1U);
  EXPECT_EQ(followed(kManyTurns), (std::map<std::string, int>{{"measured", Swarm::kFollows}}));
}

TEST_F(SwarmWithProfile, OneThatTellsNothingNewChangesNothing) {
  (void)swarm.ended(end(nullptr));
  for (domain::KernelProfile& kernel : profile.kernels) {
    kernel.durationNs = 0.0;
  }
  EXPECT_THAT(swarm.profiled(end(&profile)).given, IsEmpty());
  EXPECT_EQ(followed(kManyTurns),
            (std::map<std::string, int>{{"spills", Swarm::kFollows}, {"unmeasured", Swarm::kFollows}}));
}

TEST_F(SwarmWithProfile, OfWhatIsSlowNobodyHears) {
  (void)swarm.ended(end(nullptr));
  made.outcome.candidate = domain::CandidateId(8);
  made.outcome.overEager = domain::Speedup::exactly(made.outcome.overEager.value / 2.0);
  EXPECT_THAT(swarm.profiled(end(&profile)).given, IsEmpty());
  EXPECT_EQ(swarm.pairs().front().rule, "spills");
}

TEST(Swarm, AModelGetsTheOneAdviceThatPromisesMostByWhatItsRuleEarned) {
  const RuleBook rules = bookOf(rule("less", "memory", "kernel.registers > 0", "1.2", "") +
                                rule("first", "fusion", "kernel.registers > 0", "1.4", "") +
                                rule("second", "memory", "kernel.registers > 0", "1.4", ""));
  Swarm swarm(rules, {.pairs = 1, .islands = 1});
  const SimulatedCandidate made = simulate(simulatedSpace().seeds().front(), domain::CandidateId(7));
  const domain::DeviceInfo device = simulatedDevice();
  const auto given = [&] {
    return swarm.adviceFor({.program = &made.program,
                            .kernels = &made.kernels,
                            .evaluation = &made.evaluation,
                            .device = &device,
                            .task = simulatedTask()},
                           domain::CandidateId(7));
  };
  const auto first = given();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->advice.rule, "first");
  EXPECT_EQ(first->role, Role::Fusion);
  EXPECT_EQ(first->about, domain::CandidateId(7));
  GivenAdvice advice = *first;
  advice.model = "tester";
  const double share = swarm.guidedShare();
  const ScoredAdvice scored = scoreOf(advice, {.candidate = domain::CandidateId(8),
                                               .speedup = 1.5,
                                               .before = 2.0,
                                               .best = 2.0,
                                               .counts = true,
                                               .seconds = 1.0});
  EXPECT_DOUBLE_EQ(scored.achievedGain, 0.75);
  EXPECT_EQ(scored.reward, 0.0);
  EXPECT_EQ(scored.model, "tester");
  swarm.restore(scored);
  EXPECT_EQ(given()->advice.rule, "second");
  EXPECT_EQ(swarm.pairs()[0].followed, 0) << "no pair followed it";
  EXPECT_EQ(swarm.guidedShare(), share);
  std::map<std::string, int> named;
  for (int i = 0; i < 3 * Swarm::kFollows - 2; ++i) {
    ++named[given()->advice.rule];
  }
  EXPECT_EQ(named, (std::map<std::string, int>{
                       {"first", Swarm::kFollows - 1}, {"second", Swarm::kFollows - 1}, {"less", Swarm::kFollows}}))
      << "each in its turn";
  EXPECT_EQ(given()->advice.rule, "second") << "when all have had theirs, the best again";
}

TEST(Swarm, AModelIsToldOfTheFirstMistake) {
  const RuleBook rules = bookOf(
      "[[rule]]\nid = \"crash\"\npass = \"functional\"\nrole = \"memory\"\ntitle = \"t\"\nwhen = "
      "[\"failed.crash == 1\"]\nbottleneck = \"{failure.message}\"\nmethod = \"m\"\nsource = \"s\"\n");
  Swarm swarm(rules, {.pairs = 1, .islands = 1});
  const domain::Program program;
  const domain::Evaluation crashed = domain::Crashed{11, "SIGSEGV"};
  const auto given = swarm.adviceFor({.program = &program, .evaluation = &crashed, .task = {}}, domain::CandidateId(3));
  ASSERT_TRUE(given);
  EXPECT_EQ(given->advice.bottleneck, "SIGSEGV");
  GivenAdvice advice = *given;
  advice.model = "tester";
  EXPECT_EQ(scoreOf(advice, {.candidate = domain::CandidateId(4), .speedup = 0.5}).achievedGain, 1.0) << "it is right";
  const domain::Evaluation rejected = domain::Rejected{};
  EXPECT_FALSE(swarm.adviceFor({.program = &program, .evaluation = &rejected, .task = {}}, domain::CandidateId(3)));
}

TEST(Swarm, RulesBeginWithWhatTheyEarnedInEarlierRuns) {
  const RuleBook rules =
      bookOf(rule("first", "fusion", "kernel.registers > 0", "1.4", "steer.operators = {merge = 1.0}") +
             rule("second", "fusion", "kernel.registers > 0", "1.4", "steer.operators = {merge = 1.0}"));
  const auto firstFor = [&rules](const std::vector<domain::AdviceExperience>& earlier) {
    Swarm swarm(rules, {.pairs = 1, .islands = 1});
    swarm.learn(earlier);
    const domain::Genome genome = simulatedSpace().seeds().front();
    const SimulatedCandidate made = simulate(genome, domain::CandidateId(7));
    const domain::DeviceInfo device = simulatedDevice();
    const SwarmNews news = swarm.ended({.proposal = {},
                                        .genome = &genome,
                                        .island = 0,
                                        .what = {.program = &made.program,
                                                 .kernels = &made.kernels,
                                                 .evaluation = &made.evaluation,
                                                 .device = &device,
                                                 .task = simulatedTask()},
                                        .outcome = made.outcome});
    return news.given.empty() ? std::string() : news.given.front().advice.rule;
  };
  EXPECT_EQ(firstFor({}), "first");
  EXPECT_EQ(firstFor({{.rule = "first", .role = "fusion", .followed = 30, .paid = 0, .rewards = 0.0},
                      {.rule = "second", .role = "fusion", .followed = 30, .paid = 20, .rewards = 15.0}}),
            "second");
  EXPECT_EQ(firstFor({{.rule = "second", .role = "poetry", .followed = 30, .paid = 20, .rewards = 25.0}}), "first");
}

TEST(Swarm, WhatEarlierRunsTaughtCanBeLearnedOtherwise) {
  Swarm swarm(goodRules(), {.pairs = 4, .islands = 1});
  swarm.learn({{.rule = "spills", .role = "parameters", .followed = 100000, .paid = 0, .rewards = 0.0},
               {.rule = "gone", .role = "memory", .followed = 4, .paid = 4, .rewards = 4.0}});
  EXPECT_LT(swarm.ruleCredit().at("spills"), 0.1);
  EXPECT_EQ(swarm.ruleCredit().count("gone"), 0U) << "there is no such rule any more";
  for (int i = 0; i < 20; ++i) {
    swarm.restore(scored(Role::Parameters, 1.0));
  }
  EXPECT_GT(swarm.ruleCredit().at("spills"), 0.5);
}

TEST(Swarm, APairThatEarnsNothingTakesARoleThatDoesUnlessItIsTheLastOfItsOwn) {
  Swarm swarm(goodRules(), {.pairs = 8, .islands = 1});
  const auto earn = [&swarm](int pair, Role role, double reward) {
    for (int i = 0; i < 2 * Swarm::kReview; ++i) {
      ScoredAdvice scored;
      scored.pair = pair;
      scored.rule = "any";
      scored.role = role;
      scored.reward = reward;
      swarm.restore(scored);
    }
  };
  earn(0, Role::Fusion, 1.0);
  earn(1, Role::Memory, 0.0);
  EXPECT_EQ(swarm.pairs()[1].role, Role::Fusion);
  EXPECT_EQ(swarm.pairs()[5].role, Role::Memory);
  earn(5, Role::Memory, 0.0);
  EXPECT_EQ(swarm.pairs()[5].role, Role::Memory);
}

}  // namespace
}  // namespace swage::judge::testing
