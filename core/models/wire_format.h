// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/models/chat.h"
#include "core/models/endpoint.h"

// The three formats of HTTP that models are asked in: OpenAI's chat/completions, Anthropic's messages, Ollama's
// /api/chat. Pure: requests are made of values, replies are read from bytes.
namespace swage::models {

struct HttpHeader {
  std::string name;
  std::string value;
  friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};

// Without the key.
struct HttpCall {
  std::string url;
  std::vector<HttpHeader> headers;
  std::string body;  // JSON
};
// The endpoint must be one of HTTP.
[[nodiscard]] HttpCall chatCall(const Endpoint& endpoint, const ChatRequest& request);
// Where the endpoint lists its models, for a GET.
[[nodiscard]] HttpCall listCall(const Endpoint& endpoint);
// How the key is sent.
[[nodiscard]] HttpHeader keyHeader(EndpointKind kind, std::string_view key);

// Reads a streamed reply. After ReplyDone or a ChatFailure comes nothing more, whatever is fed.
class ReplyReader {
 public:
  static constexpr std::size_t kMaxReply = std::size_t{8} << 20U;  // bytes on the wire

  virtual ~ReplyReader() = default;
  ReplyReader() = default;
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  [[nodiscard]] std::vector<ChatEvent> feed(std::string_view bytes);
  // The connection has ended. A reply that was not complete is a failure.
  [[nodiscard]] std::vector<ChatEvent> finish();
  [[nodiscard]] bool isOver() const { return m_over; }

 protected:
  virtual void read(std::string_view bytes) = 0;
  virtual void readEnd() = 0;
  void say(ChatEvent event);
  void sayGarbled(std::string message);

 private:
  std::vector<ChatEvent> m_events;
  std::size_t m_bytes = 0;
  bool m_over = false;
};
[[nodiscard]] std::unique_ptr<ReplyReader> makeReplyReader(EndpointKind kind);

// Gathers the events of one reply. Texts are cut at 2 MiB, which is a failure.
class ReplyCollector {
 public:
  static constexpr std::size_t kMaxText = std::size_t{2} << 20U;

  // `request` for the estimate where the endpoint does not say what it used.
  explicit ReplyCollector(const ChatRequest& request) : m_requestBytes(byteCount(request)) {}

  void take(const ChatEvent& event);
  [[nodiscard]] bool isOver() const { return m_done || m_failure; }
  [[nodiscard]] bool hasBegun() const { return m_begun; }
  // isOver() and no failure.
  [[nodiscard]] ChatReply reply() const;
  [[nodiscard]] const std::optional<ChatFailure>& failure() const { return m_failure; }
  // Of what has come so far.
  [[nodiscard]] TokenUsage usage() const;

 private:
  std::size_t m_requestBytes;
  ChatReply m_reply;
  std::optional<TokenUsage> m_usage;
  std::optional<ChatFailure> m_failure;
  bool m_begun = false;
  bool m_done = false;
};

// A status other than 2xx, with the headers that matter, their names in lower case.
struct HttpError {
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;  // the beginning
};
// `nowMs`: UTC, for a date in retry-after.
[[nodiscard]] ChatFailure failureOf(const HttpError& error, std::int64_t nowMs);
// The kind of a failure that an endpoint names in words: "overloaded_error", "insufficient_quota".
[[nodiscard]] std::optional<FailureKind> kindOfWord(std::string_view word);

}  // namespace swage::models
