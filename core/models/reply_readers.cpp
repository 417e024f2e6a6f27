// SPDX-License-Identifier: Apache-2.0
#include "core/models/reply_readers.h"

#include <algorithm>

#include "core/models/clean_text.h"

namespace swage::models {
namespace {

using domain::Json;

// What is not there, or is something else, reads as nothing: every endpoint leaves something out.
const Json& member(const Json& json, const char* name) {
  static const Json kNothing;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() ? *found : kNothing;
}

std::string textOf(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

std::int64_t countOf(const Json& json) {
  constexpr std::int64_t kMost = 1'000'000'000;
  return json.is_number_integer() ? std::clamp<std::int64_t>(json.get<std::int64_t>(), 0, kMost) : 0;
}

ChatFailure failureOf(const EndpointComplaint& complaint) {
  ChatFailure failure{.kind = FailureKind::Server, .message = complaint.message};
  for (const std::string& word : {complaint.type, complaint.code}) {
    failure.kind = kindOfWord(word).value_or(failure.kind);
  }
  return failure;
}

StopReason openAiReason(std::string_view word) {
  return word == "stop"             ? StopReason::End
         : word == "length"         ? StopReason::Length
         : word == "content_filter" ? StopReason::Refused
                                    : StopReason::Other;
}

StopReason anthropicReason(std::string_view word) {
  return word == "end_turn" || word == "stop_sequence" ? StopReason::End
         : word == "max_tokens"                        ? StopReason::Length
         : word == "refusal"                           ? StopReason::Refused
                                                       : StopReason::Other;
}

}  // namespace

std::optional<EndpointComplaint> complaintIn(const Json& json) {
  const Json& error = member(json, "error");
  if (error.is_null()) {
    return std::nullopt;
  }
  if (error.is_string()) {
    return EndpointComplaint{cleanLine(error.get<std::string>(), kMostOfMessage), {}, {}};
  }
  EndpointComplaint complaint{cleanLine(textOf(member(error, "message")), kMostOfMessage),
                              textOf(member(error, "type")), textOf(member(error, "code"))};
  if (complaint.message.empty()) {
    complaint.message = "the endpoint reports an error without a message";
  }
  return complaint;
}

EndpointComplaint complaintOf(std::string_view body) {
  if (const auto json = domain::parseJson(body)) {
    return complaintIn(*json).value_or(EndpointComplaint());
  }
  // A page of some server on the way: its tags say nothing.
  return body.find('<') != std::string_view::npos ? EndpointComplaint()
                                                  : EndpointComplaint{cleanLine(body, kMostOfMessage), {}, {}};
}

void EventReader::read(std::string_view bytes) {
  const auto events = m_parser.feed(bytes);
  if (!events) {
    say(ChatFailure{.kind = FailureKind::TooLarge, .message = events.error().message()});
    return;
  }
  takeAll(*events);
}

void EventReader::readEnd() {
  takeAll(m_parser.finish());
}

void EventReader::takeAll(const std::vector<ServerEvent>& events) {
  for (const ServerEvent& event : events) {
    if (!isOver()) {
      take(event);
    }
  }
}

void OpenAiReader::readEnd() {
  EventReader::readEnd();
  if (m_reason) {
    say(ReplyDone{*m_reason});  // without [DONE], which some leave out
  }
}

void OpenAiReader::take(const ServerEvent& event) {
  if (event.data == "[DONE]") {
    if (!m_reason && !m_started) {
      sayGarbled("the reply is empty");
    } else {
      say(ReplyDone{m_reason.value_or(StopReason::End)});
    }
    return;
  }
  const auto chunk = domain::parseJson(event.data);
  if (!chunk || !chunk->is_object()) {
    sayGarbled("an event of the reply is not JSON");
    return;
  }
  takeChunk(*chunk);
}

void OpenAiReader::takeChunk(const Json& chunk) {
  if (const auto complaint = complaintIn(chunk)) {
    say(failureOf(*complaint));
    return;
  }
  if (!m_started) {
    m_started = true;
    say(ReplyStarted{textOf(member(chunk, "model")), textOf(member(chunk, "id"))});
  }
  if (const Json& usage = member(chunk, "usage"); usage.is_object()) {
    say(UsageKnown{{.input = countOf(member(usage, "prompt_tokens")),
                    .cachedInput = countOf(member(member(usage, "prompt_tokens_details"), "cached_tokens")),
                    .output = countOf(member(usage, "completion_tokens"))}});
  }
  const Json& choices = member(chunk, "choices");
  if (!choices.is_array() || choices.empty()) {
    return;
  }
  const Json& choice = choices.front();
  if (std::string text = textOf(member(member(choice, "delta"), "content")); !text.empty()) {
    say(TextDelta{std::move(text)});
  }
  if (const Json& reason = member(choice, "finish_reason"); reason.is_string()) {
    m_reason = openAiReason(reason.get<std::string>());
  }
}

void AnthropicReader::takeUsage(const Json& usage) {
  if (!usage.is_object()) {
    return;
  }
  if (usage.contains("input_tokens")) {
    m_usage.cachedInput = countOf(member(usage, "cache_read_input_tokens"));
    m_usage.input = countOf(member(usage, "input_tokens")) + m_usage.cachedInput +
                    countOf(member(usage, "cache_creation_input_tokens"));
  }
  m_usage.output = std::max(m_usage.output, countOf(member(usage, "output_tokens")));
  say(UsageKnown{m_usage});
}

void AnthropicReader::take(const ServerEvent& event) {
  const auto json = domain::parseJson(event.data);
  if (!json || !json->is_object()) {
    sayGarbled("an event of the reply is not JSON");
    return;
  }
  const std::string type = textOf(member(*json, "type"));
  if (type == "error") {
    say(failureOf(complaintIn(*json).value_or(EndpointComplaint{"the endpoint reports an error", {}, {}})));
  } else if (type == "message_start") {
    const Json& message = member(*json, "message");
    say(ReplyStarted{textOf(member(message, "model")), textOf(member(message, "id"))});
    takeUsage(member(message, "usage"));
  } else if (type == "content_block_delta") {
    const Json& delta = member(*json, "delta");  // what it thinks, and calls of tools, are no text
    if (textOf(member(delta, "type")) == "text_delta") {
      say(TextDelta{textOf(member(delta, "text"))});
    }
  } else if (type == "message_delta") {
    if (const Json& reason = member(member(*json, "delta"), "stop_reason"); reason.is_string()) {
      m_reason = anthropicReason(reason.get<std::string>());
    }
    takeUsage(member(*json, "usage"));
  } else if (type == "message_stop") {
    say(ReplyDone{m_reason.value_or(StopReason::End)});
  }
}

void OllamaReader::read(std::string_view bytes) {
  const auto lines = m_lines.feed(bytes);
  if (!lines) {
    say(ChatFailure{.kind = FailureKind::TooLarge, .message = lines.error().message()});
    return;
  }
  for (const std::string& line : *lines) {
    take(line);
  }
}

void OllamaReader::readEnd() {
  if (const std::string rest = m_lines.takeRest(); !rest.empty()) {
    const auto json = domain::parseJson(rest);
    if (json) {  // the last line needs no end; a line that was cut off is no JSON
      take(rest);
    }
  }
}

void OllamaReader::take(std::string_view line) {
  if (isOver() || line.empty()) {
    return;
  }
  const auto json = domain::parseJson(line);
  if (!json || !json->is_object()) {
    sayGarbled("a line of the reply is not JSON");
    return;
  }
  if (const auto complaint = complaintIn(*json)) {
    say(failureOf(*complaint));
    return;
  }
  if (!m_started) {
    m_started = true;
    say(ReplyStarted{textOf(member(*json, "model")), textOf(member(*json, "created_at"))});
  }
  if (std::string text = textOf(member(member(*json, "message"), "content")); !text.empty()) {
    say(TextDelta{std::move(text)});
  }
  if (member(*json, "done") == Json(true)) {
    const bool counted = json->contains("eval_count");
    if (counted) {
      say(UsageKnown{
          {.input = countOf(member(*json, "prompt_eval_count")), .output = countOf(member(*json, "eval_count"))}});
    }
    say(ReplyDone{openAiReason(textOf(member(*json, "done_reason")))});
  }
}

std::unique_ptr<ReplyReader> makeReplyReader(EndpointKind kind) {
  switch (kind) {
    case EndpointKind::Anthropic: return std::make_unique<AnthropicReader>();
    case EndpointKind::Ollama: return std::make_unique<OllamaReader>();
    default: return std::make_unique<OpenAiReader>();
  }
}

}  // namespace swage::models
