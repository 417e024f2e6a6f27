// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/json.h"
#include "core/models/stream_parser.h"
#include "core/models/wire_format.h"

// The readers behind makeReplyReader().
namespace swage::models {

inline constexpr std::size_t kMostOfMessage = 500;  // bytes that are kept of what an endpoint says

// What an endpoint says of an error: {"error": {"message", "type", "code"}}, {"error": "text"}, or neither.
struct EndpointComplaint {
  std::string message;  // shortened and clean; empty: none was found
  std::string type;
  std::string code;
};
[[nodiscard]] EndpointComplaint complaintOf(std::string_view body);
[[nodiscard]] std::optional<EndpointComplaint> complaintIn(const domain::Json& json);

// Of formats that stream server-sent events.
class EventReader : public ReplyReader {
 protected:
  void read(std::string_view bytes) override;
  void readEnd() override;
  // Not called once the reply is over.
  virtual void take(const ServerEvent& event) = 0;

 private:
  void takeAll(const std::vector<ServerEvent>& events);

  SseParser m_parser;
};

class OpenAiReader final : public EventReader {
 protected:
  void readEnd() override;
  void take(const ServerEvent& event) override;

 private:
  void takeChunk(const domain::Json& chunk);

  bool m_started = false;
  std::optional<StopReason> m_reason;
};

class AnthropicReader final : public EventReader {
 protected:
  void take(const ServerEvent& event) override;

 private:
  void takeUsage(const domain::Json& usage);

  TokenUsage m_usage;
  std::optional<StopReason> m_reason;
};

class OllamaReader final : public ReplyReader {
 protected:
  void read(std::string_view bytes) override;
  void readEnd() override;

 private:
  void take(std::string_view line);

  LineSplitter m_lines{LineSplitter::Ends::LineFeed, SseParser::kMaxEvent};
  bool m_started = false;
};

}  // namespace swage::models
