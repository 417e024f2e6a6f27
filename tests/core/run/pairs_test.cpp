// SPDX-License-Identifier: Apache-2.0
// Pairs of a coder and a judge in whole searches.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/run/advice_event.h"
#include "core/run/learned_advice.h"
#include "core/store/knowledge.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Not;
using ::testing::SizeIs;

// With one rule in the project, which always has something to say.
class PairsTest : public testing::SessionFixture {
 protected:
  PairsTest() {
    m_parts.rules.emplace();
    std::filesystem::create_directories(m_spec.project / "rules");
    writeRule("candidate.launches > 0");
  }
  void writeRule(const std::string& condition) {
    std::ofstream(m_spec.project / "rules/mine.toml")
        << "[[rule]]\nid = \"mine\"\nrole = \"fusion\"\ntitle = \"Mine\"\nwhen = [\"" << condition
        << "\"]\nbottleneck = \"{candidate.launches} launches\"\nmethod = \"Change something.\"\ngain = \"1.5\"\n"
           "source = \"a person\"\nsteer.operators = {parameter = 1.0}\n";
  }
  [[nodiscard]] std::vector<std::string> events(domain::EventKind kind) const {
    std::vector<std::string> found;
    const auto all = record().events(onlyRun().id);
    EXPECT_THAT(all, IsOk());
    for (const domain::RunEvent& event : *all) {
      if (event.kind == kind) {
        found.push_back(event.json);
      }
    }
    return found;
  }
};

TEST_F(PairsTest, AdviceIsKeptWithWhatCameOfIt) {
  m_spaceSize = 1000;
  m_spec.maxEvaluations = 120;
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const auto given = events(domain::EventKind::Advice);
  ASSERT_THAT(given, Not(IsEmpty()));
  const auto first = parseGivenAdvice(given.front());
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->advice.rule, "mine");
  EXPECT_EQ(first->advice.bottleneck, "1 launches");
  const auto scored = events(domain::EventKind::AdviceScore);
  ASSERT_THAT(scored, Not(IsEmpty()));
  const auto score = parseScoredAdvice(scored.front());
  ASSERT_THAT(score, IsOk());
  EXPECT_EQ(score->expectedGain, 1.5);
  const auto all = history();
  const auto child = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == score->candidate; });
  ASSERT_NE(child, all.end());
  EXPECT_EQ(child->parents, std::vector<domain::CandidateId>{score->about});
}

TEST_F(PairsTest, WithoutAJudgeNobodySaysAnything) {
  m_spec.judge = false;
  ASSERT_FALSE(run().error);
  EXPECT_THAT(events(domain::EventKind::Advice), IsEmpty());
  EXPECT_THAT(events(domain::EventKind::AdviceScore), IsEmpty());
}

TEST_F(PairsTest, AResumedRunGoesOnWithTheCredit) {
  const services::RunOutcome first = run();
  const auto before = events(domain::EventKind::AdviceScore);
  m_spec.resume = first.run;
  m_spec.maxEvaluations = 28;
  const services::RunOutcome second = run();
  ASSERT_FALSE(second.error) << second.error->message();
  judge::RuleBook rules;
  judge::Swarm swarm(rules, {});
  ASSERT_THAT(restoreCredit(record(), onlyRun().id, swarm), IsOk());
  int followed = 0;
  for (const judge::PairState& pair : swarm.pairs()) {
    followed += pair.followed;
  }
  EXPECT_THAT(events(domain::EventKind::AdviceScore), SizeIs(static_cast<std::size_t>(followed)));
  EXPECT_GE(followed, static_cast<int>(before.size()));
}

TEST_F(PairsTest, WhatARunLearnedStartsTheNextOne) {
  m_parts.knowledge = m_folder / "data" / "knowledge.sqlite";
  m_spaceSize = 1000;
  m_spec.maxEvaluations = 120;
  const auto taught = [this] {
    return std::count_if(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
      return notice.text.find("pairs start from the results of") != std::string::npos;
    });
  };
  ASSERT_FALSE(run().error);
  EXPECT_EQ(taught(), 0);
  const auto learned = experienceOf(record(), onlyRun().id);
  ASSERT_THAT(learned, IsOk());
  ASSERT_THAT(*learned, SizeIs(1));
  EXPECT_EQ(learned->front().rule, "mine");
  EXPECT_EQ(learned->front().followed, static_cast<std::int64_t>(events(domain::EventKind::AdviceScore).size()));
  EXPECT_THAT(store::Knowledge::openToRead(m_parts.knowledge)->ofRule("mine").value(), SizeIs(1));

  m_spec.resume = onlyRun().id;
  m_spec.maxEvaluations = 125;
  ASSERT_FALSE(run().error);
  EXPECT_EQ(taught(), 0) << "its own earlier sitting is in its record";

  m_spec.resume.reset();
  m_spec.project = m_folder / "next";
  m_spec.maxEvaluations = 10;
  ASSERT_FALSE(run().error);
  EXPECT_EQ(taught(), 1);
}

TEST_F(PairsTest, ADamagedFileOfWhatWasLearnedStopsNoRun) {
  m_parts.knowledge = m_folder / "knowledge.sqlite";
  std::ofstream(m_parts.knowledge) << "this is no database";
  ASSERT_FALSE(run().error);
  EXPECT_TRUE(std::any_of(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
    return notice.text.find("the results of advice in earlier runs cannot be used") != std::string::npos;
  }));
}

TEST_F(PairsTest, ARuleThatCannotBeReadFailsTheRunBeforeItsFirstCandidate) {
  writeRule("candidate.lunches > 0");
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Config);
  EXPECT_THAT(outcome.error->message(), HasSubstr("there is no fact 'candidate.lunches'"));
  EXPECT_THAT(history(), IsEmpty());
}

TEST(AdviceEvent, IsReadAsItWasWritten) {
  judge::GivenAdvice given;
  given.pair = 5;
  given.role = judge::Role::Arithmetic;
  given.about = domain::CandidateId(12);
  given.advice = {.rule = "spills",
                  .pass = domain::AdvicePass::Functional,
                  .bottleneck = "b",
                  .method = "m",
                  .plan = "p",
                  .expectedGain = 1.25,
                  .evidence = {{"registers", 255.0, "registers"}},
                  .kernel = "k",
                  .line = 3};
  const auto read = parseGivenAdvice(adviceJson(given));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->advice, given.advice);
  EXPECT_EQ(read->role, given.role);
  EXPECT_EQ(read->about, given.about);
  EXPECT_EQ(read->model, "");
  given.model = "tester";
  EXPECT_EQ(parseGivenAdvice(adviceJson(given))->model, "tester");
  judge::ScoredAdvice scored;
  scored.rule = "spills";
  scored.candidate = domain::CandidateId(13);
  scored.achievedGain = 1.1;
  scored.reward = 0.5;
  const auto score = parseScoredAdvice(scoreJson(scored));
  ASSERT_THAT(score, IsOk());
  EXPECT_EQ(score->expectedGain, std::nullopt);
  EXPECT_EQ(score->achievedGain, 1.1);
  EXPECT_EQ(score->reward, 0.5);
  EXPECT_EQ(score->model, "");
  scored.model = "tester";
  EXPECT_EQ(parseScoredAdvice(scoreJson(scored))->model, "tester");
  EXPECT_FALSE(parseScoredAdvice("{}"));
  EXPECT_FALSE(parseGivenAdvice("{\"pair\": 1, \"role\": \"fusion\", \"about\": 2, \"advice\": {}}"));
}

}  // namespace
}  // namespace swage::run
