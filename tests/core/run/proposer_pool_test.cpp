// SPDX-License-Identifier: Apache-2.0
#include "core/run/proposer_pool.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <stdexcept>

#include "tests/core/run/scripted_proposer.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"
#include "tests/support/wait_for.h"

namespace swage::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using testing::proposerName;
using testing::ScriptedProposer;
using testing::waitFor;

class ProposerPoolTest : public ::testing::Test {
 protected:
  ProposerPoolTest() : m_pool({.now = m_clock.now(), .isElite = [this](const auto&) { return m_areElites; }}) {
    QObject::connect(&m_pool, &ProposerPool::dropped, &m_pool, [this](const auto& proposer, const Error& why) {
      m_dropped.push_back(proposer.text() + ": " + why.message());
    });
    QObject::connect(&m_pool, &ProposerPool::failed, &m_pool,
                     [this](const Error& error) { m_failures.push_back(error.message()); });
    QObject::connect(&m_pool, &ProposerPool::ready, &m_pool, [this] { ++m_ready; });
  }

  ScriptedProposer& add(std::string_view name, ScriptedProposer::Script onAsk, int width = 1) {
    auto proposer = std::make_unique<ScriptedProposer>(name, std::move(onAsk));
    proposer->mayOwe = width;
    ScriptedProposer& added = *proposer;
    EXPECT_THAT(m_pool.add(std::move(proposer)), IsOk());
    return added;
  }
  // One that always has something, at once.
  ScriptedProposer& addQuick(std::string_view name) {
    return add(name, [](ScriptedProposer& self) { Q_EMIT self.offered(offerOf(self)); });
  }
  ScriptedProposer& addSilent(std::string_view name, int width = 1) {
    return add(
        name, [](ScriptedProposer&) {}, width);
  }
  static Offer offerOf(const ScriptedProposer& proposer) {
    return {.number = proposer.asked, .madeBy = proposer.name(), .program = {}};
  }
  // Who offered the next ones.
  std::map<std::string, int> takeMany(int count) {
    std::map<std::string, int> taken;
    for (int i = 0; i < count; ++i) {
      const auto next = m_pool.next();
      if (next) {
        ++taken[next->proposer.text()];
      }
    }
    return taken;
  }
  void end(const ScriptedProposer& of, bool isElite) {
    m_areElites = isElite;
    store::CandidateRecord candidate;
    candidate.madeBy = of.name();
    candidate.evaluation = domain::Correct();
    m_pool.tell(of.name(), {.candidate = candidate});
  }
  // Past every deadline, as often as the pool looks.
  bool passDeadline(const ScriptedProposer& of) {
    m_clock.advance(of.patience());
    const int before = m_ready;
    return waitFor([&] { return m_ready > before; });
  }

  testing::FakeClock m_clock;
  bool m_areElites = false;
  std::vector<std::string> m_dropped;
  std::vector<std::string> m_failures;
  int m_ready = 0;
  ProposerPool m_pool;
};

TEST_F(ProposerPoolTest, CostsWithoutACandidateCount) {
  std::vector<std::string> told;
  QObject::connect(&m_pool, &ProposerPool::spent, &m_pool,
                   [&told](const auto& proposer, const search::Cost& cost, const std::string& conversation) {
                     told.push_back(proposer.text() + " " + std::to_string(cost.tokens) + " " + conversation);
                   });
  ScriptedProposer& model = add(
      "model",
      [](ScriptedProposer& self) {
        Offer offer = offerOf(self);
        offer.cost.tokens = 5;
        Q_EMIT self.offered(offer);
      },
      2);
  Q_EMIT model.spent({.seconds = 0.0, .cents = 0.0, .tokens = 70}, "a failed call");
  EXPECT_EQ(m_pool.credits().spent().tokens, 70);
  ASSERT_TRUE(m_pool.next());
  model.ask();  // nobody has asked for that
  m_pool.stop();
  Q_EMIT model.spent({.seconds = 0.0, .cents = 0.0, .tokens = 3}, "a call that was out");
  EXPECT_THAT(told, ElementsAre("model 70 a failed call", "model 5 ", "model 3 a call that was out"));
  EXPECT_EQ(m_pool.credits().spent().tokens, 83);
}

TEST_F(ProposerPoolTest, WhoIsAloneGetsEveryTurn) {
  addQuick("search");
  EXPECT_EQ(takeMany(10), (std::map<std::string, int>{{"search", 10}}));
}

TEST_F(ProposerPoolTest, WhoIsHeldGetsNoTurnsUntilItIsReleased) {
  const ScriptedProposer& search = addQuick("search");
  const ScriptedProposer& coder = addQuick("coder one");
  EXPECT_TRUE(m_pool.hold(coder.name(), true));
  EXPECT_TRUE(m_pool.isHeld(coder.name()));
  EXPECT_EQ(takeMany(20), (std::map<std::string, int>{{"search", 20}}));
  EXPECT_DOUBLE_EQ(m_pool.credits().share(search.name()), 1.0);
  EXPECT_TRUE(m_pool.hold(coder.name(), false));
  EXPECT_EQ(takeMany(20).size(), 2U);
  EXPECT_FALSE(m_pool.hold(proposerName("nobody"), true));
}

TEST_F(ProposerPoolTest, ARunWaitsForWhoIsHeldAndNobodyIsLateMeanwhile) {
  ScriptedProposer& coder = addSilent("coder");
  EXPECT_FALSE(m_pool.next());
  EXPECT_TRUE(m_pool.hold(coder.name(), true));
  m_clock.advance(coder.patience() * 10);
  EXPECT_FALSE(m_pool.next());
  EXPECT_TRUE(m_pool.isWaiting());
  EXPECT_THAT(m_dropped, IsEmpty());
  m_pool.pause();
  m_pool.resume();
  EXPECT_EQ(coder.resumed, 0) << "a run that goes on does not release it";
  EXPECT_TRUE(m_pool.hold(coder.name(), false));
  EXPECT_EQ(coder.resumed, 1);
}

TEST_F(ProposerPoolTest, TurnsFollowTheCredit) {
  const ScriptedProposer& search = addQuick("search");
  const ScriptedProposer& coder = addQuick("coder one");
  EXPECT_EQ(takeMany(100), (std::map<std::string, int>{{"coder one", 50}, {"search", 50}}));
  for (int i = 0; i < 200; ++i) {
    end(search, true);
    end(coder, false);
  }
  auto later = takeMany(1000);
  EXPECT_NEAR(later["coder one"], 50, 3) << "the floor";
  EXPECT_EQ(later["search"] + later["coder one"], 1000);
}

TEST_F(ProposerPoolTest, WhoOwesAnAnswerIsLeftOutAndTheOthersHaveItsTurns) {
  const ScriptedProposer& dead = addSilent("dead");
  addQuick("search");
  EXPECT_EQ(takeMany(50), (std::map<std::string, int>{{"search", 50}}));
  EXPECT_EQ(dead.asked, 1);
}

TEST_F(ProposerPoolTest, AsManyAnswersMayBeOwedAsAProposerSays) {
  const ScriptedProposer& slow = addSilent("slow", 3);
  addQuick("search");
  takeMany(50);
  EXPECT_EQ(slow.asked, 3);
}

TEST_F(ProposerPoolTest, AnAnswerIsTakenWhenItComesAndComesFirst) {
  ScriptedProposer& slow = addSilent("slow");
  addQuick("search");
  takeMany(5);
  EXPECT_EQ(m_ready, 0);
  Q_EMIT slow.offered(offerOf(slow));
  EXPECT_EQ(m_ready, 1);
  EXPECT_EQ(m_pool.next()->proposer, slow.name());
  EXPECT_EQ(m_pool.next()->proposer.text(), "search");
}

TEST_F(ProposerPoolTest, NobodySavesUpTurnsWhileItHasNothing) {
  ScriptedProposer& lazy = add("lazy", [](ScriptedProposer& self) {
    if (self.asked == 1) {
      Q_EMIT self.passed(Proposer::Pass::UntilNews);
    } else {
      Q_EMIT self.offered(offerOf(self));
    }
  });
  addQuick("search");
  EXPECT_EQ(takeMany(100), (std::map<std::string, int>{{"search", 100}}));
  EXPECT_EQ(lazy.asked, 1) << "there were no news";
  Q_EMIT lazy.awoke();
  EXPECT_EQ(m_ready, 1);
  EXPECT_NEAR(takeMany(20)["lazy"], 10, 1);
}

TEST_F(ProposerPoolTest, TheEndOfAnyCandidateIsNews) {
  ScriptedProposer& lazy = add("lazy", [](ScriptedProposer& self) { Q_EMIT self.passed(Proposer::Pass::UntilNews); });
  const ScriptedProposer& search = addQuick("search");
  takeMany(3);
  EXPECT_EQ(lazy.asked, 1);
  end(search, false);
  takeMany(3);
  EXPECT_EQ(lazy.asked, 2);
}

TEST_F(ProposerPoolTest, WhoPassesForGoodIsAskedNoMoreAndStillHears) {
  ScriptedProposer& done = add("done", [](ScriptedProposer& self) { Q_EMIT self.passed(Proposer::Pass::ForGood); });
  const ScriptedProposer& search = addQuick("search");
  takeMany(3);
  end(search, false);
  takeMany(3);
  EXPECT_EQ(done.asked, 1);
  EXPECT_EQ(done.observed.size(), 1U);
  EXPECT_DOUBLE_EQ(m_pool.credits().share(search.name()), 1.0);
  EXPECT_THAT(m_dropped, IsEmpty());
}

TEST_F(ProposerPoolTest, OneThatPassesAndWakesInOneBreathHoldsNobodyUp) {
  add("restless", [](ScriptedProposer& self) {
    Q_EMIT self.passed(Proposer::Pass::UntilNews);
    Q_EMIT self.awoke();
  });
  EXPECT_FALSE(m_pool.next()) << "alone";
  addQuick("search");
  EXPECT_TRUE(m_pool.next());
}

TEST_F(ProposerPoolTest, AnOverdueAnswerIsNotWaitedForAndIsTakenAllTheSame) {
  ScriptedProposer& slow = addSilent("slow");
  EXPECT_FALSE(m_pool.next());
  EXPECT_TRUE(m_pool.isWaiting());
  ASSERT_TRUE(passDeadline(slow));
  EXPECT_FALSE(m_pool.isWaiting());
  Q_EMIT slow.offered(offerOf(slow));
  EXPECT_TRUE(m_pool.isWaiting()) << "an offer lies here";
  EXPECT_TRUE(m_pool.next());
}

TEST_F(ProposerPoolTest, WhoIsOverdueTooOftenIsAskedNoMoreUntilItAnswers) {
  const ScriptedProposer& search = addQuick("search");
  ScriptedProposer& dead = addSilent("dead");
  for (int i = 0; i < ProposerPool::kMisses; ++i) {
    takeMany(3);
    ASSERT_TRUE(passDeadline(dead));
  }
  takeMany(20);
  EXPECT_EQ(dead.asked, ProposerPool::kMisses);
  EXPECT_THAT(m_dropped, ElementsAre("dead: 'dead' does not answer"));
  EXPECT_DOUBLE_EQ(m_pool.credits().share(search.name()), 1.0);
  Q_EMIT dead.offered(offerOf(dead));
  EXPECT_EQ(m_pool.next()->proposer, dead.name());
  takeMany(20);
  EXPECT_EQ(dead.asked, ProposerPool::kMisses + 1);
}

TEST_F(ProposerPoolTest, ADeadlineDoesNotPassDuringAPause) {
  ScriptedProposer& slow = addSilent("slow");
  EXPECT_FALSE(m_pool.next());
  m_pool.pause();
  EXPECT_EQ(slow.pauses, 1);
  m_clock.advance(10 * slow.patience());
  m_pool.resume();
  EXPECT_TRUE(m_pool.isWaiting());
  ASSERT_TRUE(passDeadline(slow));
  EXPECT_FALSE(m_pool.isWaiting());
}

TEST_F(ProposerPoolTest, WhatNobodyAskedForIsNotTaken) {
  ScriptedProposer& pushing = addQuick("pushing");
  ASSERT_TRUE(m_pool.next());
  for (int i = 0; i < 1000; ++i) {
    Q_EMIT pushing.offered(offerOf(pushing));
  }
  m_pool.stop();
  EXPECT_FALSE(m_pool.isWaiting());
  EXPECT_EQ(m_pool.credits().find(pushing.name())->offered, 1);
}

TEST_F(ProposerPoolTest, WhoPosesAsSomebodyElseIsDropped) {
  addQuick("search");
  add("impostor", [](ScriptedProposer& self) {
    Q_EMIT self.offered({.number = 1, .madeBy = domain::OperatorKind::Synthesis, .program = {}});
  });
  EXPECT_EQ(takeMany(10), (std::map<std::string, int>{{"search", 10}}));
  EXPECT_THAT(m_dropped, ElementsAre(HasSubstr("'impostor' offers a program as if it were 'synthesis'")));
}

TEST_F(ProposerPoolTest, WhoThrowsIsDropped) {
  add("throwing", [](ScriptedProposer&) { throw std::runtime_error("out of tokens"); });
  add("odd", [](ScriptedProposer&) { throw 7; });
  addQuick("search");
  EXPECT_EQ(takeMany(10), (std::map<std::string, int>{{"search", 10}}));
  EXPECT_THAT(m_dropped, ElementsAre(HasSubstr("'throwing' threw an exception: out of tokens"),
                                     HasSubstr("'odd' threw an exception")));
  EXPECT_THAT(m_failures, IsEmpty());
}

TEST_F(ProposerPoolTest, TheLastOnesFailureIsThePools) {
  add("first", [](ScriptedProposer& self) { Q_EMIT self.failed(Error(ErrorKind::Internal, "broken")); });
  add("second", [](ScriptedProposer& self) { Q_EMIT self.failed(Error(ErrorKind::Internal, "broken, too")); });
  EXPECT_FALSE(m_pool.next());
  EXPECT_THAT(m_dropped, ElementsAre("first: broken"));
  EXPECT_THAT(m_failures, ElementsAre("broken, too"));
}

TEST_F(ProposerPoolTest, TheLastModelsFailureIsTroubleAndNothingFails) {
  const auto refused = [](ScriptedProposer& self) {
    Q_EMIT self.failed(Error(ErrorKind::ModelUnavailable, "the key is refused", "check the key"));
  };
  add("first", refused);
  ScriptedProposer& second = addSilent("second");
  EXPECT_FALSE(m_pool.next());
  EXPECT_EQ(second.asked, 1);
  EXPECT_TRUE(m_pool.isAnybodyLeft());
  EXPECT_FALSE(m_pool.trouble()) << "an answer is owed";
  Q_EMIT second.failed(Error(ErrorKind::BudgetExhausted, "all is spent", "spend more"));
  EXPECT_FALSE(m_pool.isAnybodyLeft());
  EXPECT_FALSE(m_pool.isWaiting());
  EXPECT_THAT(m_failures, IsEmpty());
  EXPECT_THAT(m_dropped, ElementsAre("first: the key is refused", "second: all is spent"));
  const std::optional<Error> trouble = m_pool.trouble();
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->kind(), ErrorKind::ModelUnavailable);
  EXPECT_EQ(trouble->message(), "the key is refused; all is spent");
  EXPECT_EQ(trouble->hint(), "check the key");
}

TEST_F(ProposerPoolTest, WhoFailedLastIsInTroubleAndARestIsWaitedFor) {
  ScriptedProposer& model = add("model", [](ScriptedProposer& self) { Q_EMIT self.passed(Proposer::Pass::UntilNews); });
  EXPECT_FALSE(m_pool.next());
  EXPECT_FALSE(m_pool.isWaiting());
  EXPECT_FALSE(m_pool.trouble());
  model.rests = true;
  model.failedLast = Error(ErrorKind::ModelUnavailable, "no connection");
  EXPECT_TRUE(m_pool.isWaiting());
  ASSERT_TRUE(m_pool.trouble());
  EXPECT_EQ(m_pool.trouble()->message(), "no connection");
  Q_EMIT model.awoke();
  EXPECT_FALSE(m_pool.next());
  EXPECT_EQ(model.asked, 2);
}

TEST(ProposerPoolBudget, EndsWithWhoCostsSomethingBeforeItIsExceeded) {
  ProposerPool pool({.budget = {.seconds = 0.0, .cents = 10.0}});
  std::vector<std::string> dropped;
  QObject::connect(&pool, &ProposerPool::dropped, &pool, [&](const auto& proposer, const Error& why) {
    dropped.push_back(proposer.text() + ": " + why.message());
  });
  const auto quick = [](std::string_view name, double cents) {
    return std::make_unique<ScriptedProposer>(name, [cents](ScriptedProposer& self) {
      Offer offer{.number = self.asked, .madeBy = self.name(), .program = {}};
      offer.cost.cents = cents;
      Q_EMIT self.offered(offer);
    });
  };
  ASSERT_THAT(pool.add(quick("search", 0.0)), IsOk());
  ASSERT_THAT(pool.add(quick("model", 3.0)), IsOk());
  std::map<std::string, int> taken;
  for (int i = 0; i < 200; ++i) {
    ++taken[pool.next()->proposer.text()];
  }
  EXPECT_EQ(taken["model"], 3) << "a fourth would make it 12 cents";
  EXPECT_EQ(taken["search"], 197);
  EXPECT_THAT(dropped, ElementsAre("model: the budget for 'model' is used up"));
  EXPECT_FALSE(pool.trouble()) << "the search is well";
  EXPECT_LE(pool.credits().spent().cents, 10.0);
}

TEST(ProposerPoolBudget, CountsWhatIsOwed) {
  ProposerPool pool({.budget = {.seconds = 0.0, .cents = 0.0, .tokens = 100}});
  auto owner = std::make_unique<ScriptedProposer>("model", [](ScriptedProposer&) {});
  owner->mayOwe = 50;
  owner->most.tokens = 30;
  ScriptedProposer& model = *owner;
  ASSERT_THAT(pool.add(std::move(owner)), IsOk());
  EXPECT_FALSE(pool.next());
  EXPECT_EQ(model.asked, 3);
}

TEST_F(ProposerPoolTest, TwoOfOneNameAreRefused) {
  addQuick("search");
  EXPECT_THAT(m_pool.add(std::make_unique<ScriptedProposer>("search", [](ScriptedProposer&) {})),
              IsError(ErrorKind::InvalidInput, HasSubstr("two proposers named 'search'")));
}

TEST_F(ProposerPoolTest, ItsOwnerHearsOfAnEndAndTheOthersObserveIt) {
  ScriptedProposer& search = addQuick("search");
  ScriptedProposer& coder = addQuick("coder one");
  end(coder, true);
  EXPECT_EQ(coder.heard.size(), 1U);
  EXPECT_EQ(coder.elites, 1);
  EXPECT_EQ(search.observed.size(), 1U);
  EXPECT_THAT(coder.observed, IsEmpty());
  const search::ProposerCredit* credit = m_pool.credits().find(coder.name());
  ASSERT_NE(credit, nullptr);
  EXPECT_EQ(credit->improved, 1);
}

TEST_F(ProposerPoolTest, ACandidateOfAnEarlierSittingCountsForItsMakerAndAllObserveIt) {
  ScriptedProposer& coder = addQuick("coder one");
  store::CandidateRecord candidate;
  candidate.madeBy = coder.name();
  candidate.evaluation = domain::Correct();
  m_pool.show({.candidate = candidate});
  EXPECT_EQ(coder.observed.size(), 1U);
  EXPECT_EQ(m_pool.credits().find(coder.name())->offered, 1);
  EXPECT_EQ(m_pool.credits().find(coder.name())->correct, 1);
}

TEST_F(ProposerPoolTest, ACostThatCannotBeIsLeftOut) {
  const ScriptedProposer& odd = add("odd", [](ScriptedProposer& self) {
    Offer offer = offerOf(self);
    offer.cost = {.seconds = std::numeric_limits<double>::infinity(), .cents = 2.0, .tokens = -5};
    Q_EMIT self.offered(offer);
  });
  const auto taken = m_pool.next();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->offer.cost, (search::Cost{.seconds = 0.0, .cents = 2.0, .tokens = 0}));
  EXPECT_EQ(m_pool.credits().find(odd.name())->cost, taken->offer.cost);
}

}  // namespace
}  // namespace swage::run
