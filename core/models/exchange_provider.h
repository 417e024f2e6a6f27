// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTimer>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/models/chat_provider.h"

namespace swage::models {

// A folder in the place of an endpoint: each question is written to `NNN-prompt.md`, and the text of `NNN-reply.md` is
// its answer, whoever writes that: a person, a script, an agent. A reply is taken when its file has stayed the same
// from one look to the next; links and what is no file are not read. A question that nobody waits for any more becomes
// `NNN-prompt.done.md`.
class ExchangeProvider final : public ChatProvider {
  Q_OBJECT

 public:
  static constexpr std::chrono::milliseconds kLook{250};

  // The folder is made when the first question is asked. `look`: between two looks.
  explicit ExchangeProvider(std::filesystem::path folder, std::chrono::milliseconds look = kLook,
                            QObject* parent = nullptr);

  [[nodiscard]] std::uint64_t ask(const ChatRequest& request) override;
  void cancel(std::uint64_t call) override;
  [[nodiscard]] int width() const override { return 1; }
  [[nodiscard]] std::chrono::milliseconds patience() const override { return std::chrono::hours(24); }

  [[nodiscard]] std::filesystem::path promptFile(std::uint64_t call) const;
  [[nodiscard]] std::filesystem::path replyFile(std::uint64_t call) const;

 private:
  struct Call {
    std::size_t requestBytes = 0;
    std::optional<std::string> seen{};  // at the last look
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  };
  void look();
  void finish(std::uint64_t call, std::variant<ChatReply, ChatFailure> result);
  void finishLater(std::uint64_t call, ChatFailure failure);
  // The first number that has no files yet.
  [[nodiscard]] std::uint64_t firstFree() const;
  [[nodiscard]] std::filesystem::path fileOf(std::uint64_t call, const char* what) const;

  std::filesystem::path m_folder;
  QTimer m_timer;
  std::uint64_t m_next = 0;
  std::map<std::uint64_t, Call> m_calls;
};

// What a person reads: the rules, then the messages of the conversation.
[[nodiscard]] std::string promptText(const ChatRequest& request);

}  // namespace swage::models
