// SPDX-License-Identifier: Apache-2.0
#include "core/models/call_policy.h"

#include <algorithm>
#include <cmath>

namespace swage::models {
namespace {

using std::chrono::milliseconds;

constexpr double kMsOfMinute = 60'000.0;

}  // namespace

bool isTransient(const ChatFailure& failure) {
  if (failure.shouldRetry) {
    return *failure.shouldRetry;
  }
  switch (failure.kind) {
    case FailureKind::Connection:
    case FailureKind::Timeout:
    case FailureKind::RateLimited:
    case FailureKind::Server:
    case FailureKind::Garbled: return true;
    case FailureKind::TooLarge:
    case FailureKind::Denied:
    case FailureKind::Quota:
    case FailureKind::BadRequest:
    case FailureKind::Budget:
    case FailureKind::Paused:
    case FailureKind::Cancelled: return false;
  }
  return false;
}

std::optional<milliseconds> retryDelay(const RetryPolicy& policy, const ChatFailure& failure, int failed,
                                       Random& random) {
  constexpr int kMostDoublings = 20;
  const int most = failure.hasBegun ? std::min(policy.retries, policy.retriesOnceBegun) : policy.retries;
  if (!isTransient(failure) || failed > most) {
    return std::nullopt;
  }
  if (failure.retryAfter) {
    return *failure.retryAfter <= policy.longestAsked ? failure.retryAfter : std::nullopt;
  }
  const double doubled =
      std::ldexp(static_cast<double>(policy.first.count()), std::clamp(failed - 1, 0, kMostDoublings));
  constexpr double kJitter = 0.25;
  const double wait = std::min(doubled, static_cast<double>(policy.longest.count())) * (1.0 - kJitter * random.unit());
  return milliseconds(static_cast<std::int64_t>(wait));
}

milliseconds CircuitBreaker::waitBeforeCall(TimePoint now) {
  if (!m_openUntil) {
    return milliseconds(0);
  }
  if (now < *m_openUntil) {
    return std::chrono::duration_cast<milliseconds>(*m_openUntil - now) + milliseconds(1);
  }
  if (m_probing) {
    return std::chrono::duration_cast<milliseconds>(kPause);
  }
  m_probing = true;
  return milliseconds(0);
}

void CircuitBreaker::countSuccess() {
  m_failures.clear();
  m_openUntil.reset();
  m_probing = false;
}

void CircuitBreaker::countFailure(TimePoint now) {
  m_failures.push_back(now);
  while (now - m_failures.front() > kWindow) {
    m_failures.pop_front();
  }
  if (m_probing || static_cast<int>(m_failures.size()) >= kFailures) {
    m_openUntil = now + kPause;
    m_probing = false;
    m_failures.clear();
  }
}

void RateLimiter::Bucket::fill(TimePoint now) {
  if (!perMinute) {
    return;
  }
  const double most = *perMinute;
  const double since = filled ? std::chrono::duration<double, std::milli>(now - *filled).count() : kMsOfMinute;
  level = std::min(most, level + most * since / kMsOfMinute);
  filled = now;
}

double RateLimiter::Bucket::missing(double amount) const {
  return perMinute ? std::min(amount, static_cast<double>(*perMinute)) - level : 0.0;
}

milliseconds RateLimiter::Bucket::waitFor(double amount) const {
  const double lacking = missing(amount);
  constexpr double kRounding = 1e-6;
  return lacking <= kRounding ? milliseconds(0)
                              : milliseconds(static_cast<std::int64_t>(std::ceil(lacking / *perMinute * kMsOfMinute)));
}

milliseconds RateLimiter::take(TimePoint now, std::int64_t tokens) {
  m_calls.fill(now);
  m_tokens.fill(now);
  const auto amount = static_cast<double>(tokens);
  const milliseconds wait = std::max(m_calls.waitFor(1.0), m_tokens.waitFor(amount));
  if (wait.count() == 0) {
    m_calls.level -= 1.0;
    m_tokens.level -= amount;
  }
  return wait;
}

void AdaptiveConcurrency::countSuccess() {
  if (m_now < m_most && ++m_successes >= m_now) {
    ++m_now;
    m_successes = 0;
  }
}

void AdaptiveConcurrency::countOverload() {
  m_now = std::max(1, m_now / 2);
  m_successes = 0;
}

}  // namespace swage::models
