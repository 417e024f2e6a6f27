// SPDX-License-Identifier: Apache-2.0
#include "core/models/embedding_call.h"

#include <gmock/gmock.h>

#include "tests/core/models/loopback_server.h"
#include "tests/support/result_matchers.h"
#include "tests/support/wait_for.h"

namespace swage::models {
namespace {

using ::testing::ElementsAre;
using testing::errorReply;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::LoopbackServer;
using ::testing::Not;
using testing::ServedRequest;
using testing::waitFor;

Result<TextPoints> pointsFrom(const Endpoint& endpoint, const std::vector<std::string>& texts) {
  EmbeddingCall call(endpoint, std::make_shared<KeyRing>());
  std::optional<Result<TextPoints>> points;
  QObject::connect(&call, &EmbeddingCall::finished, &call,
                   [&points](const Result<TextPoints>& came) { points = came; });
  call.start(texts);
  EXPECT_TRUE(waitFor([&points] { return points.has_value(); }));
  return points.value_or(Error(ErrorKind::Internal, "nothing came"));
}

TEST(EmbeddingCall, GivesAPointForEachTextInTheirOrder) {
  const LoopbackServer server([](const ServedRequest&) {
    return errorReply(200, R"({"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}]})");
  });
  const auto points = pointsFrom(testing::endpointOf(server), {"softmax", "my key is sk-0123456789abcdefghijklmnop"});
  ASSERT_THAT(points, IsOk());
  EXPECT_THAT((*points)[0], ElementsAre(1.0F, 0.5F));
  EXPECT_THAT((*points)[1], ElementsAre(0.0F, 1.0F));
  ASSERT_EQ(server.served().size(), 1U);
  EXPECT_THAT(server.served()[0].path, HasSubstr("/embeddings"));
  EXPECT_THAT(server.served()[0].body, HasSubstr("softmax"));
  EXPECT_THAT(server.served()[0].body, Not(HasSubstr("sk-0123456789")));
}

TEST(EmbeddingCall, SpeaksOllamasFormat) {
  const LoopbackServer server([](const ServedRequest&) { return errorReply(200, R"({"embeddings":[[1,2,3]]})"); });
  const auto points = pointsFrom(testing::endpointOf(server, "local", EndpointKind::Ollama), {"softmax"});
  ASSERT_THAT(points, IsOk());
  EXPECT_THAT(points->front(), ElementsAre(1.0F, 2.0F, 3.0F));
  EXPECT_THAT(server.served()[0].path, HasSubstr("/api/embed"));
}

TEST(EmbeddingCall, SaysWhyThereAreNone) {
  LoopbackServer server([](const ServedRequest&) { return errorReply(401, R"({"error":{"message":"bad key"}})"); });
  EXPECT_THAT(pointsFrom(testing::endpointOf(server), {"a"}), IsError(ErrorKind::Environment, HasSubstr("bad key")));
  server.setScript([](const ServedRequest&) { return errorReply(200, "<html>"); });
  EXPECT_FALSE(pointsFrom(testing::endpointOf(server), {"a"}));
  EXPECT_THAT(pointsFrom(testing::endpointOf(server, "a", EndpointKind::Anthropic), {"a"}),
              IsError(ErrorKind::InvalidInput, HasSubstr("does not make points")));
}

TEST(EmbeddingCall, ReadsNothingThatIsNotAPointForEachText) {
  for (const char* body :
       {"{}", R"({"data":[]})", R"({"data":[{"index":0,"embedding":[]}]})", R"({"data":[{"index":7,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":["x"]}]})", R"({"embeddings":[[1],[1]]})", R"({"embeddings":[]})"}) {
    EXPECT_FALSE(readPoints(body, 1)) << body;
  }
  EXPECT_FALSE(readPoints(R"({"embeddings":[[1,2],[1]]})", 2));
}

}  // namespace
}  // namespace swage::models
