// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/models/chat_provider.h"
#include "core/models/conversation.h"

namespace swage::models {

// Answers with what was recorded, without a network: the reply to the same question, byte for byte, else the next one
// that nobody has had yet, in the order of the recording, because questions contain times that were measured. When all
// are used up, it answers no more.
class ReplayProvider final : public ChatProvider {
  Q_OBJECT

 public:
  // One conversation in JSON on each line. Kind InvalidInput names the line that cannot be read.
  [[nodiscard]] static Result<std::vector<Conversation>> read(const std::filesystem::path& file);

  explicit ReplayProvider(const std::vector<Conversation>& conversations, QObject* parent = nullptr);

  [[nodiscard]] std::uint64_t ask(const ChatRequest& request) override;
  void cancel(std::uint64_t call) override;
  [[nodiscard]] int width() const override { return 1; }
  [[nodiscard]] std::chrono::milliseconds patience() const override { return std::chrono::minutes(1); }
  // How many questions were exactly those of the recording.
  [[nodiscard]] int sameQuestions() const { return m_same; }

 private:
  [[nodiscard]] ChatOutcome take(const ChatRequest& request);
  void answerLater(std::uint64_t call, ChatOutcome outcome);

  struct Entry {
    std::string hash;
    ChatOutcome outcome;
  };
  std::deque<Entry> m_entries;
  std::set<std::uint64_t> m_calls;
  std::uint64_t m_next = 1;
  int m_same = 0;
};

}  // namespace swage::models
