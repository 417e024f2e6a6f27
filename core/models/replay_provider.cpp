// SPDX-License-Identifier: Apache-2.0
#include "core/models/replay_provider.h"

#include <QTimer>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/files.h"

namespace swage::models {

Result<std::vector<Conversation>> ReplayProvider::read(const std::filesystem::path& file) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file, kMostBytes));
  std::vector<Conversation> conversations;
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) {
      auto conversation = parseConversation(std::string_view(text).substr(at, end - at));
      if (!conversation) {
        return std::move(conversation).error().withContext(fmt::format("'{}', line {}", file.string(), number));
      }
      conversations.push_back(std::move(*conversation));
    }
    at = end + 1;
  }
  return conversations;
}

ReplayProvider::ReplayProvider(const std::vector<Conversation>& conversations, QObject* parent) : ChatProvider(parent) {
  for (const Conversation& conversation : conversations) {
    for (const ChatExchange& exchange : conversation.exchanges) {
      const ChatFailure* failure = exchange.outcome.failure();
      if (failure == nullptr || failure->kind != FailureKind::Cancelled) {  // what the end of a run cut off
        m_entries.push_back({requestHash(exchange.request), exchange.outcome});
      }
    }
  }
}

ChatOutcome ReplayProvider::take(const ChatRequest& request) {
  const std::string hash = requestHash(request);
  auto found = std::find_if(m_entries.begin(), m_entries.end(), [&hash](const Entry& one) { return one.hash == hash; });
  m_same += found != m_entries.end() ? 1 : 0;
  found = found == m_entries.end() ? m_entries.begin() : found;
  if (found == m_entries.end()) {
    return {ChatFailure{.kind = FailureKind::Quota, .message = "the recording has no more answers"}};
  }
  ChatOutcome outcome = std::move(found->outcome);
  m_entries.erase(found);
  return outcome;
}

std::uint64_t ReplayProvider::ask(const ChatRequest& request) {
  const std::uint64_t call = m_next++;
  m_calls.insert(call);
  answerLater(call, take(request));
  return call;
}

void ReplayProvider::cancel(std::uint64_t call) {
  if (m_calls.erase(call) > 0) {
    m_calls.insert(call);
    answerLater(call, cancelledOutcome());
  }
}

void ReplayProvider::answerLater(std::uint64_t call, ChatOutcome outcome) {
  QTimer::singleShot(0, this, [this, call, outcome = std::move(outcome)] {
    if (m_calls.erase(call) > 0) {
      Q_EMIT ended(call, outcome);
    }
  });
}

}  // namespace swage::models
