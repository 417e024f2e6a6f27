// SPDX-License-Identifier: Apache-2.0
#include "core/models/wire_format.h"

#include <QDateTime>
#include <QString>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/models/clean_text.h"
#include "core/models/reply_readers.h"

namespace swage::models {
namespace {

using domain::Json;

// Some write the address with the version and some without.
std::string joined(std::string base, std::string_view path) {
  constexpr std::string_view kVersion = "/v1";
  while (base.ends_with('/')) {
    base.pop_back();
  }
  if (base.ends_with(kVersion) && path.starts_with(kVersion)) {
    path.remove_prefix(kVersion.size());
  }
  return base.append(path);
}

std::string_view roleName(Role role) {
  return role == Role::User ? "user" : "assistant";
}

// Anthropic has the system's text beside the messages, the others as the first of them.
Json messagesOf(const Endpoint& endpoint, const ChatRequest& request) {
  Json messages = Json::array();
  const bool isMessage = !request.system.empty() && endpoint.kind != EndpointKind::Anthropic;
  if (isMessage && !endpoint.quirks.noSystem) {
    messages.push_back({{"role", "system"}, {"content", request.system}});
  }
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const Message& message = request.messages[i];
    const bool takesSystem = i == 0 && endpoint.quirks.noSystem && !request.system.empty();
    messages.push_back({{"role", roleName(message.role)},
                        {"content", takesSystem ? request.system + "\n\n" + message.text : message.text}});
  }
  return messages;
}

Json openAiBody(const Endpoint& endpoint, const ChatRequest& request) {
  Json body{{"model", endpoint.model}, {"messages", messagesOf(endpoint, request)}, {"stream", true}};
  body[endpoint.quirks.maxCompletionTokens ? "max_completion_tokens" : "max_tokens"] = request.maxTokens;
  if (!endpoint.quirks.noStreamOptions) {
    body["stream_options"] = {{"include_usage", true}};
  }
  if (request.temperature && !endpoint.quirks.noTemperature) {
    body["temperature"] = *request.temperature;
  }
  if (request.seed && !endpoint.quirks.noTemperature) {
    body["seed"] = *request.seed;
  }
  return body;
}

Json anthropicBody(const Endpoint& endpoint, const ChatRequest& request) {
  Json body{{"model", endpoint.model},
            {"max_tokens", request.maxTokens},
            {"messages", messagesOf(endpoint, request)},
            {"stream", true}};
  if (!request.system.empty() && !endpoint.quirks.noSystem) {
    body["system"] = request.system;
  }
  if (request.temperature && !endpoint.quirks.noTemperature) {
    body["temperature"] = *request.temperature;
  }
  return body;
}

// Its default context is small, and what does not fit is cut off without a word.
Json ollamaBody(const Endpoint& endpoint, const ChatRequest& request) {
  Json options{{"num_predict", request.maxTokens}, {"num_ctx", endpoint.maxContext}};
  if (request.temperature && !endpoint.quirks.noTemperature) {
    options["temperature"] = *request.temperature;
  }
  if (request.seed && !endpoint.quirks.noTemperature) {
    options["seed"] = *request.seed;
  }
  return {{"model", endpoint.model},
          {"messages", messagesOf(endpoint, request)},
          {"stream", true},
          {"options", std::move(options)}};
}

std::vector<HttpHeader> headersOf(const Endpoint& endpoint) {
  std::vector<HttpHeader> headers{
      {"content-type", "application/json"},
      {"accept", endpoint.kind == EndpointKind::Ollama ? "application/x-ndjson" : "text/event-stream"}};
  if (endpoint.kind == EndpointKind::Anthropic) {
    headers.push_back({"anthropic-version", "2023-06-01"});
  }
  for (const auto& [header, value] : endpoint.headers) {
    headers.push_back({header, value});
  }
  return headers;
}

std::optional<double> numberIn(std::string_view text) {
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() && value >= 0.0 && value < 1e9 ? std::optional(value)
                                                                                                : std::nullopt;
}

std::optional<std::chrono::milliseconds> retryAfterIn(std::string_view header, std::string_view value,
                                                      std::int64_t nowMs) {
  if (const auto number = numberIn(value)) {
    const double scale = header == "retry-after-ms" ? 1.0 : 1000.0;
    return std::chrono::milliseconds(static_cast<std::int64_t>(*number * scale));
  }
  constexpr std::string_view kZone = "GMT";  // the only one that HTTP has, and one that Qt does not read
  if (!value.ends_with(kZone)) {
    return std::nullopt;
  }
  const std::string numeric = std::string(value.substr(0, value.size() - kZone.size())) + "+0000";
  const QDateTime date = QDateTime::fromString(QString::fromStdString(numeric), Qt::RFC2822Date);
  return date.isValid()
             ? std::optional(std::chrono::milliseconds(std::max<std::int64_t>(0, date.toMSecsSinceEpoch() - nowMs)))
             : std::nullopt;
}

FailureKind kindOfStatus(int status) {
  constexpr int kPaymentRequired = 402;
  constexpr int kTooMany = 429;
  switch (status) {
    case 401:
    case 403: return FailureKind::Denied;
    case kPaymentRequired: return FailureKind::Quota;
    case 408:
    case 409: return FailureKind::Server;
    case kTooMany: return FailureKind::RateLimited;
    default: return status >= 500 ? FailureKind::Server : FailureKind::BadRequest;
  }
}

std::string hintOf(FailureKind kind) {
  switch (kind) {
    case FailureKind::Denied: return "check the key of this model: `swage models test NAME`";
    case FailureKind::Quota: return "the account of this key has no money or quota left";
    case FailureKind::BadRequest: return "check `model` and `base_url` of this model: `swage models test NAME`";
    default: return {};
  }
}

}  // namespace

HttpCall chatCall(const Endpoint& endpoint, const ChatRequest& request) {
  switch (endpoint.kind) {
    case EndpointKind::Anthropic:
      return {joined(endpoint.baseUrl, "/v1/messages"), headersOf(endpoint),
              domain::dumpJson(anthropicBody(endpoint, request))};
    case EndpointKind::Ollama:
      return {joined(endpoint.baseUrl, "/api/chat"), headersOf(endpoint),
              domain::dumpJson(ollamaBody(endpoint, request))};
    default:
      return {joined(endpoint.baseUrl, "/chat/completions"), headersOf(endpoint),
              domain::dumpJson(openAiBody(endpoint, request))};
  }
}

HttpCall listCall(const Endpoint& endpoint) {
  const std::string_view path = endpoint.kind == EndpointKind::Anthropic ? "/v1/models"
                                : endpoint.kind == EndpointKind::Ollama  ? "/api/tags"
                                                                         : "/models";
  return {joined(endpoint.baseUrl, path), headersOf(endpoint), {}};
}

HttpHeader keyHeader(EndpointKind kind, std::string_view key) {
  return kind == EndpointKind::Anthropic ? HttpHeader{"x-api-key", std::string(key)}
                                         : HttpHeader{"authorization", fmt::format("Bearer {}", key)};
}

std::vector<ChatEvent> ReplyReader::feed(std::string_view bytes) {
  m_bytes += m_over ? 0 : bytes.size();
  if (!m_over && m_bytes > kMaxReply) {
    say(ChatFailure{.kind = FailureKind::TooLarge,
                    .message = fmt::format("the reply has more than {} bytes", kMaxReply)});
  } else if (!m_over) {
    read(bytes);
  }
  return std::exchange(m_events, {});
}

std::vector<ChatEvent> ReplyReader::finish() {
  if (!m_over) {
    readEnd();
  }
  if (!m_over) {
    say(ChatFailure{.kind = FailureKind::Connection, .message = "the reply ended before it was complete"});
  }
  return std::exchange(m_events, {});
}

void ReplyReader::say(ChatEvent event) {
  if (m_over) {
    return;
  }
  m_over = std::holds_alternative<ReplyDone>(event) || std::holds_alternative<ChatFailure>(event);
  m_events.push_back(std::move(event));
}

void ReplyReader::sayGarbled(std::string message) {
  say(ChatFailure{.kind = FailureKind::Garbled, .message = std::move(message)});
}

void ReplyCollector::take(const ChatEvent& event) {
  if (isOver()) {
    return;
  }
  if (const auto* started = std::get_if<ReplyStarted>(&event)) {
    m_reply.model = m_reply.model.empty() ? cleanText(started->model, kMostOfMessage) : m_reply.model;
    m_reply.id = m_reply.id.empty() ? cleanText(started->id, kMostOfMessage) : m_reply.id;
  } else if (const auto* delta = std::get_if<TextDelta>(&event)) {
    m_begun = true;
    if (m_reply.text.size() + delta->text.size() > kMaxText) {
      m_failure = ChatFailure{.kind = FailureKind::TooLarge,
                              .hasBegun = true,
                              .message = fmt::format("the text of the reply has more than {} bytes", kMaxText)};
      return;
    }
    m_reply.text += delta->text;
  } else if (const auto* usage = std::get_if<UsageKnown>(&event)) {
    m_usage = usage->usage;
  } else if (const auto* done = std::get_if<ReplyDone>(&event)) {
    m_reply.reason = done->reason;
    m_done = true;
  } else {
    m_failure = std::get<ChatFailure>(event);
    m_failure->hasBegun = m_begun;
  }
}

ChatReply ReplyCollector::reply() const {
  ChatReply reply = m_reply;
  reply.text = cleanText(m_reply.text, kMaxText);
  reply.usage = usage();
  return reply;
}

TokenUsage ReplyCollector::usage() const {
  return m_usage ? *m_usage
                 : TokenUsage{.input = estimatedTokens(m_requestBytes),
                              .output = estimatedTokens(m_reply.text.size()),
                              .isEstimated = true};
}

std::optional<FailureKind> kindOfWord(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, FailureKind>, 14> kWords{{
      {"insufficient_quota", FailureKind::Quota},
      {"billing_error", FailureKind::Quota},
      {"billing_hard_limit_reached", FailureKind::Quota},
      {"authentication_error", FailureKind::Denied},
      {"permission_error", FailureKind::Denied},
      {"invalid_api_key", FailureKind::Denied},
      {"rate_limit_error", FailureKind::RateLimited},
      {"rate_limit_exceeded", FailureKind::RateLimited},
      {"overloaded_error", FailureKind::Server},
      {"api_error", FailureKind::Server},
      {"server_error", FailureKind::Server},
      {"timeout_error", FailureKind::Server},
      {"invalid_request_error", FailureKind::BadRequest},
      {"not_found_error", FailureKind::BadRequest},
  }};
  const auto* const found =
      std::find_if(kWords.begin(), kWords.end(), [word](const auto& known) { return known.first == word; });
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

ChatFailure failureOf(const HttpError& error, std::int64_t nowMs) {
  ChatFailure failure{.kind = kindOfStatus(error.status), .http = error.status, .message = {}};
  for (const auto& [header, value] : error.headers) {
    if (header == "x-should-retry" && (value == "true" || value == "false")) {
      failure.shouldRetry = value == "true";
    } else if (header == "retry-after-ms" || (header == "retry-after" && !failure.retryAfter)) {
      const auto wait = retryAfterIn(header, value, nowMs);
      failure.retryAfter = wait ? wait : failure.retryAfter;
    }
  }
  const EndpointComplaint complaint = complaintOf(error.body);
  // A status of 429 also says that the money is used up, which no waiting mends.
  for (const std::string& word : {complaint.code, complaint.type}) {
    if (const auto kind = kindOfWord(word); kind == FailureKind::Quota) {
      failure.kind = FailureKind::Quota;
    }
  }
  failure.message = complaint.message.empty() ? fmt::format("HTTP status {}", error.status)
                                              : fmt::format("HTTP status {}: {}", error.status, complaint.message);
  failure.hint = hintOf(failure.kind);
  return failure;
}

}  // namespace swage::models
