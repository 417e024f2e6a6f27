// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <cstdint>
#include <string>
#include <variant>

#include "core/models/chat.h"

namespace swage::models {

// How one call ended, and what it took, also where it failed: what was tried again has been paid for.
struct ChatOutcome {
  std::variant<ChatReply, ChatFailure> result;
  TokenUsage usage{};
  double usd = 0.0;
  bool isPriceKnown = true;
  double seconds = 0.0;
  int attempts = 0;

  [[nodiscard]] const ChatReply* reply() const { return std::get_if<ChatReply>(&result); }
  [[nodiscard]] const ChatFailure* failure() const { return std::get_if<ChatFailure>(&result); }
};

[[nodiscard]] inline ChatOutcome cancelledOutcome() {
  return {ChatFailure{.kind = FailureKind::Cancelled, .message = "the call was cancelled"}};
}

// Whoever answers prompts: an endpoint, a folder, a recording. One thread; no call waits. Destroying it ends its calls
// without a word.
class ChatProvider : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Answered by exactly one ended(), never from within.
  [[nodiscard]] virtual std::uint64_t ask(const ChatRequest& request) = 0;
  // ended() follows with a failure of kind Cancelled, if it has not ended.
  virtual void cancel(std::uint64_t call) = 0;
  // How a call that is out would end if it were cancelled now, with what it has taken.
  [[nodiscard]] virtual ChatOutcome soFar(std::uint64_t /*call*/) const { return cancelledOutcome(); }
  // How many calls may be out at a time.
  [[nodiscard]] virtual int width() const = 0;
  // The longest that a call can take.
  [[nodiscard]] virtual std::chrono::milliseconds patience() const = 0;

 Q_SIGNALS:
  void ended(std::uint64_t call, const swage::models::ChatOutcome& outcome);
  // A part of a reply, as it comes; a call that is tried again begins anew.
  void received(std::uint64_t call, const std::string& text);
};

}  // namespace swage::models
