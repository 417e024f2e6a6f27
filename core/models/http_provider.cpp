// SPDX-License-Identifier: Apache-2.0
#include "core/models/http_provider.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/models/clean_text.h"

namespace swage::models {

using std::chrono::milliseconds;

HttpProvider::HttpProvider(Endpoint endpoint, std::shared_ptr<const KeyRing> keys, std::shared_ptr<CallBudget> budget,
                           Options options, QObject* parent)
    : ChatProvider(parent),
      m_endpoint(std::move(endpoint)),
      m_keys(std::move(keys)),
      m_budget(std::move(budget)),
      m_options(std::move(options)),
      m_random(m_options.seed),
      m_limiter(m_endpoint.callsAMinute, m_endpoint.tokensAMinute),
      m_places(m_endpoint.concurrency) {
  m_wake.setSingleShot(true);
  connect(&m_wake, &QTimer::timeout, this, &HttpProvider::pump);
}

HttpProvider::~HttpProvider() = default;

milliseconds HttpProvider::patience() const {
  return m_endpoint.timeouts.total * (1 + m_options.retry.retries) + m_options.retry.longestAsked;
}

std::uint64_t HttpProvider::ask(const ChatRequest& request) {
  const std::uint64_t id = m_budget->newCall();
  const TimePoint now = m_options.now();
  Call call{.request = request, .begun = now, .notBefore = now};
  call.request.maxTokens = std::clamp(request.maxTokens, 1, m_endpoint.maxOutput);
  call.request.temperature = request.temperature ? request.temperature : m_endpoint.temperature;
  m_calls.emplace(id, std::move(call));
  wakeIn(milliseconds(0));
  return id;
}

void HttpProvider::cancel(std::uint64_t call) {
  const auto found = m_calls.find(call);
  if (found == m_calls.end()) {
    return;
  }
  if (found->second.exchange) {
    settle(found->second.outcome, found->second.exchange->usage());
  }
  QTimer::singleShot(0, this, [this, call] { finish(call, cancelledOutcome().result); });
}

ChatOutcome HttpProvider::soFar(std::uint64_t call) const {
  const auto found = m_calls.find(call);
  if (found == m_calls.end()) {
    return cancelledOutcome();
  }
  ChatOutcome outcome = found->second.outcome;
  outcome.result = cancelledOutcome().result;
  outcome.seconds = std::chrono::duration<double>(m_options.now() - found->second.begun).count();
  if (found->second.exchange) {
    settle(outcome, found->second.exchange->usage());
  }
  return outcome;
}

void HttpProvider::wakeIn(milliseconds wait) {
  if (!m_wake.isActive() || m_wake.remainingTime() > wait.count()) {
    m_wake.start(wait);
  }
}

int HttpProvider::calling() const {
  return static_cast<int>(
      std::count_if(m_calls.begin(), m_calls.end(), [](const auto& call) { return call.second.exchange != nullptr; }));
}

void HttpProvider::pump() {
  if (m_calls.empty()) {
    return;
  }
  if (m_keyState != Key::Known) {
    fetchKey();
    return;
  }
  std::vector<std::uint64_t> waiting;
  for (const auto& [id, call] : m_calls) {
    if (call.exchange == nullptr) {
      waiting.push_back(id);
    }
  }
  for (const std::uint64_t id : waiting) {
    if (calling() >= m_places.limit()) {
      return;  // the end of a call wakes us
    }
    if (const auto found = m_calls.find(id); found != m_calls.end()) {
      if (const milliseconds wait = trySend(id, found->second); wait.count() > 0) {
        wakeIn(wait);
      }
    }
  }
}

void HttpProvider::fetchKey() {
  if (m_keyState == Key::Asked) {
    return;
  }
  m_keyState = Key::Asked;
  m_keys->fetch(m_endpoint.key, this, [this](Result<Secret> key) { handleKey(std::move(key)); });
}

void HttpProvider::handleKey(Result<Secret> key) {
  if (!key) {
    m_keyState = Key::Unknown;
    failAll({.kind = FailureKind::Denied, .message = key.error().message(), .hint = key.error().hint()});
    return;
  }
  m_key = std::move(*key);
  m_keyState = Key::Known;
  wakeIn(milliseconds(0));
}

TokenUsage HttpProvider::mostOf(const ChatRequest& request) const {
  return {.input = mostInputTokens(request), .output = request.maxTokens};
}

milliseconds HttpProvider::trySend(std::uint64_t id, Call& call) {
  const TimePoint now = m_options.now();
  if (now < call.notBefore) {
    return std::chrono::ceil<milliseconds>(call.notBefore - now);
  }
  if (m_breaker.isOpen(now)) {
    finish(id, ChatFailure{.kind = FailureKind::Paused,
                           .message = "the endpoint failed so often that it is not asked for a minute"});
    return milliseconds(0);
  }
  const TokenUsage most = mostOf(call.request);
  const std::int64_t expected = estimatedTokens(byteCount(call.request)) + call.request.maxTokens;
  if (const milliseconds wait = m_limiter.take(now, expected); wait.count() > 0) {
    return wait;
  }
  if (const milliseconds wait = m_breaker.waitBeforeCall(now); wait.count() > 0) {
    return wait;
  }
  if (auto refused = m_budget->reserve(id, most, m_endpoint.price)) {
    finish(id, std::move(*refused));
    return milliseconds(0);
  }
  send(id, call);
  return milliseconds(0);
}

void HttpProvider::send(std::uint64_t id, Call& call) {
  ++call.outcome.attempts;
  call.exchange = std::make_unique<HttpExchange>(m_network, m_endpoint, m_key, call.request);
  connect(call.exchange.get(), &HttpExchange::received, this, [this, id](const std::string& text) {
    const std::array<std::string, 1> secrets{m_key.reveal()};
    Q_EMIT received(id, withoutSecrets(text, secrets));
  });
  connect(
      call.exchange.get(), &HttpExchange::ended, this, [this, id] { handleEnded(id); }, Qt::QueuedConnection);
}

// What came before a failure has been paid for: what the endpoint says, else an estimate. A call that got no answer at
// all costs nothing.
void HttpProvider::settle(ChatOutcome& outcome, const TokenUsage& usage) const {
  outcome.usage += usage;
  outcome.usd += m_endpoint.price ? m_endpoint.price->of(usage) : 0.0;
  outcome.isPriceKnown = m_endpoint.price.has_value();
}

void HttpProvider::handleEnded(std::uint64_t id) {
  const auto found = m_calls.find(id);
  if (found == m_calls.end() || found->second.exchange == nullptr) {
    return;
  }
  Call& call = found->second;
  const std::unique_ptr<HttpExchange> exchange = std::move(call.exchange);
  const bool cost = !exchange->failure() || exchange->hasBegun();
  const TokenUsage usage = cost ? exchange->usage() : TokenUsage();
  m_budget->settle(id, usage, m_endpoint.price);
  settle(call.outcome, usage);
  if (exchange->failure()) {
    handleFailure(id, call, *exchange->failure());
  } else {
    m_breaker.countSuccess();
    m_places.countSuccess();
    finish(id, withoutKey(exchange->reply()));
  }
  wakeIn(milliseconds(0));
}

void HttpProvider::handleFailure(std::uint64_t id, Call& call, ChatFailure failure) {
  const TimePoint now = m_options.now();
  ++call.failed;
  if (failure.kind == FailureKind::RateLimited || failure.http == 503 || failure.http == 529) {
    m_places.countOverload();
  }
  if (isTransient(failure)) {
    m_breaker.countFailure(now);
  }
  const bool mayBeStale = failure.http == 401 && m_endpoint.key.from == KeySource::From::Command;
  if (mayBeStale && !std::exchange(m_keyRefreshed, true)) {
    m_keyState = Key::Unknown;  // some commands give a key that is good for an hour
    return;
  }
  const auto wait = retryDelay(m_options.retry, failure, call.failed, m_random);
  if (wait && !m_breaker.isOpen(now)) {
    call.notBefore = now + *wait;
    return;
  }
  finish(id, withoutKey(std::move(failure)));
}

void HttpProvider::finish(std::uint64_t id, std::variant<ChatReply, ChatFailure> result) {
  const auto found = m_calls.find(id);
  if (found == m_calls.end()) {
    return;
  }
  ChatOutcome outcome = std::move(found->second.outcome);
  outcome.result = std::move(result);
  outcome.seconds = std::chrono::duration<double>(m_options.now() - found->second.begun).count();
  if (found->second.exchange) {
    m_budget->settle(id, found->second.exchange->usage(), m_endpoint.price);
    found->second.exchange.release()->deleteLater();
  }
  m_calls.erase(found);
  wakeIn(milliseconds(0));
  Q_EMIT ended(id, outcome);
}

void HttpProvider::failAll(const ChatFailure& failure) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, call] : m_calls) {
    ids.push_back(id);
  }
  for (const std::uint64_t id : ids) {
    QTimer::singleShot(0, this, [this, id, failure] { finish(id, failure); });
  }
}

ChatReply HttpProvider::withoutKey(ChatReply reply) const {
  const std::array<std::string, 1> secrets{m_key.reveal()};
  reply.text = withoutSecrets(reply.text, secrets);
  reply.model = withoutSecrets(reply.model, secrets);
  reply.id = withoutSecrets(reply.id, secrets);
  return reply;
}

ChatFailure HttpProvider::withoutKey(ChatFailure failure) const {
  const std::array<std::string, 1> secrets{m_key.reveal()};
  failure.message = withoutSecrets(failure.message, secrets);
  return failure;
}

}  // namespace swage::models
