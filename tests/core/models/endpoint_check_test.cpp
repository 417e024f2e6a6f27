// SPDX-License-Identifier: Apache-2.0
#include "core/models/endpoint_check.h"

#include <gmock/gmock.h>

#include "tests/core/models/loopback_server.h"
#include "tests/support/wait_for.h"

namespace swage::models {
namespace {

using ::testing::ElementsAre;
using testing::errorReply;
using testing::LoopbackServer;
using testing::openAiReply;
using testing::ServedRequest;
using testing::waitFor;

EndpointReport checked(const LoopbackServer& server) {
  EndpointCheck check(testing::endpointOf(server), std::make_shared<KeyRing>());
  bool done = false;
  QObject::connect(&check, &EndpointCheck::finished, &check, [&done] { done = true; });
  check.start();
  EXPECT_TRUE(waitFor([&done] { return done; }));
  return check.report();
}

TEST(EndpointCheck, SaysWhichModelsThereAreAndHowFastOneAnswers) {
  const LoopbackServer server([](const ServedRequest& request) {
    return request.method == "GET" ? errorReply(200, R"({"data":[{"id":"other"},{"id":"loopback-model"}]})")
                                   : openAiReply("ready", 10, 5);
  });
  const EndpointReport report = checked(server);
  EXPECT_TRUE(report.works());
  EXPECT_TRUE(report.canList);
  EXPECT_TRUE(report.hasModel);
  EXPECT_EQ(report.models.size(), 2U);
  EXPECT_GT(report.firstSeconds, 0.0);
  EXPECT_LE(report.firstSeconds, report.answer.seconds);
}

TEST(EndpointCheck, SaysWhyOneDoesNotAnswer) {
  const LoopbackServer server(
      [](const ServedRequest&) { return errorReply(401, R"({"error":{"message":"bad key"}})"); });
  const EndpointReport report = checked(server);
  EXPECT_FALSE(report.works());
  EXPECT_FALSE(report.canList);
  EXPECT_EQ(report.answer.failure()->kind, FailureKind::Denied);
  EXPECT_EQ(server.served().size(), 2U) << "asked once each";
}

TEST(EndpointCheck, ReadsTheListsOfAllFormats) {
  EXPECT_THAT(modelsIn(R"({"data":[{"id":"a"},{"id":7},3]})").value(), ElementsAre("a"));
  EXPECT_THAT(modelsIn(R"({"models":[{"name":"b:latest"}]})").value(), ElementsAre("b:latest"));
  EXPECT_FALSE(modelsIn("[]"));
  EXPECT_FALSE(modelsIn("<html>"));
}

}  // namespace
}  // namespace swage::models
