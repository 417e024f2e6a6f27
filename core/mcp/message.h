// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/domain/json.h"

// The lines of JSON-RPC 2.0 that a client and a server of the Model Context Protocol exchange. Pure.
namespace swage::mcp {

using domain::Json;

inline constexpr std::size_t kMostOfLine = std::size_t{4} << 20U;  // bytes that one line may have
inline constexpr std::size_t kMostInBatch = 64;

// The error codes of JSON-RPC 2.0, and the protocol's own for a resource that is not there.
enum class ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ResourceNotFound = -32002,
};

struct Request {
  Json id;  // a string or a whole number
  std::string method;
  Json params;  // an object
};
struct Notification {
  std::string method;
  Json params;  // an object
};
// To a question of ours: none was asked, so it is ignored.
struct StrayAnswer {};
struct Malformed {
  Json id;  // null where it cannot be known
  ErrorCode code = ErrorCode::InvalidRequest;
  std::string why;
};
using Message = std::variant<Request, Notification, StrayAnswer, Malformed>;

struct Packet {
  std::vector<Message> messages;  // at least one
  bool isBatch = false;           // its answers go back together
};

// What one line says, without its end. Never fails: what cannot be read is Malformed.
[[nodiscard]] Packet readPacket(std::string_view line);

[[nodiscard]] Json resultMessage(const Json& id, Json result);
[[nodiscard]] Json errorMessage(const Json& id, ErrorCode code, std::string_view why);
[[nodiscard]] Json notificationMessage(std::string_view method, Json params);

}  // namespace swage::mcp
