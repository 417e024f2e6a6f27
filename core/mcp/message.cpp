// SPDX-License-Identifier: Apache-2.0
#include "core/mcp/message.h"

#include <fmt/format.h>

namespace swage::mcp {
namespace {

bool isId(const Json& json) {
  return json.is_string() || json.is_number_integer();
}

Message malformed(const Json& id, std::string why) {
  return Malformed{.id = isId(id) ? id : Json(), .code = ErrorCode::InvalidRequest, .why = std::move(why)};
}

Message readMessage(const Json& json) {
  if (!json.is_object()) {
    return malformed({}, "a message must be an object");
  }
  const Json id = json.contains("id") ? json["id"] : Json();
  if (!json.contains("jsonrpc") || json["jsonrpc"] != "2.0") {
    return malformed(id, "the member jsonrpc must be \"2.0\"");
  }
  if (!json.contains("method")) {
    return json.contains("result") || json.contains("error") ? Message(StrayAnswer{})
                                                             : malformed(id, "a message needs a method");
  }
  if (!json["method"].is_string()) {
    return malformed(id, "the method must be text");
  }
  Json params = json.contains("params") ? json["params"] : Json::object();
  if (!params.is_object()) {
    return malformed(id, "the params must be an object");
  }
  auto method = json["method"].get<std::string>();
  if (!json.contains("id")) {
    return Notification{std::move(method), std::move(params)};
  }
  if (!isId(id)) {
    return malformed(id, "the id must be text or a whole number");
  }
  return Request{id, std::move(method), std::move(params)};
}

}  // namespace

Packet readPacket(std::string_view line) {
  if (line.size() > kMostOfLine) {
    return {{malformed({}, fmt::format("a line may have {} bytes", kMostOfLine))}, false};
  }
  const Result<Json> json = domain::parseJson(line);
  if (!json) {
    return {{Malformed{.id = {}, .code = ErrorCode::ParseError, .why = json.error().message()}}, false};
  }
  if (!json->is_array()) {
    return {{readMessage(*json)}, false};
  }
  if (json->empty() || json->size() > kMostInBatch) {
    return {{malformed({}, fmt::format("a batch must have 1 to {} messages", kMostInBatch))}, false};
  }
  Packet packet{{}, true};
  for (const Json& one : *json) {
    packet.messages.push_back(readMessage(one));
  }
  return packet;
}

Json resultMessage(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json errorMessage(const Json& id, ErrorCode code, std::string_view why) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", why}}}};
}

Json notificationMessage(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace swage::mcp
