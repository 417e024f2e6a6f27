// SPDX-License-Identifier: Apache-2.0
#include "core/models/chat.h"

#include <cmath>

namespace swage::models {

TokenUsage& TokenUsage::operator+=(const TokenUsage& other) {
  input += other.input;
  cachedInput += other.cachedInput;
  output += other.output;
  isEstimated = isEstimated || other.isEstimated;
  return *this;
}

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::End: return "end";
    case StopReason::Length: return "length";
    case StopReason::Refused: return "refused";
    case StopReason::Other: return "other";
  }
  return "other";
}

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::Connection: return "no connection";
    case FailureKind::Timeout: return "timeout";
    case FailureKind::RateLimited: return "rate limit";
    case FailureKind::Server: return "server error";
    case FailureKind::Garbled: return "unreadable reply";
    case FailureKind::TooLarge: return "reply too large";
    case FailureKind::Denied: return "denied";
    case FailureKind::Quota: return "quota used up";
    case FailureKind::BadRequest: return "bad request";
    case FailureKind::Budget: return "budget used up";
    case FailureKind::Paused: return "paused";
    case FailureKind::Cancelled: return "cancelled";
  }
  return "failed";
}

std::int64_t estimatedTokens(std::size_t bytes) {
  constexpr double kBytesOfToken = 3.6;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / kBytesOfToken));
}

std::size_t byteCount(const ChatRequest& request) {
  std::size_t bytes = request.system.size();
  for (const Message& message : request.messages) {
    bytes += message.text.size();
  }
  return bytes;
}

std::int64_t mostInputTokens(const ChatRequest& request) {
  constexpr std::size_t kFrame = 32;  // of a message, in the templates of models
  return static_cast<std::int64_t>(byteCount(request) + kFrame * (request.messages.size() + 2));
}

}  // namespace swage::models
