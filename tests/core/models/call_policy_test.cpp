// SPDX-License-Identifier: Apache-2.0
#include "core/models/call_policy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/models/call_budget.h"

namespace swage::models {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChatFailure failureOf(FailureKind kind) {
  return {.kind = kind};
}

TEST(RetryPolicy, WaitsLongerEachTimeAndNotForever) {
  Random random(1);
  RetryPolicy policy;
  policy.retries = 10;
  for (int failed = 1; failed <= 10; ++failed) {
    const auto wait = retryDelay(policy, failureOf(FailureKind::Server), failed, random);
    const double most = std::min(500.0 * std::pow(2.0, failed - 1), 8000.0);
    ASSERT_TRUE(wait);
    EXPECT_LE(static_cast<double>(wait->count()), most);
    EXPECT_GE(static_cast<double>(wait->count()), 0.74 * most);
  }
  EXPECT_FALSE(retryDelay(policy, failureOf(FailureKind::Server), 11, random));
}

TEST(RetryPolicy, DoesWhatTheEndpointAsks) {
  Random random(1);
  ChatFailure limited{.kind = FailureKind::RateLimited, .retryAfter = seconds(7)};
  EXPECT_EQ(retryDelay({}, limited, 1, random), seconds(7));
  limited.retryAfter = seconds(61);
  EXPECT_FALSE(retryDelay({}, limited, 1, random)) << "that is for a person to decide";
  ChatFailure server = failureOf(FailureKind::Server);
  server.shouldRetry = false;
  EXPECT_FALSE(retryDelay({}, server, 1, random));
  ChatFailure request = failureOf(FailureKind::BadRequest);
  request.shouldRetry = true;
  EXPECT_TRUE(retryDelay({}, request, 1, random));
}

TEST(RetryPolicy, WhatNoTimeMendsIsNotTriedAgain) {
  Random random(1);
  for (const FailureKind kind : {FailureKind::Denied, FailureKind::Quota, FailureKind::BadRequest, FailureKind::Budget,
                                 FailureKind::TooLarge, FailureKind::Paused, FailureKind::Cancelled}) {
    EXPECT_FALSE(retryDelay({}, failureOf(kind), 1, random)) << name(kind);
  }
  ChatFailure begun = failureOf(FailureKind::Connection);
  begun.hasBegun = true;
  EXPECT_TRUE(retryDelay({}, begun, 1, random));
  EXPECT_FALSE(retryDelay({}, begun, 2, random)) << "a reply that breaks off twice has been paid for twice";
}

TEST(CircuitBreaker, OpensAfterFiveFailuresAndLetsOneTryAfterAMinute) {
  CircuitBreaker breaker;
  TimePoint now{};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(breaker.waitBeforeCall(now).count(), 0);
    breaker.countFailure(now += seconds(1));
  }
  EXPECT_TRUE(breaker.isOpen(now));
  EXPECT_GT(breaker.waitBeforeCall(now), seconds(59));
  now += seconds(61);
  EXPECT_EQ(breaker.waitBeforeCall(now).count(), 0);
  EXPECT_GT(breaker.waitBeforeCall(now).count(), 0) << "only one finds out";
  breaker.countFailure(now);
  EXPECT_TRUE(breaker.isOpen(now)) << "one failure is enough now";
  now += seconds(61);
  EXPECT_EQ(breaker.waitBeforeCall(now).count(), 0);
  breaker.countSuccess();
  EXPECT_EQ(breaker.waitBeforeCall(now).count(), 0);
}

TEST(CircuitBreaker, ForgetsFailuresThatAreFarApart) {
  CircuitBreaker breaker;
  TimePoint now{};
  for (int i = 0; i < 20; ++i) {
    breaker.countFailure(now += seconds(20));
  }
  EXPECT_FALSE(breaker.isOpen(now));
}

TEST(RateLimiter, SpreadsCallsAndTokensOverAMinute) {
  RateLimiter calls(2, std::nullopt);
  TimePoint now{};
  EXPECT_EQ(calls.take(now, 0).count(), 0);
  EXPECT_EQ(calls.take(now, 0).count(), 0);
  EXPECT_EQ(calls.take(now, 0), seconds(30));
  EXPECT_EQ(calls.take(now + seconds(30), 0).count(), 0);

  RateLimiter tokens(std::nullopt, 600);
  EXPECT_EQ(tokens.take(now, 500).count(), 0);
  EXPECT_EQ(tokens.take(now, 200), seconds(10));
  EXPECT_GT(tokens.take(now, 10'000), seconds(0));
  EXPECT_EQ(tokens.take(now + seconds(60), 10'000).count(), 0) << "what is larger than the bucket takes all of it";
  EXPECT_EQ(RateLimiter(std::nullopt, std::nullopt).take(now, 1 << 30).count(), 0);
}

TEST(AdaptiveConcurrency, HalvesWhenOverloadedAndComesBackOneByOne) {
  AdaptiveConcurrency places(8);
  places.countOverload();
  EXPECT_EQ(places.limit(), 4);
  places.countOverload();
  places.countOverload();
  places.countOverload();
  EXPECT_EQ(places.limit(), 1);
  places.countSuccess();
  EXPECT_EQ(places.limit(), 2);
  places.countSuccess();
  EXPECT_EQ(places.limit(), 2);
  places.countSuccess();
  EXPECT_EQ(places.limit(), 3);
}

const std::optional<TokenPrice> kPrice = TokenPrice{.input = 1.0, .cachedInput = 0.1, .output = 10.0};

TEST(CallBudget, IsReservedBeforeACallAndHolds) {
  CallBudget budget({.usd = 0.10});
  const TokenUsage most{.input = 10'000, .output = 4'000};  // 0.05
  EXPECT_FALSE(budget.reserve(1, most, kPrice));
  EXPECT_FALSE(budget.reserve(2, most, kPrice));
  EXPECT_EQ(budget.reserve(3, most, kPrice)->kind, FailureKind::Budget) << "nothing is spent yet, but it may be";
  budget.settle(1, {.input = 1'000, .output = 100}, kPrice);
  EXPECT_NEAR(budget.spent().usd, 0.002, 1e-9);
  EXPECT_TRUE(budget.reserve(3, most, kPrice).has_value());
  budget.settle(2, {.input = 10'000, .output = 3'800}, kPrice);
  EXPECT_FALSE(budget.reserve(4, most, kPrice));
  budget.settle(4, most, kPrice);
  EXPECT_TRUE(budget.reserve(5, {.input = 1}, kPrice)) << "nothing is left";
  EXPECT_NEAR(budget.spent().usd, 0.10, 1e-9);
}

TEST(CallBudget, TokensCountWithAndWithoutAPrice) {
  CallBudget budget({.tokens = 1000});
  EXPECT_FALSE(budget.reserve(1, {.input = 500, .output = 400}, std::nullopt));
  EXPECT_TRUE(budget.reserve(2, {.input = 101}, std::nullopt));
  budget.settle(1, {.input = 500, .output = 100}, std::nullopt);
  EXPECT_EQ(budget.spent().tokens, 600);
  EXPECT_FALSE(budget.spent().isPriceKnown);
  budget.takeUp(1.0, 300);
  EXPECT_TRUE(budget.reserve(3, {.input = 101}, std::nullopt)) << "what an earlier sitting spent counts";
}

TEST(CallBudget, DollarsNeedAPrice) {
  CallBudget budget({.usd = 5.0});
  const auto refused = budget.reserve(1, {.input = 1}, std::nullopt);
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->message, ::testing::HasSubstr("price"));
}

TEST(TokenPrice, CountsCachedInputAtItsOwnPrice) {
  EXPECT_NEAR(kPrice->of({.input = 1'000'000, .cachedInput = 500'000, .output = 100'000}), 0.5 + 0.05 + 1.0, 1e-9);
}

}  // namespace
}  // namespace swage::models
