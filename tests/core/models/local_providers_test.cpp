// SPDX-License-Identifier: Apache-2.0
// The folder and the recording in the place of an endpoint.
#include <gmock/gmock.h>

#include <fstream>

#include "core/base/files.h"
#include "core/models/exchange_provider.h"
#include "core/models/replay_provider.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::models {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;

ChatRequest request(const std::string& text) {
  return {.system = "rules", .messages = {{Role::User, text}}};
}

class LocalProviders : public ::testing::Test {
 protected:
  void listenTo(ChatProvider& provider) {
    QObject::connect(&provider, &ChatProvider::ended, &provider,
                     [this](std::uint64_t call, const ChatOutcome& outcome) { m_ended.emplace_back(call, outcome); });
  }
  [[nodiscard]] bool hasEnded(std::size_t calls) const {
    return waitFor([this, calls] { return m_ended.size() == calls; });
  }

  testing::TempDir m_folder;
  std::vector<std::pair<std::uint64_t, ChatOutcome>> m_ended;
};

TEST_F(LocalProviders, AFolderTakesPromptsAndGivesReplies) {
  ExchangeProvider provider(m_folder / "exchange", std::chrono::milliseconds(5));
  listenTo(provider);
  const std::uint64_t first = provider.ask(request("write a kernel"));
  const auto prompt = readTextFile(provider.promptFile(first));
  ASSERT_THAT(prompt, IsOk());
  EXPECT_THAT(*prompt, HasSubstr("rules"));
  EXPECT_THAT(*prompt, HasSubstr("write a kernel"));
  ASSERT_THAT(writeFileAtomically(provider.replyFile(first), "done\x1b[2J\r\n"), IsOk());
  ASSERT_TRUE(hasEnded(1));
  ASSERT_NE(m_ended[0].second.reply(), nullptr);
  EXPECT_EQ(m_ended[0].second.reply()->text, "done\n");
  EXPECT_TRUE(m_ended[0].second.usage.isEstimated);
  EXPECT_FALSE(fs::exists(provider.promptFile(first))) << "nobody waits for that any more";
  ExchangeProvider later(m_folder / "exchange");
  EXPECT_EQ(later.ask(request("another")), first + 1) << "what is there stays";
}

TEST_F(LocalProviders, AFolderReadsNoLinksAndNothingHuge) {
  ExchangeProvider provider(m_folder / "exchange", std::chrono::milliseconds(5));
  listenTo(provider);
  const std::uint64_t linked = provider.ask(request("one"));
  fs::create_symlink("/etc/hostname", provider.replyFile(linked));
  const std::uint64_t huge = provider.ask(request("two"));
  std::ofstream(provider.replyFile(huge)) << std::string(std::size_t{3} << 20U, 'x');
  ASSERT_TRUE(hasEnded(1));
  EXPECT_EQ(m_ended[0].first, huge);
  EXPECT_EQ(m_ended[0].second.failure()->kind, FailureKind::TooLarge);
  provider.cancel(linked);
  ASSERT_TRUE(hasEnded(2));
  EXPECT_EQ(m_ended[1].second.failure()->kind, FailureKind::Cancelled);
}

TEST_F(LocalProviders, AFolderThatCannotBeMadeIsSaid) {
  std::ofstream(m_folder / "file") << "x";
  ExchangeProvider provider(m_folder / "file");
  listenTo(provider);
  static_cast<void>(provider.ask(request("one")));
  ASSERT_TRUE(hasEnded(1));
  EXPECT_EQ(m_ended[0].second.failure()->kind, FailureKind::BadRequest);
}

TEST_F(LocalProviders, AReplaySkipsCancelledCalls) {
  Conversation recorded{"one", "hash", {}};
  recorded.exchanges.push_back({request("a"), cancelledOutcome()});
  recorded.exchanges.push_back({request("b"), {ChatReply{.text = "reply to b"}}});
  ReplayProvider provider(std::vector<Conversation>{recorded});
  listenTo(provider);
  static_cast<void>(provider.ask(request("a")));
  ASSERT_TRUE(hasEnded(1));
  ASSERT_NE(m_ended[0].second.reply(), nullptr);
  EXPECT_EQ(m_ended[0].second.reply()->text, "reply to b");
}

TEST_F(LocalProviders, ARecordingAnswersTheSameQuestionOrElseInItsOrder) {
  Conversation recorded{"one", "hash", {}};
  for (const char* text : {"a", "b", "c"}) {
    recorded.exchanges.push_back({request(text), {ChatReply{.text = std::string("reply to ") + text}}});
  }
  std::ofstream(m_folder / "recording") << conversationJson(recorded) << "\n";
  const auto read = ReplayProvider::read(m_folder / "recording");
  ASSERT_THAT(read, IsOk());
  ReplayProvider provider(*read);
  listenTo(provider);
  for (const char* text : {"b", "another", "yet another", "one too many"}) {
    static_cast<void>(provider.ask(request(text)));
  }
  EXPECT_TRUE(m_ended.empty()) << "never from within";
  ASSERT_TRUE(hasEnded(4));
  EXPECT_EQ(m_ended[0].second.reply()->text, "reply to b");
  EXPECT_EQ(m_ended[1].second.reply()->text, "reply to a");
  EXPECT_EQ(m_ended[2].second.reply()->text, "reply to c");
  EXPECT_EQ(m_ended[3].second.failure()->kind, FailureKind::Quota);
  EXPECT_EQ(provider.sameQuestions(), 1);
}

TEST_F(LocalProviders, ARecordingThatIsDamagedNamesItsLine) {
  std::ofstream(m_folder / "recording") << conversationJson({"one", "hash", {}}) << "\n{}\n";
  EXPECT_THAT(ReplayProvider::read(m_folder / "recording"), IsError(ErrorKind::InvalidInput, HasSubstr("line 2")));
}

}  // namespace
}  // namespace swage::models
