// SPDX-License-Identifier: Apache-2.0
#include "core/run/swarm_board.h"

#include <gmock/gmock.h>

#include "core/run/pair_order.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using testing::IsOk;
using ::testing::SizeIs;
using Who = services::Talk::Turn::Who;

judge::GivenAdvice given(int pair, const std::string& rule, std::int64_t about) {
  judge::GivenAdvice one;
  one.pair = pair;
  one.role = judge::Role::Memory;
  one.about = domain::CandidateId(about);
  one.advice.rule = rule;
  one.advice.method = "do " + rule;
  one.advice.expectedGain = 1.5;
  return one;
}

judge::ScoredAdvice scored(int pair, const std::string& rule, std::int64_t about, std::int64_t candidate, double gain) {
  judge::ScoredAdvice one;
  one.pair = pair;
  one.role = judge::Role::Memory;
  one.rule = rule;
  one.about = domain::CandidateId(about);
  one.candidate = domain::CandidateId(candidate);
  one.achievedGain = gain;
  one.seconds = 2.0;
  return one;
}

models::ChatOutcome outcome(std::int64_t input, std::int64_t output, double usd) {
  models::ChatOutcome one{models::ChatReply{.text = "hello"}};
  one.usage = {.input = input, .output = output};
  one.usd = usd;
  one.seconds = 3.0;
  return one;
}

TEST(SwarmBoard, AnAdviceHasWhatCameOfItsBest) {
  SwarmBoard board;
  board.given(given(3, "narrow", 7));
  board.given(given(3, "spills", 7));
  board.scored(scored(3, "narrow", 7, 11, 1.2));
  board.scored(scored(3, "narrow", 7, 12, 0.0));
  board.scored(scored(3, "narrow", 7, 13, 1.1));
  const services::SwarmReport report = board.report({11});
  ASSERT_THAT(report.advice, SizeIs(2));
  EXPECT_EQ(report.advice[0].rule, "spills") << "the newest first";
  EXPECT_EQ(report.advice[0].achievedGain, std::nullopt);
  EXPECT_EQ(report.advice[1].followed, 3);
  EXPECT_EQ(report.advice[1].achievedGain, 1.2);
  EXPECT_EQ(report.advice[1].candidate, domain::CandidateId(11));
  ASSERT_THAT(report.pairs, SizeIs(1));
  const services::PairStanding& pair = report.pairs[0];
  EXPECT_EQ(pair.pair, 3);
  EXPECT_EQ(pair.offers, 3);
  EXPECT_EQ(pair.correct, 2);
  EXPECT_EQ(pair.elites, 1);
  EXPECT_NEAR(pair.gainPercent, 30.0, 1e-9);
  EXPECT_NEAR(pair.gainPerSecond(), 5.0, 1e-9);
  EXPECT_LT(pair.gainPerCent(), 0.0) << "it cost nothing";
  EXPECT_EQ(pair.last->rule, "narrow") << "what it followed last";
}

TEST(SwarmBoard, AScoreOfAnAdviceThatNobodyWroteDownIsKept) {
  SwarmBoard board;
  board.scored(scored(0, "old", 1, 2, 1.5));
  ASSERT_THAT(board.report({}).advice, SizeIs(1));
  EXPECT_EQ(board.report({}).advice[0].rule, "old");
}

TEST(SwarmBoard, KeepsTheNewestOfMany) {
  SwarmBoard board;
  for (std::size_t i = 0; i < services::SwarmReport::kMostAdvice + 10; ++i) {
    board.given(given(0, "rule", static_cast<std::int64_t>(i)));
  }
  const auto advice = board.report({}).advice;
  ASSERT_THAT(advice, SizeIs(services::SwarmReport::kMostAdvice));
  EXPECT_EQ(advice.front().number, static_cast<std::int64_t>(services::SwarmReport::kMostAdvice) + 10);
}

TEST(SwarmBoard, AModelIsAPairWithWhatItsCallsTook) {
  SwarmBoard board;
  board.called("fast", outcome(100, 20, 0.01));
  models::ChatOutcome failed{models::ChatFailure{}};
  failed.seconds = 1.0;
  failed.isPriceKnown = false;
  board.called("fast", failed);
  board.ended("fast", domain::CandidateId(5), 2.0, 1.6);
  const services::SwarmReport report = board.report({5});
  ASSERT_THAT(report.spending, SizeIs(1));
  EXPECT_EQ(report.spending[0].calls, 2);
  EXPECT_EQ(report.spending[0].failed, 1);
  EXPECT_EQ(report.spending[0].inputTokens, 100);
  EXPECT_FALSE(report.spending[0].isPriceKnown);
  EXPECT_DOUBLE_EQ(report.spending[0].longestSeconds, 3.0);
  ASSERT_THAT(report.pairs, SizeIs(1));
  EXPECT_TRUE(report.pairs[0].canListen());
  EXPECT_EQ(report.pairs[0].tokens, 120);
  EXPECT_NEAR(report.pairs[0].gainPercent, 25.0, 1e-9);
  EXPECT_NEAR(report.pairs[0].gainPerCent(), 25.0, 1e-9);
  EXPECT_EQ(report.pairs[0].elites, 1);
}

TEST(SwarmBoard, AdviceToAModelIsItsOwnWithItsScore) {
  SwarmBoard board;
  board.given(given(0, "narrow", 7));
  judge::GivenAdvice told = given(-1, "narrow", 7);
  told.model = "fast";
  board.given(told);
  judge::ScoredAdvice score = scored(-1, "narrow", 7, 9, 1.3);
  score.model = "fast";
  board.scored(score);
  board.ended("fast", domain::CandidateId(9), 1.3, 1.0);
  const services::SwarmReport report = board.report({});
  ASSERT_THAT(report.advice, SizeIs(2));
  EXPECT_EQ(report.advice[0].model, "fast");
  EXPECT_EQ(report.advice[0].achievedGain, 1.3);
  EXPECT_EQ(report.advice[1].achievedGain, std::nullopt) << "the pair has not followed it";
  ASSERT_THAT(report.pairs, SizeIs(2));
  EXPECT_EQ(report.pairs[1].model, "fast");
  EXPECT_EQ(report.pairs[1].offers, 1) << "counted once";
  ASSERT_TRUE(report.pairs[1].last);
  EXPECT_EQ(report.pairs[1].last->rule, "narrow");
  EXPECT_EQ(report.pairs[1].last->achievedGain, 1.3);
}

TEST(TalkOf, ShowsEachWordOnce) {
  models::Conversation conversation;
  conversation.endpoint = "fast";
  models::ChatRequest request;
  request.system = "rules";
  request.messages = {{models::Role::User, "first"}};
  conversation.exchanges.push_back({request, models::ChatOutcome{models::ChatReply{.text = "bad"}}});
  request.messages.push_back({models::Role::Assistant, "bad"});
  request.messages.push_back({models::Role::User, "again"});
  conversation.exchanges.push_back({request, models::ChatOutcome{models::ChatReply{.text = "good"}}});
  const services::Talk talk = talkOf(conversation);
  std::vector<std::pair<Who, std::string>> turns;
  for (const auto& turn : talk.turns) {
    turns.emplace_back(turn.who, turn.text);
  }
  EXPECT_EQ(turns, (std::vector<std::pair<Who, std::string>>{{Who::Rules, "rules"},
                                                             {Who::Question, "first"},
                                                             {Who::Reply, "bad"},
                                                             {Who::Question, "again"},
                                                             {Who::Reply, "good"}}));
}

TEST(TalkOf, ARepairBeginsWithWhatWasSaidBefore) {
  models::Conversation conversation;
  models::ChatRequest request;
  request.messages = {{models::Role::User, "first"}, {models::Role::Assistant, "wrong"}, {models::Role::User, "mend"}};
  conversation.exchanges.push_back({request, models::ChatOutcome{models::ChatFailure{.message = "too busy"}}});
  const services::Talk talk = talkOf(conversation);
  ASSERT_THAT(talk.turns, SizeIs(4));
  EXPECT_EQ(talk.turns[1].who, Who::Reply);
  EXPECT_EQ(talk.turns[3].who, Who::Failure);
  EXPECT_EQ(talk.turns[3].text, "no connection: too busy");
}

TEST(PairOrder, IsReadAsItWasWritten) {
  using Kind = services::PairOrder::Kind;
  for (const services::PairOrder& order :
       {services::PairOrder{Kind::Pause, 3, {}, {}}, services::PairOrder{Kind::Resume, 0, {}, {}},
        services::PairOrder{Kind::Say, -1, "fast", "use shared memory"},
        services::PairOrder{Kind::TakeRole, 31, {}, "memory"}}) {
    const auto read = parseOrder(orderJson(order));
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(read->kind, order.kind);
    EXPECT_EQ(read->pair, order.pair);
    EXPECT_EQ(read->model, order.model);
    EXPECT_EQ(read->text, order.text);
    EXPECT_TRUE(isOrder(orderJson(order)));
  }
  EXPECT_FALSE(isOrder("{\"pair\": 1}"));
}

}  // namespace
}  // namespace swage::run
