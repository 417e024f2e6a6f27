// SPDX-License-Identifier: Apache-2.0
// Whole calls over real HTTP, with a server that does what a test says.
#include "core/models/http_provider.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/core/models/loopback_server.h"
#include "tests/support/fake_clock.h"
#include "tests/support/no_warnings.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::models {
namespace {

using std::chrono::milliseconds;
using testing::errorReply;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using ::testing::Not;
using testing::openAiReply;
using testing::ScriptedReply;
using testing::ServedRequest;
using testing::waitFor;

class HttpProviderTest : public ::testing::Test {
 protected:
  HttpProviderTest() { m_options.retry.first = milliseconds(1); }

  // Serves these, one after another, and the last one from then on.
  void serve(std::vector<ScriptedReply> replies) {
    m_server.setScript([replies, next = std::size_t{0}](const ServedRequest&) mutable {
      return replies[std::min(next++, replies.size() - 1)];
    });
  }
  [[nodiscard]] std::unique_ptr<HttpProvider> provider() {
    auto made = std::make_unique<HttpProvider>(m_endpoint, m_keys, m_budget, m_options);
    QObject::connect(made.get(), &HttpProvider::ended, made.get(),
                     [this](std::uint64_t, const ChatOutcome& outcome) { m_outcomes.push_back(outcome); });
    return made;
  }
  static ChatRequest request(const std::string& text = "hello") {
    return {.system = "rules", .messages = {{Role::User, text}}, .maxTokens = 100};
  }
  // One call to its end.
  ChatOutcome call() {
    m_outcomes.clear();
    const auto one = provider();
    static_cast<void>(one->ask(request()));
    EXPECT_TRUE(m_outcomes.empty()) << "never from within";
    EXPECT_TRUE(waitFor([this] { return !m_outcomes.empty(); }));
    return m_outcomes.empty() ? ChatOutcome{ChatFailure{}} : m_outcomes.front();
  }
  [[nodiscard]] FailureKind failureOf(const ChatOutcome& outcome) const {
    EXPECT_NE(outcome.failure(), nullptr) << "it was answered";
    return outcome.failure() == nullptr ? FailureKind::Cancelled : outcome.failure()->kind;
  }

  LoopbackServer m_server{[](const ServedRequest&) { return openAiReply("fine"); }};
  Endpoint m_endpoint = testing::endpointOf(m_server);
  std::shared_ptr<const KeyRing> m_keys = std::make_shared<KeyRing>();
  std::shared_ptr<CallBudget> m_budget = std::make_shared<CallBudget>();
  HttpProvider::Options m_options;
  std::vector<ChatOutcome> m_outcomes;
};

TEST_F(HttpProviderTest, AnswersInEveryFormatWithWhatItCost) {
  const std::string text = "```cpp\nint x;\n```\n";
  for (const auto& [kind, reply] : {std::pair(EndpointKind::OpenAi, openAiReply(text, 1000, 200)),
                                    std::pair(EndpointKind::Anthropic, testing::anthropicReply(text, 1000, 200)),
                                    std::pair(EndpointKind::Ollama, testing::ollamaReply(text, 1000, 200))}) {
    m_endpoint.kind = kind;
    serve({reply});
    const ChatOutcome outcome = call();
    ASSERT_NE(outcome.reply(), nullptr) << outcome.failure()->message;
    EXPECT_EQ(outcome.reply()->text, text);
    EXPECT_EQ(outcome.usage, (TokenUsage{.input = 1000, .output = 200}));
    EXPECT_NEAR(outcome.usd, 0.001 + 0.002, 1e-9);
    EXPECT_EQ(outcome.attempts, 1);
  }
  EXPECT_EQ(m_server.served().size(), 3U);
  EXPECT_EQ(m_server.served()[1].path, "/v1/messages");
}

TEST_F(HttpProviderTest, AnOverloadedEndpointIsAskedAgainWhenItSays) {  // fault 61
  for (const int status : {429, 503, 529}) {
    serve({errorReply(status, R"({"error":{"message":"slow down"}})", {{"retry-after-ms", "3"}}), openAiReply("fine")});
    const ChatOutcome outcome = call();
    ASSERT_NE(outcome.reply(), nullptr) << status;
    EXPECT_EQ(outcome.attempts, 2);
  }
  serve({errorReply(429, "{}", {{"retry-after", "3600"}})});
  const ChatOutcome outcome = call();
  EXPECT_EQ(failureOf(outcome), FailureKind::RateLimited);
  EXPECT_EQ(outcome.attempts, 1) << "nobody waits for an hour";
}

TEST_F(HttpProviderTest, AnOverloadedEndpointGetsFewerCallsAtOnce) {  // fault 61
  m_endpoint.concurrency = 8;
  int calls = 0;
  m_server.setScript([&calls](const ServedRequest&) {
    return ++calls <= 8 ? errorReply(429, "{}", {{"retry-after-ms", "1"}}) : openAiReply("fine");
  });
  const auto many = provider();
  for (int i = 0; i < 8; ++i) {
    static_cast<void>(many->ask(request()));
  }
  // Five of the eight failures open the breaker: nobody is asked any more, and every call ends.
  ASSERT_TRUE(waitFor([this] { return m_outcomes.size() == 8; }));
  EXPECT_LE(calls, 16);
}

TEST_F(HttpProviderTest, ServerErrorsAndBrokenConnectionsAreTriedAgainAndThenGivenUp) {  // fault 62
  ScriptedReply cut = openAiReply("a longer text that breaks off");
  cut.chunks.resize(1);
  cut.end = ScriptedReply::End::Cut;
  serve({errorReply(500, "oops"), errorReply(502, "<html>bad gateway</html>"), openAiReply("fine")});
  EXPECT_EQ(call().attempts, 3);
  serve({errorReply(500, "oops")});
  const ChatOutcome failed = call();
  EXPECT_EQ(failureOf(failed), FailureKind::Server);
  EXPECT_EQ(failed.attempts, 3);
  serve({cut, openAiReply("fine")});
  const ChatOutcome again = call();
  ASSERT_NE(again.reply(), nullptr);
  EXPECT_EQ(again.reply()->text, "fine") << "nothing of the first attempt stays";
  EXPECT_GT(again.usage.output, 20) << "but it has been paid for";
  serve({cut});
  EXPECT_EQ(call().attempts, 2) << "once more, and not again";
}

TEST_F(HttpProviderTest, NobodyThereIsAFailureOfTheConnection) {  // fault 62
  m_server.close();
  EXPECT_EQ(failureOf(call()), FailureKind::Connection);
  m_endpoint.baseUrl = "http://nowhere.localhost.invalid";
  EXPECT_EQ(failureOf(call()), FailureKind::Connection);
}

TEST_F(HttpProviderTest, ATlsPortThatSpeaksNoTlsIsAFailureOfTheConnection) {  // fault 62
  m_endpoint.baseUrl.replace(0, 4, "https");
  m_options.retry.retries = 0;
  EXPECT_EQ(failureOf(call()), FailureKind::Connection);
  EXPECT_TRUE(m_server.served().empty()) << "nothing was sent in the clear";
}

TEST_F(HttpProviderTest, AnEndpointThatKeepsFailingIsLeftAloneForAMinute) {  // fault 62
  testing::FakeClock clock;
  m_options.now = clock.now();
  m_options.retry.retries = 0;
  serve({errorReply(500, "oops")});
  const auto one = provider();
  const auto callOnce = [&] {
    m_outcomes.clear();
    static_cast<void>(one->ask(request()));
    EXPECT_TRUE(waitFor([this] { return !m_outcomes.empty(); }));
    return failureOf(m_outcomes.front());
  };
  for (int i = 0; i < CircuitBreaker::kFailures; ++i) {
    EXPECT_EQ(callOnce(), FailureKind::Server);
  }
  EXPECT_EQ(callOnce(), FailureKind::Paused);
  EXPECT_EQ(m_server.served().size(), 5U);
  clock.advance(std::chrono::seconds(61));
  serve({openAiReply("fine")});
  m_outcomes.clear();
  static_cast<void>(one->ask(request()));
  ASSERT_TRUE(waitFor([this] { return !m_outcomes.empty(); }));
  EXPECT_NE(m_outcomes.front().reply(), nullptr);
}

TEST_F(HttpProviderTest, SilenceBeforeTheFirstByteEnds) {  // fault 63
  m_endpoint.timeouts.firstByte = milliseconds(20);
  serve({{.end = ScriptedReply::End::Silent}});
  const ChatOutcome outcome = call();
  EXPECT_EQ(failureOf(outcome), FailureKind::Timeout);
  EXPECT_EQ(outcome.attempts, 3);
  EXPECT_EQ(outcome.usage.total(), 0) << "nothing was answered";
}

TEST_F(HttpProviderTest, AStreamThatStallsEndsAndItsPartIsDiscarded) {  // fault 63
  m_endpoint.timeouts.idle = milliseconds(20);
  ScriptedReply stalled = openAiReply("half of an answer, and then nothing");
  stalled.chunks.resize(2);
  stalled.end = ScriptedReply::End::Open;
  serve({stalled, openAiReply("fine")});
  const ChatOutcome outcome = call();
  ASSERT_NE(outcome.reply(), nullptr);
  EXPECT_EQ(outcome.reply()->text, "fine");
}

TEST_F(HttpProviderTest, ACallHasAnEndWhateverComes) {  // fault 63
  m_endpoint.timeouts.total = milliseconds(50);
  ScriptedReply pings;
  pings.chunks = {": still thinking\n"};
  pings.end = ScriptedReply::End::Endless;
  m_options.retry.retries = 0;
  serve({pings});
  const ChatOutcome outcome = call();
  EXPECT_TRUE(failureOf(outcome) == FailureKind::Timeout || failureOf(outcome) == FailureKind::TooLarge);
}

TEST_F(HttpProviderTest, GarbageIsATypedErrorAndCounted) {  // fault 64
  m_options.retry.retries = 0;
  ScriptedReply page;
  page.contentType = "text/html; charset=utf-8";
  page.chunks = {"<html>Please log in</html>"};
  ScriptedReply json;
  json.chunks = {"data: {broken\n\n"};
  ScriptedReply empty;
  for (const auto& [reply, kind] : {std::pair(page, FailureKind::Garbled), std::pair(json, FailureKind::Garbled),
                                    std::pair(empty, FailureKind::Connection)}) {
    serve({reply});
    EXPECT_EQ(failureOf(call()), kind);
  }
  serve({openAiReply("cut off", 10, 100, "length")});
  EXPECT_EQ(call().reply()->reason, StopReason::Length);
  serve({openAiReply("I cannot help with that", 10, 100, "content_filter")});
  EXPECT_EQ(call().reply()->reason, StopReason::Refused);
}

TEST_F(HttpProviderTest, AnEndlessReplyIsCutAtItsCap) {  // fault 65
  ScriptedReply endless;
  endless.chunks = {"data: {\"choices\":[{\"delta\":{\"content\":\"" + std::string(1 << 15, 'x') + "\"}}]}\n\n"};
  endless.end = ScriptedReply::End::Endless;
  serve({endless});
  const ChatOutcome outcome = call();
  EXPECT_EQ(failureOf(outcome), FailureKind::TooLarge);
  EXPECT_EQ(outcome.attempts, 1);
  ScriptedReply line;
  line.chunks = {"data: " + std::string(1 << 20, 'x')};
  line.end = ScriptedReply::End::Endless;
  serve({line});
  EXPECT_EQ(failureOf(call()), FailureKind::TooLarge);
}

TEST_F(HttpProviderTest, WhatIsHiddenInAReplyDoesNotGetThrough) {  // fault 65
  serve(
      {openAiReply("a\xE2\x80\xAE"
                   "b\x1b[31mc\x01"
                   "d",
                   1, 1, "stop", 1000)});
  EXPECT_EQ(call().reply()->text, "abcd");
  ScriptedReply invalid;
  invalid.chunks = {"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFF\"},\"finish_reason\":\"stop\"}]}\n\n",
                    "data: [DONE]\n\n"};
  serve({invalid});
  m_options.retry.retries = 0;
  const ChatOutcome outcome = call();
  EXPECT_TRUE(outcome.failure() != nullptr || outcome.reply()->text == "a\xEF\xBF\xBD");
}

TEST_F(HttpProviderTest, WhatOnlyAPersonCanMendIsNotTriedAgain) {  // fault 66
  for (const auto& [status, body, kind] :
       {std::tuple(401, R"({"error":{"message":"invalid key"}})", FailureKind::Denied),
        std::tuple(403, "{}", FailureKind::Denied),
        std::tuple(404, R"({"error":{"message":"no such model"}})", FailureKind::BadRequest),
        std::tuple(429, R"({"error":{"message":"pay first","code":"insufficient_quota"}})", FailureKind::Quota)}) {
    serve({errorReply(status, body)});
    const ChatOutcome outcome = call();
    EXPECT_EQ(failureOf(outcome), kind);
    EXPECT_EQ(outcome.attempts, 1);
    EXPECT_FALSE(outcome.failure()->hint.empty());
  }
}

TEST_F(HttpProviderTest, TheBudgetHoldsToTheCent) {  // fault 66
  m_budget = std::make_shared<CallBudget>(CallBudget::Limits{.usd = 0.01});
  serve({openAiReply("fine", 100, 100)});  // 0.0011 each
  const auto one = provider();
  int answered = 0;
  for (;;) {
    m_outcomes.clear();
    static_cast<void>(one->ask(request()));
    ASSERT_TRUE(waitFor([this] { return !m_outcomes.empty(); }));
    if (m_outcomes.front().failure() != nullptr) {
      break;
    }
    ++answered;
  }
  EXPECT_EQ(m_outcomes.front().failure()->kind, FailureKind::Budget);
  EXPECT_GE(answered, 7);
  EXPECT_LE(m_budget->spent().usd, 0.01);
  EXPECT_EQ(m_server.served().size(), static_cast<std::size_t>(answered)) << "what might pass it is not sent";
}

TEST_F(HttpProviderTest, SeveralModelsSpendOneBudget) {
  m_budget = std::make_shared<CallBudget>(CallBudget::Limits{.tokens = 1000});
  serve({{.end = ScriptedReply::End::Silent}});
  std::vector<std::unique_ptr<HttpProvider>> models;
  for (int i = 0; i < 5; ++i) {
    models.push_back(provider());
    static_cast<void>(models.back()->ask(request()));
  }
  // Each may take 100 tokens for its answer and more than 100 for its question.
  ASSERT_TRUE(waitFor([this] { return m_server.served().size() + m_outcomes.size() == 5; }));
  EXPECT_GE(m_outcomes.size(), 1U);
  EXPECT_EQ(failureOf(m_outcomes.front()), FailureKind::Budget);
}

TEST_F(HttpProviderTest, SeveralCallsAreOutAtOnceButNoMoreThanItTakes) {
  m_endpoint.concurrency = 3;
  std::vector<ScriptedReply> hold(7, {.end = ScriptedReply::End::Silent});
  serve(hold);
  const auto one = provider();
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 7; ++i) {
    ids.push_back(one->ask(request()));
  }
  ASSERT_TRUE(waitFor([this] { return m_server.served().size() == 3; }));
  for (const std::uint64_t id : ids) {
    one->cancel(id);
  }
  ASSERT_TRUE(waitFor([this] { return m_outcomes.size() == 7; }));
  EXPECT_EQ(m_server.mostAtOnce(), 3);
  EXPECT_EQ(failureOf(m_outcomes.front()), FailureKind::Cancelled);
}

TEST_F(HttpProviderTest, DestroyingItEndsItsCalls) {
  serve({{.end = ScriptedReply::End::Silent}});
  auto one = provider();
  static_cast<void>(one->ask(request()));
  ASSERT_TRUE(waitFor([this] { return !m_server.served().empty(); }));
  one.reset();
  testing::turnEventLoop();
  EXPECT_TRUE(m_outcomes.empty());
}

TEST_F(HttpProviderTest, RedirectionsDoNotCarryTheKeyElsewhere) {
  LoopbackServer thief([](const ServedRequest&) { return openAiReply("thanks"); });
  serve({errorReply(307, "", {{"location", thief.url() + "/chat/completions"}})});
  EXPECT_EQ(failureOf(call()), FailureKind::BadRequest);
  EXPECT_TRUE(thief.served().empty());
}

TEST_F(HttpProviderTest, TheKeyIsSentAndComesBackNowhere) {
  ::setenv("SWAGE_TEST_MODEL_KEY", "topsecret-0123456789", 1);
  m_endpoint.key = {KeySource::From::Environment, "SWAGE_TEST_MODEL_KEY"};
  m_keys = std::make_shared<KeyRing>(std::vector<Endpoint>{m_endpoint});
  EXPECT_EQ(::getenv("SWAGE_TEST_MODEL_KEY"), nullptr) << "no child can inherit it";
  serve({openAiReply("your key is topsecret-0123456789", 1, 1, "stop", 1000)});
  const ChatOutcome outcome = call();
  ASSERT_NE(outcome.reply(), nullptr);
  EXPECT_EQ(m_server.served().front().headers.at("authorization"), "Bearer topsecret-0123456789");
  EXPECT_EQ(outcome.reply()->text, "your key is [hidden]");
  serve({errorReply(401, R"({"error":{"message":"bad key topsecret-0123456789"}})")});
  EXPECT_THAT(call().failure()->message, Not(HasSubstr("topsecret")));
}

TEST_F(HttpProviderTest, AKeyThatCannotBeHadIsSaidAtOnce) {
  m_endpoint.key = {KeySource::From::Environment, "SWAGE_TEST_NO_SUCH_VARIABLE"};
  const ChatOutcome outcome = call();
  EXPECT_EQ(failureOf(outcome), FailureKind::Denied);
  EXPECT_THAT(outcome.failure()->message, HasSubstr("SWAGE_TEST_NO_SUCH_VARIABLE is not set"));
  EXPECT_TRUE(m_server.served().empty());
}

TEST_F(HttpProviderTest, AKeyOfACommandIsFetchedAgainWhenItIsDenied) {
  const testing::TempDir folder;
  const std::string file = (folder / "count").string();
  m_endpoint.key = {KeySource::From::Command, "sh -c \"echo x >> " + file + "; wc -l < " + file + "\""};
  m_server.setScript([](const ServedRequest& request) {
    return request.headers.at("authorization") == "Bearer 2" ? openAiReply("fine") : errorReply(401, "{}");
  });
  const ChatOutcome outcome = call();
  ASSERT_NE(outcome.reply(), nullptr) << outcome.failure()->message;
  EXPECT_EQ(outcome.attempts, 2);
}

}  // namespace
}  // namespace swage::models
