// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QNetworkAccessManager>
#include <QTimer>

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "core/base/monotonic_now.h"
#include "core/models/call_budget.h"
#include "core/models/call_policy.h"
#include "core/models/chat_provider.h"
#include "core/models/endpoint.h"
#include "core/models/http_exchange.h"
#include "core/models/key_ring.h"

namespace swage::models {

// An endpoint over HTTP. Calls wait for a place, for the limits of rate, and for the pause of an endpoint that fails;
// what fails in passing is tried again; each attempt is reserved in the budget first. The key is fetched for the first
// call, kept in memory, and fetched once more when it is denied. Texts of the endpoint come out without it.
class HttpProvider final : public ChatProvider {
  Q_OBJECT

 public:
  struct Options {
    RetryPolicy retry{};
    MonotonicNow now = [] { return std::chrono::steady_clock::now(); };
    std::uint64_t seed = 1;  // of the jitter
  };

  HttpProvider(Endpoint endpoint, std::shared_ptr<const KeyRing> keys, std::shared_ptr<CallBudget> budget,
               Options options, QObject* parent = nullptr);
  ~HttpProvider() override;

  [[nodiscard]] std::uint64_t ask(const ChatRequest& request) override;
  void cancel(std::uint64_t call) override;
  [[nodiscard]] ChatOutcome soFar(std::uint64_t call) const override;
  [[nodiscard]] int width() const override { return m_endpoint.concurrency; }
  [[nodiscard]] std::chrono::milliseconds patience() const override;

 private:
  struct Call {
    ChatRequest request;
    TimePoint begun;
    TimePoint notBefore;
    int failed = 0;
    ChatOutcome outcome{};  // what attempts have cost so far
    std::unique_ptr<HttpExchange> exchange{};
  };
  enum class Key : std::uint8_t { Unknown, Asked, Known };

  void pump();
  void wakeIn(std::chrono::milliseconds wait);
  void fetchKey();
  void handleKey(Result<Secret> key);
  // Whether it was sent; else when it can be.
  [[nodiscard]] std::chrono::milliseconds trySend(std::uint64_t id, Call& call);
  void send(std::uint64_t id, Call& call);
  void handleEnded(std::uint64_t id);
  void handleFailure(std::uint64_t id, Call& call, ChatFailure failure);
  void settle(ChatOutcome& outcome, const TokenUsage& usage) const;
  void finish(std::uint64_t id, std::variant<ChatReply, ChatFailure> result);
  void failAll(const ChatFailure& failure);
  [[nodiscard]] int calling() const;
  [[nodiscard]] TokenUsage mostOf(const ChatRequest& request) const;
  [[nodiscard]] ChatReply withoutKey(ChatReply reply) const;
  [[nodiscard]] ChatFailure withoutKey(ChatFailure failure) const;

  Endpoint m_endpoint;
  std::shared_ptr<const KeyRing> m_keys;
  std::shared_ptr<CallBudget> m_budget;
  Options m_options;
  Random m_random;
  CircuitBreaker m_breaker;
  RateLimiter m_limiter;
  AdaptiveConcurrency m_places;
  QNetworkAccessManager m_network;
  QTimer m_wake;
  Secret m_key;
  Key m_keyState = Key::Unknown;
  bool m_keyRefreshed = false;
  std::map<std::uint64_t, Call> m_calls;  // oldest first
};

}  // namespace swage::models
