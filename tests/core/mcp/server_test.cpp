// SPDX-License-Identifier: Apache-2.0
#include "core/mcp/server.h"

#include <gmock/gmock.h>

namespace swage::mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One tool that answers when the test says so, and one resource.
class ScriptedHost final : public Host {
 public:
  [[nodiscard]] std::vector<Tool> tools() const override {
    return {{.name = "look", .title = "Look", .description = "Looks.", .inputSchema = {{"type", "object"}}},
            {.name = "change",
             .title = "Change",
             .description = "Changes.",
             .inputSchema = {{"type", "object"}},
             .isReadOnly = false,
             .isRepeatable = false}};
  }
  void call(ToolCall call) override { calls.push_back(std::move(call)); }
  void cancel(std::int64_t number) override { cancelled.push_back(number); }
  [[nodiscard]] std::vector<Resource> resources() const override { return {{"swage://a", "a", "An a", "text/plain"}}; }
  [[nodiscard]] std::vector<Resource> templates() const override { return {{"swage://{x}", "x", "Any", "text/plain"}}; }
  [[nodiscard]] Result<ResourceText> read(const std::string& uri) const override {
    if (uri == "swage://a") {
      return ResourceText{"text/plain", "text of a"};
    }
    return Error(ErrorKind::NotFound, "there is no resource " + uri);
  }
  void greet(const std::string& clientName) override { client = clientName; }

  std::vector<ToolCall> calls;
  std::vector<std::int64_t> cancelled;
  std::string client;
};

class ServerTest : public ::testing::Test {
 protected:
  // The answers since the last call, as JSON.
  std::vector<Json> say(std::string_view line) {
    m_server.receive(line);
    return take();
  }
  std::vector<Json> take() { return std::exchange(m_sent, {}); }
  Json initialize(const std::string& version = "2025-06-18") {
    const auto answers = say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                             version + R"(","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}})");
    EXPECT_THAT(answers, SizeIs(1));
    EXPECT_THAT(say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), IsEmpty());
    return answers.empty() ? Json() : answers.front();
  }
  static int codeOf(const std::vector<Json>& answers) {
    return answers.size() == 1 && answers[0].contains("error") ? answers[0]["error"]["code"].get<int>() : 0;
  }

  ScriptedHost m_host;
  std::vector<Json> m_sent;
  Server m_server{{.name = "swage", .title = "Swage", .version = "1", .instructions = "Look."},
                  m_host,
                  [this](const std::string& line) { m_sent.push_back(Json::parse(line)); }};
};

TEST_F(ServerTest, SpeaksTheVersionThatTheClientAsksFor) {
  const Json answer = initialize("2024-11-05");
  EXPECT_EQ(answer["id"], 0);
  EXPECT_EQ(answer["result"]["protocolVersion"], "2024-11-05");
  EXPECT_EQ(answer["result"]["serverInfo"]["name"], "swage");
  EXPECT_EQ(answer["result"]["instructions"], "Look.");
  EXPECT_TRUE(answer["result"]["capabilities"].contains("tools"));
  EXPECT_EQ(m_host.client, "tester");
}

TEST_F(ServerTest, OffersItsNewestVersionToWhoAsksForAnotherOne) {
  EXPECT_EQ(initialize("2031-01-01")["result"]["protocolVersion"], "2025-06-18");
}

TEST_F(ServerTest, AnswersNothingButPingBeforeItIsInitialised) {
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")), -32600);
  EXPECT_EQ(say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})")[0]["result"], Json::object());
}

TEST_F(ServerTest, DescribesItsToolsWithHints) {
  initialize();
  const Json tools = say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")[0]["result"]["tools"];
  ASSERT_THAT(tools, SizeIs(2));
  EXPECT_EQ(tools[0]["name"], "look");
  EXPECT_EQ(tools[0]["title"], "Look");
  EXPECT_EQ(tools[0]["inputSchema"]["type"], "object");
  EXPECT_EQ(tools[0]["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(tools[1]["annotations"]["readOnlyHint"], false);
  EXPECT_EQ(tools[1]["annotations"]["idempotentHint"], false);
}

TEST_F(ServerTest, AnOldClientGetsNoMembersThatItDoesNotKnow) {
  initialize("2024-11-05");
  const Json tools = say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")[0]["result"]["tools"];
  EXPECT_FALSE(tools[0].contains("annotations"));
  EXPECT_FALSE(tools[0].contains("title"));
}

TEST_F(ServerTest, AToolAnswersLaterAndTellsItsProgressMeanwhile) {
  initialize();
  EXPECT_THAT(say(R"({"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"change",
                      "arguments":{"n":3},"_meta":{"progressToken":"t"}}})"),
              IsEmpty());
  ASSERT_THAT(m_host.calls, SizeIs(1));
  EXPECT_EQ(m_host.calls[0].arguments["n"], 3);
  m_host.calls[0].progress(1.0, "compiling");
  const auto told = take();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0]["method"], "notifications/progress");
  EXPECT_EQ(told[0]["params"], Json({{"progressToken", "t"}, {"progress", 1.0}, {"message", "compiling"}}));
  m_host.calls[0].answer({"done", false});
  m_host.calls[0].progress(2.0, "late");
  const auto answers = take();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0]["id"], "x");
  EXPECT_EQ(answers[0]["result"]["content"][0]["text"], "done");
  EXPECT_EQ(answers[0]["result"]["isError"], false);
}

TEST_F(ServerTest, NoArgumentsAreAnEmptyObject) {
  initialize();
  static_cast<void>(say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}})"));
  static_cast<void>(say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look","arguments":null}})"));
  ASSERT_THAT(m_host.calls, SizeIs(2));
  EXPECT_EQ(m_host.calls[0].arguments, Json::object());
  EXPECT_EQ(m_host.calls[1].arguments, Json::object());
}

TEST_F(ServerTest, WhoAskedForNoProgressHearsOfNone) {
  initialize();
  static_cast<void>(say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}})"));
  m_host.calls.at(0).progress(1.0, "compiling");
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ServerTest, ACancelledCallIsNotAnswered) {
  initialize();
  static_cast<void>(say(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"change"}})"));
  static_cast<void>(say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})"));
  EXPECT_THAT(m_host.cancelled, ElementsAre(m_host.calls.at(0).number));
  m_host.calls[0].answer({"late", false});
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_THAT(say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})"), IsEmpty());
}

TEST_F(ServerTest, TwoRequestsInProgressNeedTwoIds) {
  initialize();
  static_cast<void>(say(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"change"}})"));
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":7,"method":"ping"})")), -32600);
}

TEST_F(ServerTest, TheAnswersToABatchComeTogether) {
  initialize("2025-03-26");
  EXPECT_THAT(say(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}},
                      {"jsonrpc":"2.0","method":"notifications/unknown"},
                      {"jsonrpc":"2.0","id":2,"method":"ping"}])"),
              IsEmpty());
  m_host.calls.at(0).answer({"seen", false});
  const auto answers = take();
  ASSERT_THAT(answers, SizeIs(1));
  ASSERT_THAT(answers[0], SizeIs(2));
  EXPECT_EQ(answers[0][0]["id"], 2);
  EXPECT_EQ(answers[0][1]["id"], 1);
}

TEST_F(ServerTest, ListsAndReadsResources) {
  initialize();
  EXPECT_EQ(say(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})")[0]["result"]["resources"][0]["uri"],
            "swage://a");
  EXPECT_EQ(say(R"({"jsonrpc":"2.0","id":2,"method":"resources/templates/list"})")[0]["result"]["resourceTemplates"][0]
                                                                                  ["uriTemplate"],
            "swage://{x}");
  const auto read = say(R"({"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"swage://a"}})");
  EXPECT_EQ(read[0]["result"]["contents"][0]["text"], "text of a");
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"swage://b"}})")), -32002);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":5,"method":"resources/read","params":{}})")), -32602);
}

TEST_F(ServerTest, WhatIsWrongIsSaidInOneMessage) {
  initialize();
  EXPECT_EQ(codeOf(say("{\"jsonrpc\":")), -32700);
  EXPECT_EQ(codeOf(say("7")), -32600);
  EXPECT_EQ(codeOf(say("[]")), -32600);
  EXPECT_EQ(codeOf(say(R"({"id":1,"method":"ping"})")), -32600);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1})")), -32600);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":{},"method":"ping"})")), -32600);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})")), -32600);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1,"method":"no/such"})")), -32601);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}})")), -32602);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}})")),
            -32602);
  EXPECT_EQ(codeOf(say(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1"}})")), -32600);
  EXPECT_EQ(codeOf(say(std::string(kMostOfLine + 1, ' ') + "x")), -32600);
  EXPECT_EQ(codeOf(say(std::string(100000, '['))), -32700);
}

TEST_F(ServerTest, WhatNeedsNoAnswerGetsNone) {
  EXPECT_THAT(say(""), IsEmpty());
  EXPECT_THAT(say(" \r"), IsEmpty());
  EXPECT_THAT(say(R"({"jsonrpc":"2.0","id":1,"result":{}})"), IsEmpty());
  EXPECT_THAT(say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})"), IsEmpty());
}

}  // namespace
}  // namespace swage::mcp
