// SPDX-License-Identifier: Apache-2.0
// What a person sees of pairs and says to them, in whole searches: a server on this machine plays the model.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/run/advice_event.h"
#include "core/run/learned_advice.h"
#include "core/run/model_proposer.h"
#include "core/run/pair_order.h"
#include "core/run/recorded_swarm.h"
#include "tests/core/models/loopback_server.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::LoopbackServer;
using testing::openAiReply;
using testing::ServedRequest;
using testing::waitFor;
using Kind = services::PairOrder::Kind;

std::string answerWith(int number) {
  return fmt::format(
      "```cpp\nkernel {}\n```\n```json\n{{\"intent\": \"attempt {}\", \"steps\": [{{\"kernel\": \"tiny_kernel\", "
      "\"arguments\": [{{\"i32\": {}}}, 0, 1]}}]}}\n```\n",
      number, number, number);
}

class SwarmTest : public testing::SessionFixture {
 protected:
  SwarmTest() {
    m_spaceSize = 100000;
    m_spec.maxEvaluations = 0;
    m_spec.budgetTokens = 1000000;
    m_parts.rules.emplace();
    std::filesystem::create_directories(m_spec.project / "rules");
    std::ofstream(m_spec.project / "rules/mine.toml")
        << "[[rule]]\nid = \"mine\"\nrole = \"fusion\"\ntitle = \"Mine\"\nwhen = [\"candidate.launches > 0\"]\n"
           "bottleneck = \"{candidate.launches} launches\"\nmethod = \"Change something.\"\ngain = \"1.5\"\n"
           "source = \"a person\"\nsteer.operators = {parameter = 1.0}\n";
    m_use.keys = std::make_shared<models::KeyRing>();
    m_endpoint.concurrency = 1;
    m_use.endpoints = {m_endpoint};
    m_parts.proposers = modelProposers(m_use).value();
  }
  void search() {
    start(m_session);
    QObject::connect(m_session.get(), &RunSession::pairsChanged, m_session.get(),
                     [this](const services::SwarmSnapshot& report) { m_report = report; });
  }
  void stop() {
    m_session->stop();
    ASSERT_TRUE(waitUntilFinished());
    ASSERT_FALSE(m_outcomes[0].error) << m_outcomes[0].error->message();
  }
  [[nodiscard]] const services::PairStanding* model() const { return find(-1); }
  [[nodiscard]] const services::PairStanding* find(int pair) const {
    if (!m_report) {
      return nullptr;
    }
    const auto found = std::find_if(m_report->pairs.begin(), m_report->pairs.end(),
                                    [pair](const auto& one) { return one.pair == pair; });
    return found == m_report->pairs.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<services::PairOrder> orders() const {
    std::vector<services::PairOrder> found;
    const auto events = record().events(onlyRun().id);
    for (const domain::RunEvent& event : *events) {
      if (event.kind == domain::EventKind::Advice && isOrder(event.json)) {
        found.push_back(*parseOrder(event.json));
      }
    }
    return found;
  }

  LoopbackServer m_server{[number = 100](const ServedRequest&) mutable {
    return openAiReply(answerWith(++number), 100, 50, "stop", 1000);
  }};
  models::Endpoint m_endpoint = testing::endpointOf(m_server);
  ModelUse m_use;
  services::SwarmSnapshot m_report;
};

TEST_F(SwarmTest, TheRecordSaysInTheEndWhatWasSeenLive) {
  search();
  ASSERT_TRUE(waitFor([this] {
    return model() != nullptr && model()->offers >= 3 &&
           std::any_of(m_report->pairs.begin(), m_report->pairs.end(),
                       [](const auto& pair) { return pair.pair >= 0 && pair.correct > 0; });
  }));
  stop();
  ASSERT_TRUE(m_report);
  const auto recorded = recordedSwarm(record(), onlyRun().id);
  ASSERT_THAT(recorded, IsOk());
  EXPECT_EQ(recorded->advice.size(), m_report->advice.size());
  EXPECT_EQ(recorded->budgetTokens, 1000000);
  ASSERT_FALSE(recorded->talks.empty());
  EXPECT_THAT(recorded->talks.back().intent, HasSubstr("attempt 1"));
  EXPECT_EQ(recorded->talks.back().model, "tester");
  for (const services::PairStanding& pair : recorded->pairs) {
    const services::PairStanding* live = find(pair.pair);
    ASSERT_NE(live, nullptr);
    EXPECT_EQ(pair.offers, live->offers) << pair.pair;
    EXPECT_EQ(pair.correct, live->correct) << pair.pair;
    EXPECT_NEAR(pair.gainPercent, live->gainPercent, 0.5 + 0.05 * live->gainPercent) << pair.pair;
    EXPECT_EQ(pair.island, live->island) << pair.pair;
  }
}

TEST_F(SwarmTest, AdviceToAModelIsShownKeptAndLearnedFrom) {
  search();
  ASSERT_TRUE(waitFor([this] { return model() != nullptr && model()->last && model()->last->achievedGain; }));
  stop();
  std::vector<judge::ScoredAdvice> scores;
  int given = 0;
  const auto events = record().events(onlyRun().id);
  for (const domain::RunEvent& event : *events) {
    if (event.kind == domain::EventKind::AdviceScore) {
      scores.push_back(*parseScoredAdvice(event.json));
    } else if (event.kind == domain::EventKind::Advice && parseGivenAdvice(event.json)->model == "tester") {
      ++given;
    }
  }
  EXPECT_GE(given, 1);
  const auto score = std::find_if(scores.begin(), scores.end(), [](const auto& one) { return one.model == "tester"; });
  ASSERT_NE(score, scores.end());
  EXPECT_EQ(score->rule, "mine");
  EXPECT_EQ(score->role, judge::Role::Fusion);
  EXPECT_GT(score->achievedGain, 0.0);
  EXPECT_EQ(score->expectedGain, 1.5);
  const auto all = history();
  const auto child = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == score->candidate; });
  ASSERT_NE(child, all.end());
  EXPECT_EQ(child->parents, std::vector<domain::CandidateId>{score->about});
  const auto learned = experienceOf(record(), onlyRun().id);
  ASSERT_THAT(learned, IsOk());
  EXPECT_EQ(learned->front().followed, static_cast<std::int64_t>(scores.size())) << "a model's counts, too";

  const auto recorded = recordedSwarm(record(), onlyRun().id);
  ASSERT_THAT(recorded, IsOk());
  const auto pair = std::find_if(recorded->pairs.begin(), recorded->pairs.end(),
                                 [](const auto& one) { return one.model == "tester"; });
  ASSERT_NE(pair, recorded->pairs.end());
  ASSERT_TRUE(pair->last);
  EXPECT_EQ(pair->last->rule, "mine");
  EXPECT_TRUE(pair->last->achievedGain);
}

TEST_F(SwarmTest, APausedModelIsAskedNothing) {
  search();
  ASSERT_TRUE(waitFor([this] { return model() != nullptr && model()->offers >= 2; }));
  ASSERT_THAT(m_session->follow({Kind::Pause, -1, "tester", {}}), IsOk());
  ASSERT_TRUE(waitFor([this] { return model()->isPaused && model()->doing == "paused"; }));
  const std::size_t asked = m_server.served().size();
  const std::size_t rows = m_rows.size();
  ASSERT_TRUE(waitFor([this, rows] { return m_rows.size() > rows + 20; })) << "the others go on";
  EXPECT_LE(m_server.served().size(), asked + 1) << "only what was on its way";
  ASSERT_THAT(m_session->follow({Kind::Resume, -1, "tester", {}}), IsOk());
  ASSERT_TRUE(waitFor([this, asked] { return m_server.served().size() > asked + 2; }));
  stop();
  ASSERT_EQ(orders().size(), 2U);
  EXPECT_EQ(orders()[0].kind, Kind::Pause);
  EXPECT_EQ(orders()[1].kind, Kind::Resume);
}

TEST_F(SwarmTest, WhatAPersonSaysIsInTheNextPromptAndInTheRecord) {
  search();
  ASSERT_TRUE(waitFor([this] { return model() != nullptr && model()->offers >= 1; }));
  ASSERT_THAT(m_session->follow({Kind::Say, -1, "tester", "Try a \"cluster\" of two blocks.\n\x1b[31m"}), IsOk());
  const auto told = [this] {
    return std::count_if(m_server.served().begin(), m_server.served().end(), [](const ServedRequest& request) {
      return request.body.find("The person who runs this search says: Try a") != std::string::npos &&
             request.body.find("\\u001b") == std::string::npos;
    });
  };
  ASSERT_TRUE(waitFor([&told] { return told() > 0; }));
  const std::size_t asked = m_server.served().size();
  ASSERT_TRUE(waitFor([this, asked] { return m_server.served().size() > asked; }));
  EXPECT_EQ(told(), 1) << "once";
  stop();
  ASSERT_EQ(orders().size(), 1U);
  EXPECT_THAT(orders()[0].text, HasSubstr("cluster"));
}

TEST_F(SwarmTest, ABuiltInPairTakesRolesAndPausesButNoWords) {
  search();
  ASSERT_TRUE(waitFor([this] { return find(5) != nullptr; }));
  EXPECT_THAT(m_session->follow({Kind::Say, 5, {}, "hello"}), IsError(ErrorKind::InvalidInput, ::testing::_));
  EXPECT_THAT(m_session->follow({Kind::TakeRole, 5, {}, "poetry"}), IsError(ErrorKind::InvalidInput, ::testing::_));
  EXPECT_THAT(m_session->follow({Kind::Pause, 99, {}, {}}), IsError(ErrorKind::NotFound, ::testing::_));
  EXPECT_THAT(m_session->follow({Kind::Pause, -1, "nobody", {}}), IsError(ErrorKind::NotFound, ::testing::_));
  ASSERT_THAT(m_session->follow({Kind::TakeRole, 5, {}, "arithmetic"}), IsOk());
  ASSERT_THAT(m_session->follow({Kind::Pause, 5, {}, {}}), IsOk());
  ASSERT_TRUE(waitFor([this] { return find(5)->isPaused; }));
  EXPECT_EQ(find(5)->role, "arithmetic");
  EXPECT_TRUE(find(5)->isRoleGiven);
  stop();
  EXPECT_EQ(orders().size(), 2U) << "what nobody followed is not written down";
  EXPECT_THAT(m_session->follow({Kind::Resume, 5, {}, {}}), IsError(ErrorKind::InvalidInput, ::testing::_));
}

TEST_F(SwarmTest, AReplyIsReadAsTheSearchWouldReadIt) {
  search();
  ASSERT_TRUE(waitFor([this] { return m_report != nullptr; }));
  const auto readable = m_session->checkReply(answerWith(3));
  ASSERT_THAT(readable, IsOk());
  EXPECT_EQ(readable->intent, "attempt 3");
  EXPECT_THAT(readable->kernels, ::testing::ElementsAre("tiny_kernel"));
  EXPECT_THAT(m_session->checkReply("I would rather not."), IsError(ErrorKind::InvalidInput, ::testing::_));
  stop();
}

}  // namespace
}  // namespace swage::run
