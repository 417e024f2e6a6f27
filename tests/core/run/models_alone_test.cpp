// SPDX-License-Identifier: Apache-2.0
// How searches end in which only language models propose.
#include "tests/core/run/model_search_fixture.h"

namespace swage::run {
namespace {

using testing::answerWith;
using testing::errorReply;
using ::testing::HasSubstr;
using testing::openAiReply;
using testing::ServedRequest;

class ModelsAlone : public testing::ModelSearchFixture {};

TEST_F(ModelsAlone, ThatAreDeniedEndWithOneMessageAndKeepTheRecord) {
  m_server.setScript([](const ServedRequest&) { return errorReply(401, R"({"error":{"message":"bad key"}})"); });
  m_parts.searches = false;
  enlist();
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::ModelUnavailable);
  EXPECT_THAT(outcome.error->message(), HasSubstr("by language models alone found no correct kernel"));
  EXPECT_THAT(outcome.error->message(), HasSubstr("the model 'tester': denied: HTTP status 401: bad key"));
  EXPECT_THAT(outcome.error->hint(), HasSubstr("swage models test"));
  EXPECT_THAT(outcome.error->hint(), HasSubstr("swage resume r1 --project"));
  EXPECT_FALSE(isSaid("bad key")) << "once is enough";
  EXPECT_EQ(onlyRun().status, store::RunStatus::Failed);
  EXPECT_EQ(history().size(), 1U) << "PyTorch's own operators";

  m_server.setScript([](const ServedRequest&) { return openAiReply(answerWith(2)); });
  m_spec.resume = onlyRun().id;
  m_spec.maxEvaluations = 2;
  const services::RunOutcome second = run();
  EXPECT_FALSE(second.error);
  EXPECT_TRUE(second.best.isValid());
}

TEST_F(ModelsAlone, ThatNobodyReachesEndWithTheCause) {
  m_server.close();
  m_parts.searches = false;
  m_use.rest = std::chrono::milliseconds(10);
  enlist();
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::ModelUnavailable);
  EXPECT_THAT(outcome.error->message(), HasSubstr("8 calls in a row failed: the model 'tester': no connection"));
  EXPECT_THAT(outcome.error->hint(), HasSubstr("`swage models test tester`"));
  EXPECT_EQ(onlyRun().status, store::RunStatus::Failed);
}

TEST_F(ModelsAlone, GoOnAfterAFailedCall) {
  m_server.setScript([asked = 0](const ServedRequest&) mutable {
    return ++asked == 1 ? errorReply(500, "{}", {{"x-should-retry", "false"}}) : openAiReply(answerWith(2));
  });
  m_parts.searches = false;
  m_use.rest = std::chrono::milliseconds(10);
  m_spec.maxEvaluations = 2;
  enlist();
  const services::RunOutcome outcome = run();
  EXPECT_FALSE(outcome.error);
  EXPECT_TRUE(outcome.best.isValid());
  EXPECT_EQ(m_server.served().size(), 2U);
}

TEST_F(ModelsAlone, WhoseBudgetIsSpentEndAsSuch) {
  m_use.limits = {.usd = 0.15};
  m_server.setScript([number = 0](const ServedRequest&) mutable {
    ++number;
    return openAiReply(answerWith(13, fmt::format("wrong{}", number)), 1000, 4000, "stop", 1000);  // 4.1 cents
  });
  m_endpoint.maxOutput = 4000;
  m_parts.searches = false;
  enlist();
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::BudgetExhausted);
  EXPECT_THAT(outcome.error->message(), HasSubstr("budget used up"));
  EXPECT_THAT(outcome.error->hint(), HasSubstr("--budget-usd"));
  const auto made = madeByModel();
  ASSERT_GE(made.size(), 1U) << "the record stays";
  EXPECT_TRUE(std::holds_alternative<domain::Wrong>(*made[0].evaluation));
}

TEST_F(ModelsAlone, FinishWhatIsRightWhenTheModelIsGone) {
  m_server.setScript([asked = 0](const ServedRequest&) mutable {
    return ++asked == 1 ? openAiReply(answerWith(2)) : errorReply(401, R"({"error":{"message":"bad key"}})");
  });
  m_parts.searches = false;
  enlist();
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(outcome.state, services::RunState::Finished);
  EXPECT_TRUE(outcome.best.isValid());
  EXPECT_TRUE(isSaid("no model can be asked any more, and the search ends: the model 'tester': denied"));
}

}  // namespace
}  // namespace swage::run
