// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/models/chat_provider.h"

namespace swage::models {

// One question and what came of it.
struct ChatExchange {
  ChatRequest request;
  ChatOutcome outcome{ChatFailure{}};
};

// What was said about one candidate, as the record keeps it: with the name of the endpoint, never its address or key.
struct Conversation {
  std::string endpoint;
  std::string promptsHash;  // promptTemplatesHash()
  std::vector<ChatExchange> exchanges;
};

[[nodiscard]] std::string conversationJson(const Conversation& conversation);  // one line
[[nodiscard]] Result<Conversation> parseConversation(std::string_view json);
// The same for equal requests only.
[[nodiscard]] std::string requestHash(const ChatRequest& request);
// For a person.
[[nodiscard]] std::string conversationText(const Conversation& conversation);

}  // namespace swage::models
