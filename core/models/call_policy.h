// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "core/base/random.h"
#include "core/models/chat.h"

// When to call, and when to call again. Pure: the time is told.
namespace swage::models {

using TimePoint = std::chrono::steady_clock::time_point;

struct RetryPolicy {
  int retries = 2;
  int retriesOnceBegun = 1;  // after a part of the reply had come, which has been paid for
  std::chrono::milliseconds first = std::chrono::milliseconds(500);
  std::chrono::milliseconds longest = std::chrono::seconds(8);
  std::chrono::milliseconds longestAsked =
      std::chrono::seconds(60);  // an endpoint that asks for more is not waited for
};
// How long to wait before the next attempt, after `failed` of them: what the endpoint asks for, else
// min(first · 2^n, longest), less up to a quarter at random, so that many callers do not come back at once. No value:
// it is not to be tried again. x-should-retry counts most.
[[nodiscard]] std::optional<std::chrono::milliseconds> retryDelay(const RetryPolicy& policy, const ChatFailure& failure,
                                                                  int failed, Random& random);
// Whether another attempt could end in another way.
[[nodiscard]] bool isTransient(const ChatFailure& failure);

// Closed until kFailures calls failed within kWindow; then nobody calls for kPause; then one call finds out whether it
// works again.
class CircuitBreaker {
 public:
  static constexpr int kFailures = 5;
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr std::chrono::seconds kPause{60};

  // Zero: now. Whoever gets it calls, and says how it ended.
  [[nodiscard]] std::chrono::milliseconds waitBeforeCall(TimePoint now);
  void countSuccess();
  void countFailure(TimePoint now);
  [[nodiscard]] bool isOpen(TimePoint now) const { return m_openUntil && now < *m_openUntil; }

 private:
  std::deque<TimePoint> m_failures;
  std::optional<TimePoint> m_openUntil;
  bool m_probing = false;  // one call is out to find out
};

// At most so many calls, and so many tokens, a minute: two buckets that fill evenly.
class RateLimiter {
 public:
  RateLimiter(std::optional<int> callsAMinute, std::optional<int> tokensAMinute)
      : m_calls{callsAMinute}, m_tokens{tokensAMinute} {}

  // Zero: now, and the call is counted. Else nothing is.
  [[nodiscard]] std::chrono::milliseconds take(TimePoint now, std::int64_t tokens);

 private:
  struct Bucket {
    std::optional<int> perMinute;
    double level = 0.0;
    std::optional<TimePoint> filled{};

    void fill(TimePoint now);
    // A call larger than the bucket goes when the bucket is full.
    [[nodiscard]] double missing(double amount) const;
    [[nodiscard]] std::chrono::milliseconds waitFor(double amount) const;
  };
  Bucket m_calls;
  Bucket m_tokens;
};

// How many calls may be out: half as many after the endpoint was overloaded, one more after as many successes as there
// are places (additive increase, multiplicative decrease).
class AdaptiveConcurrency {
 public:
  explicit AdaptiveConcurrency(int most) : m_most(most < 1 ? 1 : most), m_now(m_most) {}

  [[nodiscard]] int limit() const { return m_now; }
  void countSuccess();
  void countOverload();

 private:
  int m_most;
  int m_now;
  int m_successes = 0;
};

}  // namespace swage::models
