// SPDX-License-Identifier: Apache-2.0
#include "core/models/wire_format.h"

#include <gmock/gmock.h>

#include "core/base/random.h"
#include "core/domain/json.h"
#include "tests/core/models/loopback_server.h"

namespace swage::models {
namespace {

using testing::anthropicReply;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::ollamaReply;
using testing::openAiReply;

const std::string kText =
    "Gr\xC3\xB6\xC3\x9F"
    "e: \"x\" \\ \n```cpp\nint x;\n```\n";

Endpoint endpointFor(EndpointKind kind) {
  Endpoint endpoint;
  endpoint.name = "one";
  endpoint.kind = kind;
  endpoint.baseUrl = "https://example.com/v1/";
  endpoint.model = "model-1";
  return endpoint;
}

ChatRequest request() {
  return {.system = "rules",
          .messages = {{Role::User, "hello"}, {Role::Assistant, "yes"}, {Role::User, "again"}},
          .maxTokens = 99,
          .temperature = 0.5,
          .seed = 3};
}

std::string whole(const testing::ScriptedReply& reply) {
  std::string stream;
  for (const std::string& chunk : reply.chunks) {
    stream += chunk;
  }
  return stream;
}

ReplyCollector collect(EndpointKind kind, std::string_view stream, std::size_t piece) {
  const auto reader = makeReplyReader(kind);
  ReplyCollector collector{request()};
  const auto take = [&collector](const std::vector<ChatEvent>& events) {
    for (const ChatEvent& event : events) {
      collector.take(event);
    }
  };
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    take(reader->feed(stream.substr(at, piece)));
  }
  take(reader->finish());
  EXPECT_TRUE(collector.isOver());
  return collector;
}

TEST(WireFormat, AsksEachEndpointInItsWords) {
  const HttpCall openAi = chatCall(endpointFor(EndpointKind::OpenAi), request());
  EXPECT_EQ(openAi.url, "https://example.com/v1/chat/completions");
  const auto body = domain::Json::parse(openAi.body);
  EXPECT_EQ(body.at("messages").size(), 4U);
  EXPECT_EQ(body.at("messages").at(0).at("role"), "system");
  EXPECT_EQ(body.at("max_tokens"), 99);
  EXPECT_EQ(body.at("stream_options").at("include_usage"), true);

  const HttpCall anthropic = chatCall(endpointFor(EndpointKind::Anthropic), request());
  EXPECT_EQ(anthropic.url, "https://example.com/v1/messages");
  EXPECT_EQ(domain::Json::parse(anthropic.body).at("system"), "rules");
  EXPECT_EQ(domain::Json::parse(anthropic.body).at("messages").size(), 3U);
  EXPECT_THAT(anthropic.headers, Contains(HttpHeader{"anthropic-version", "2023-06-01"}));

  const HttpCall ollama = chatCall(endpointFor(EndpointKind::Ollama), request());
  EXPECT_EQ(ollama.url, "https://example.com/v1/api/chat");
  EXPECT_EQ(domain::Json::parse(ollama.body).at("options").at("num_predict"), 99);
  EXPECT_EQ(keyHeader(EndpointKind::Anthropic, "k"), (HttpHeader{"x-api-key", "k"}));
  EXPECT_EQ(keyHeader(EndpointKind::OpenAi, "k"), (HttpHeader{"authorization", "Bearer k"}));
}

TEST(WireFormat, LeavesOutWhatAnEndpointDoesNotUnderstand) {
  Endpoint endpoint = endpointFor(EndpointKind::OpenAi);
  endpoint.quirks = {.noSystem = true, .noTemperature = true, .maxCompletionTokens = true, .noStreamOptions = true};
  const auto body = domain::Json::parse(chatCall(endpoint, request()).body);
  EXPECT_EQ(body.at("messages").at(0).at("content"), "rules\n\nhello");
  EXPECT_EQ(body.at("max_completion_tokens"), 99);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_FALSE(body.contains("seed"));
  EXPECT_FALSE(body.contains("stream_options"));
}

TEST(WireFormat, ReadsTheSameWhereverAReplyIsCut) {
  for (const auto& [kind, reply] : {std::pair(EndpointKind::OpenAi, openAiReply(kText, 11, 22, "stop", 40)),
                                    std::pair(EndpointKind::Anthropic, anthropicReply(kText, 11, 22)),
                                    std::pair(EndpointKind::Ollama, ollamaReply(kText, 11, 22))}) {
    const std::string stream = whole(reply);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, stream.size()}) {
      const ReplyCollector collector = collect(kind, stream, piece);
      ASSERT_FALSE(collector.failure()) << name(kind) << ": " << collector.failure()->message;
      EXPECT_EQ(collector.reply().reason, StopReason::End);
      EXPECT_EQ(collector.reply().model, "loopback-model");
      EXPECT_EQ(collector.usage(), (TokenUsage{.input = 11, .output = 22})) << name(kind);
    }
  }
  EXPECT_EQ(collect(EndpointKind::OpenAi, whole(openAiReply(kText, 1, 1, "stop", 1000)), 3).reply().text, kText);
}

TEST(WireFormat, KnowsWhyAReplyStopped) {
  EXPECT_EQ(collect(EndpointKind::OpenAi, whole(openAiReply("x", 1, 1, "length")), 9).reply().reason,
            StopReason::Length);
  EXPECT_EQ(collect(EndpointKind::OpenAi, whole(openAiReply("x", 1, 1, "content_filter")), 9).reply().reason,
            StopReason::Refused);
  EXPECT_EQ(collect(EndpointKind::Anthropic, whole(anthropicReply("x", 1, 1, "refusal")), 9).reply().reason,
            StopReason::Refused);
  EXPECT_EQ(collect(EndpointKind::Ollama, whole(ollamaReply("x", 1, 1, "length")), 9).reply().reason,
            StopReason::Length);
}

TEST(WireFormat, EstimatesWhatAnEndpointDoesNotCount) {
  const std::string stream =
      "data: {\"choices\":[{\"delta\":{\"content\":\"123456789\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  const TokenUsage usage = collect(EndpointKind::OpenAi, stream, 5).usage();
  EXPECT_TRUE(usage.isEstimated);
  EXPECT_EQ(usage.output, 3);
}

TEST(WireFormat, AnErrorInTheMiddleOfAStreamIsAFailure) {
  const std::string openAi = "data: {\"error\":{\"message\":\"boom\",\"type\":\"insufficient_quota\"}}\n\n";
  EXPECT_EQ(collect(EndpointKind::OpenAi, openAi, 4).failure()->kind, FailureKind::Quota);
  const std::string anthropic =
      "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
  const auto busy = collect(EndpointKind::Anthropic, anthropic, 4).failure();
  EXPECT_EQ(busy->kind, FailureKind::Server);
  EXPECT_EQ(busy->message, "busy");
  EXPECT_EQ(collect(EndpointKind::Ollama, "{\"error\":\"out of memory\"}\n", 4).failure()->message, "out of memory");
}

TEST(WireFormat, GarbageIsAFailureOfItsOwnAndNeverMore) {
  for (const std::string& stream :
       {std::string("data: not json\n\n"), std::string("data: [1, 2]\n\n"), std::string("data: [DONE]\n\n")}) {
    EXPECT_EQ(collect(EndpointKind::OpenAi, stream, 3).failure()->kind, FailureKind::Garbled) << stream;
  }
  EXPECT_EQ(collect(EndpointKind::OpenAi, "", 3).failure()->kind, FailureKind::Connection);
  EXPECT_EQ(collect(EndpointKind::Ollama, "<html>\n", 3).failure()->kind, FailureKind::Garbled);
  const std::string cut = whole(openAiReply(kText));
  EXPECT_EQ(collect(EndpointKind::OpenAi, cut.substr(0, cut.size() / 3), 7).failure()->kind, FailureKind::Connection);
}

TEST(WireFormat, RandomBytesNeverDoAnythingButFail) {
  Random random(5);
  for (const EndpointKind kind : {EndpointKind::OpenAi, EndpointKind::Anthropic, EndpointKind::Ollama}) {
    const std::string good = whole(kind == EndpointKind::OpenAi      ? openAiReply(kText)
                                   : kind == EndpointKind::Anthropic ? anthropicReply(kText)
                                                                     : ollamaReply(kText));
    for (int i = 0; i < 300; ++i) {
      std::string stream = good;
      for (int change = 0; change < 6; ++change) {
        stream[random.below(stream.size())] = static_cast<char>(random.below(256));
      }
      const ReplyCollector collector = collect(kind, stream, 1 + random.below(40));
      EXPECT_TRUE(collector.failure() || collector.reply().text.size() <= stream.size());
    }
  }
}

TEST(WireFormat, AReplyThatIsTooLargeEnds) {
  const auto reader = makeReplyReader(EndpointKind::OpenAi);
  const std::string comment = ": " + std::string(1 << 16, 'x') + "\n";
  bool failed = false;
  for (int i = 0; i < 200 && !failed; ++i) {
    for (const ChatEvent& event : reader->feed(comment)) {
      failed = std::get<ChatFailure>(event).kind == FailureKind::TooLarge;
    }
  }
  EXPECT_TRUE(failed);
  EXPECT_TRUE(reader->isOver());
}

TEST(WireFormat, StatusesBecomeKindsOfFailures) {
  const auto kindOf = [](int status, const std::string& body = {}) { return failureOf({status, {}, body}, 0).kind; };
  EXPECT_EQ(kindOf(401), FailureKind::Denied);
  EXPECT_EQ(kindOf(403), FailureKind::Denied);
  EXPECT_EQ(kindOf(402), FailureKind::Quota);
  EXPECT_EQ(kindOf(404), FailureKind::BadRequest);
  EXPECT_EQ(kindOf(302), FailureKind::BadRequest) << "a key is not carried to another host";
  EXPECT_EQ(kindOf(429), FailureKind::RateLimited);
  EXPECT_EQ(kindOf(429, R"({"error":{"message":"pay","type":"insufficient_quota"}})"), FailureKind::Quota);
  EXPECT_EQ(kindOf(529), FailureKind::Server);
  const ChatFailure page = failureOf({502, {}, "<html><body>Bad gateway</body></html>"}, 0);
  EXPECT_EQ(page.message, "HTTP status 502");
}

TEST(WireFormat, ReadsHowLongToWait) {
  using std::chrono::milliseconds;
  const auto waitOf = [](std::vector<HttpHeader> headers) {
    return failureOf({429, std::move(headers), ""}, 784111777000).retryAfter;
  };
  EXPECT_EQ(waitOf({{"retry-after", "2"}}), milliseconds(2000));
  EXPECT_EQ(waitOf({{"retry-after", "2"}, {"retry-after-ms", "250"}}), milliseconds(250));
  EXPECT_EQ(waitOf({{"retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"}}), milliseconds(10000));
  EXPECT_EQ(waitOf({{"retry-after", "soon"}}), std::nullopt);
  EXPECT_EQ(failureOf({429, {{"x-should-retry", "false"}}, ""}, 0).shouldRetry, false);
}

}  // namespace
}  // namespace swage::models
