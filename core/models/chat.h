// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What is asked of a language model and what it answers, whatever the endpoint speaks. Values only.
namespace swage::models {

enum class Role : std::uint8_t { User, Assistant };

struct Message {
  Role role = Role::User;
  std::string text;
  friend bool operator==(const Message&, const Message&) = default;
};

struct ChatRequest {
  std::string system{};
  std::vector<Message> messages{};  // in turns; the first and the last are the user's
  int maxTokens = 8192;             // of the reply
  std::optional<double> temperature{};
  std::optional<std::int64_t> seed{};
  friend bool operator==(const ChatRequest&, const ChatRequest&) = default;
};

// Of one call. `input` includes `cachedInput`, `output` what a model thought before it answered.
struct TokenUsage {
  std::int64_t input = 0;
  std::int64_t cachedInput = 0;
  std::int64_t output = 0;
  bool isEstimated = false;  // the endpoint did not say: counted from bytes

  [[nodiscard]] std::int64_t total() const { return input + output; }
  TokenUsage& operator+=(const TokenUsage& other);
  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

enum class StopReason : std::uint8_t {
  End,
  Length,   // the reply is cut off
  Refused,  // by the model or by a filter in front of it
  Other
};
[[nodiscard]] std::string_view name(StopReason reason);

enum class FailureKind : std::uint8_t {
  Connection,   // none, or it broke before the end of the reply
  Timeout,      // nothing came for too long
  RateLimited,  // too many calls, or too many tokens
  Server,       // it failed by itself, or is overloaded
  Garbled,      // what came is no reply
  TooLarge,     // more than a reply may have
  Denied,       // the key is missing, wrong, or may not do this
  Quota,        // the account has no more money
  BadRequest,   // such as a model that is not there
  Budget,       // of the user, here
  Paused,       // the endpoint failed so often that it is not asked for a while
  Cancelled
};
[[nodiscard]] std::string_view name(FailureKind kind);

struct ChatFailure {
  FailureKind kind = FailureKind::Connection;
  int http = 0;                                           // status; 0: none came
  std::optional<std::chrono::milliseconds> retryAfter{};  // as the endpoint asks
  std::optional<bool> shouldRetry{};                      // the same
  bool hasBegun = false;                                  // a part of the reply had come
  std::string message{};                                  // of the endpoint, shortened; without keys
  std::string hint{};                                     // what the user can do
};

// What a reply is made of while it streams.
struct ReplyStarted {
  std::string model;  // that answers, by its own name
  std::string id;     // of the reply
};
struct TextDelta {
  std::string text;  // may end inside of a UTF-8 sequence
};
struct UsageKnown {
  TokenUsage usage;  // takes the place of what was said before
};
struct ReplyDone {
  StopReason reason = StopReason::End;
};
using ChatEvent = std::variant<ReplyStarted, TextDelta, UsageKnown, ReplyDone, ChatFailure>;

struct ChatReply {
  std::string text{};  // UTF-8 without control characters (sanitised())
  std::string model{};
  std::string id{};
  StopReason reason = StopReason::End;
  TokenUsage usage{};
};

// An estimate from the size of a text in bytes, for code: 3.6 bytes a token.
[[nodiscard]] std::int64_t estimatedTokens(std::size_t bytes);
// A request cannot have more tokens than this: a token has one byte at least, and a few more frame each message.
[[nodiscard]] std::int64_t mostInputTokens(const ChatRequest& request);
[[nodiscard]] std::size_t byteCount(const ChatRequest& request);

}  // namespace swage::models
