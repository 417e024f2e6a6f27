// SPDX-License-Identifier: Apache-2.0
#include "core/models/conversation.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/domain/json_reader.h"

namespace swage::models {
namespace {

using domain::Json;
using domain::JsonReader;

Json toJson(const ChatRequest& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages) {
    messages.push_back({{"role", message.role == Role::User ? "user" : "assistant"}, {"text", message.text}});
  }
  return {{"system", request.system},
          {"messages", std::move(messages)},
          {"max_tokens", request.maxTokens},
          {"temperature", request.temperature ? Json(*request.temperature) : Json()},
          {"seed", request.seed ? Json(*request.seed) : Json()}};
}

ChatRequest readRequest(const JsonReader& reader) {
  ChatRequest request;
  request.system = reader["system"].text();
  request.messages = reader["messages"].list([](const JsonReader& item) {
    return Message{item["role"].text(16) == "user" ? Role::User : Role::Assistant, item["text"].text()};
  });
  request.maxTokens = reader["max_tokens"].smallInteger(1);
  request.temperature = reader.has("temperature") ? std::optional(reader["temperature"].number()) : std::nullopt;
  request.seed = reader.has("seed") ? std::optional(reader["seed"].integer()) : std::nullopt;
  return request;
}

template <class Enum, std::size_t Count>
std::optional<Enum> parseName(std::string_view text, const std::array<Enum, Count>& all) {
  for (const Enum one : all) {
    if (name(one) == text) {
      return one;
    }
  }
  return std::nullopt;
}

std::optional<StopReason> parseStopReason(std::string_view text) {
  return parseName(text, std::array{StopReason::End, StopReason::Length, StopReason::Refused, StopReason::Other});
}

std::optional<FailureKind> parseFailureKind(std::string_view text) {
  return parseName(
      text, std::array{FailureKind::Connection, FailureKind::Timeout, FailureKind::RateLimited, FailureKind::Server,
                       FailureKind::Garbled, FailureKind::TooLarge, FailureKind::Denied, FailureKind::Quota,
                       FailureKind::BadRequest, FailureKind::Budget, FailureKind::Paused, FailureKind::Cancelled});
}

Json toJson(const ChatOutcome& outcome) {
  Json json{{"usage",
             {{"input", outcome.usage.input},
              {"cached_input", outcome.usage.cachedInput},
              {"output", outcome.usage.output},
              {"estimated", outcome.usage.isEstimated}}},
            {"usd", outcome.isPriceKnown ? Json(outcome.usd) : Json()},
            {"seconds", outcome.seconds},
            {"attempts", outcome.attempts}};
  if (const ChatReply* reply = outcome.reply()) {
    json["reply"] = {
        {"text", reply->text}, {"model", reply->model}, {"id", reply->id}, {"reason", name(reply->reason)}};
  } else {
    const ChatFailure& failure = *outcome.failure();
    json["failure"] = {{"kind", name(failure.kind)}, {"http", failure.http}, {"message", failure.message}};
  }
  return json;
}

ChatOutcome readOutcome(const JsonReader& reader) {
  ChatOutcome outcome{ChatFailure{}};
  const JsonReader usage = reader["usage"];
  outcome.usage = {.input = usage["input"].integer(0),
                   .cachedInput = usage["cached_input"].integer(0),
                   .output = usage["output"].integer(0),
                   .isEstimated = usage["estimated"].boolean()};
  outcome.isPriceKnown = reader.has("usd");
  outcome.usd = outcome.isPriceKnown ? reader["usd"].number() : 0.0;
  outcome.seconds = reader["seconds"].number();
  outcome.attempts = reader["attempts"].smallInteger(0);
  if (reader.has("reply")) {
    const JsonReader reply = reader["reply"];
    outcome.result = ChatReply{.text = reply["text"].text(),
                               .model = reply["model"].text(),
                               .id = reply["id"].text(),
                               .reason = reply["reason"].word(parseStopReason),
                               .usage = outcome.usage};
  } else {
    const JsonReader failure = reader["failure"];
    outcome.result = ChatFailure{.kind = failure["kind"].word(parseFailureKind),
                                 .http = failure["http"].smallInteger(0),
                                 .message = failure["message"].text()};
  }
  return outcome;
}

}  // namespace

std::string conversationJson(const Conversation& conversation) {
  Json exchanges = Json::array();
  for (const ChatExchange& exchange : conversation.exchanges) {
    Json json = toJson(exchange.outcome);
    json["request"] = toJson(exchange.request);
    exchanges.push_back(std::move(json));
  }
  return domain::dumpJson({{"version", 1},
                           {"endpoint", conversation.endpoint},
                           {"prompts", conversation.promptsHash},
                           {"exchanges", std::move(exchanges)}});
}

Result<Conversation> parseConversation(std::string_view json) {
  SWAGE_TRY_ASSIGN(const Json parsed, domain::parseJson(json));
  return domain::readJson(parsed, "conversation", [](const JsonReader& reader) {
    static_cast<void>(reader["version"].integer(1, 1));
    Conversation conversation{reader["endpoint"].text(), reader["prompts"].text(), {}};
    conversation.exchanges = reader["exchanges"].list([](const JsonReader& item) {
      return ChatExchange{readRequest(item["request"]), readOutcome(item)};
    });
    return conversation;
  });
}

std::string requestHash(const ChatRequest& request) {
  return sha256Hex(domain::dumpJson(toJson(request)));
}

std::string conversationText(const Conversation& conversation) {
  std::string text = fmt::format("# Conversation with {}\n", conversation.endpoint);
  std::size_t shown = 0;  // messages of earlier exchanges are repeated in later ones
  for (const ChatExchange& exchange : conversation.exchanges) {
    if (shown == 0) {
      text += fmt::format("\n## System\n\n{}\n", exchange.request.system);
    }
    for (; shown < exchange.request.messages.size(); ++shown) {
      const Message& message = exchange.request.messages[shown];
      text += fmt::format("\n## {}\n\n{}\n", message.role == Role::User ? "Swage" : "Model", message.text);
    }
    const ChatOutcome& outcome = exchange.outcome;
    if (const ChatReply* reply = outcome.reply()) {
      text += fmt::format("\n## Model ({}, {}{} tokens in, {} out, {:.1f} s)\n\n{}\n", reply->model,
                          outcome.usage.isEstimated ? "about " : "", outcome.usage.input, outcome.usage.output,
                          outcome.seconds, reply->text);
      ++shown;
    } else {
      text += fmt::format("\n## No answer\n\n{}: {}\n", name(outcome.failure()->kind), outcome.failure()->message);
    }
  }
  return text;
}

}  // namespace swage::models
