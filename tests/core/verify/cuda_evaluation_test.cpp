// SPDX-License-Identifier: Apache-2.0
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gmock/gmock.h>

#include <set>

#include "core/device/open_device.h"
#include "core/verify/task_session.h"
#include "core/verify/timed_streams.h"
#include "core/verify/torch_runtime.h"
#include "tests/core/verify/relu_ptx.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

// What can be tested on a GPU without a compiler: the driver loads PTX text as well as cubins.
namespace swage::verify {
namespace {

using ::testing::HasSubstr;
using testing::reluPtx;

class CudaEvaluation : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = device::openDevice(domain::DeviceKind::Cuda, 0, 1);
    if (!device) {
      GTEST_SKIP() << device.error().message();
    }
    ASSERT_THAT(startTorch(domain::DeviceKind::Cuda, 0, 0), testing::IsOk());
    m_device = std::move(*device);
    wire::LoadTask load;
    load.task = m_task;
    load.timingBudgetSeconds = 0.1;
    load.adversarial = true;
    load.heldBackSeeds = 3;
    auto session = TaskSession::load(load, *m_device, [](std::string_view) {});
    ASSERT_THAT(session, testing::IsOk());
    m_session = std::move(*session);
  }

  wire::Evaluated evaluate(const domain::LaunchPlan& plan, const std::string& binary) {
    wire::Evaluate request;
    request.plan = plan;
    request.binary = binary;
    request.timingBudgetSeconds = 0.1;
    return m_session->evaluate(request, [](std::string_view) {});
  }
  [[nodiscard]] domain::LaunchPlan plan() const {
    domain::LaunchPlan plan = testing::oneKernelPlan(m_task, "relu");
    auto& step = std::get<domain::KernelStep>(plan.steps[0]);
    step.block = {256, 1, 1};
    step.grid = {static_cast<std::uint32_t>((plan.buffers[0].elementCount() + 255) / 256), 1, 1};
    return plan;
  }

  domain::Task m_task = testing::pointwiseTask({1023, 1025}, "aten.relu.default");
  std::unique_ptr<device::Device> m_device;
  std::unique_ptr<TaskSession> m_session;
};

TEST_F(CudaEvaluation, KnowsTheDevice) {
  const domain::DeviceInfo& info = m_device->info();
  EXPECT_THAT(info.uuid, HasSubstr("GPU-"));
  EXPECT_THAT(info.architecture, HasSubstr("sm_"));
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.copyBytesPerSecond, 1e10);
}

TEST_F(CudaEvaluation, OfARightKernelIsCorrectAndTimed) {
  const auto result = evaluate(plan(), reluPtx("0"));
  const auto* correct = domain::asCorrect(result.evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(result.evaluation);
  EXPECT_TRUE(correct->bitwiseRepeatable);
  EXPECT_GT(correct->timing.candidate.medianNs, 500.0);
}

TEST_F(CudaEvaluation, OfARightKernelHoldsOnHardInputsAndHeldBackSeeds) {
  wire::Evaluate request;
  request.plan = plan();
  request.binary = reluPtx("0");
  request.verifyOnly = true;
  request.heldBack = true;
  const auto result = m_session->evaluate(request, [](std::string_view) {});
  const auto* correct = domain::asCorrect(result.evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(result.evaluation);
  std::vector<std::string> kinds;
  for (const domain::InputErrors& errors : correct->byInputs) {
    kinds.push_back(errors.inputs);
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre("task", "common offset", "cancelling", "large", "small", "equal",
                                            "denormal", "negative", "wide", "uneven", "held back"));
  EXPECT_THAT(m_session->ready().doubts, ::testing::IsEmpty());
}

TEST_F(CudaEvaluation, OfThePlanOfAtenCallsIsAboutAsFastAsEager) {
  const auto result = evaluate(testing::atenPlan(m_task), "");
  const auto* correct = domain::asCorrect(result.evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(result.evaluation);
  EXPECT_GT(correct->timing.speedup, 0.7);
  EXPECT_LT(correct->timing.speedup, 1.4);
}

TEST_F(CudaEvaluation, FindsWritesOutsideTheBuffers) {
  const auto result = evaluate(plan(), reluPtx("4"));
  const auto* wrong = std::get_if<domain::Wrong>(&result.evaluation);
  ASSERT_NE(wrong, nullptr) << domain::summary(result.evaluation);
  EXPECT_EQ(wrong->rule, "red zone");
  EXPECT_FALSE(result.workerExits);
}

TEST_F(CudaEvaluation, FindsElementsThatNobodyWrote) {
  domain::LaunchPlan half = plan();
  std::get<domain::KernelStep>(half.steps[0]).grid.x /= 2;
  const auto result = evaluate(half, reluPtx("0"));
  const auto* wrong = std::get_if<domain::Wrong>(&result.evaluation);
  ASSERT_NE(wrong, nullptr) << domain::summary(result.evaluation);
  EXPECT_EQ(wrong->rule, "unwritten");
}

TEST_F(CudaEvaluation, RefusesArgumentsThatDoNotFitTheKernel) {
  domain::LaunchPlan misfit = plan();
  auto& step = std::get<domain::KernelStep>(misfit.steps[0]);
  step.arguments[2] = domain::Int32{5};
  auto result = evaluate(misfit, reluPtx("0"));
  EXPECT_TRUE(std::holds_alternative<domain::LaunchFailed>(result.evaluation)) << domain::summary(result.evaluation);
  step.arguments.pop_back();
  result = evaluate(misfit, reluPtx("0"));
  EXPECT_TRUE(std::holds_alternative<domain::LaunchFailed>(result.evaluation)) << domain::summary(result.evaluation);
}

TEST_F(CudaEvaluation, RefusesMoreSharedMemoryThanABlockCanHave) {
  domain::LaunchPlan greedy = plan();
  std::get<domain::KernelStep>(greedy.steps[0]).dynamicSharedBytes = 1U << 20U;
  const auto result = evaluate(greedy, reluPtx("0"));
  EXPECT_TRUE(std::holds_alternative<domain::LaunchFailed>(result.evaluation)) << domain::summary(result.evaluation);
}

TEST_F(CudaEvaluation, TimedCallsTakeTurnsOnStreams) {
  const auto* torch = c10::impl::getDeviceGuardImpl(c10::kCUDA);
  const c10::Device where(c10::kCUDA, 0);
  const auto current = [&] { return torch->getStreamNativeHandle(torch->getStream(where)); };
  TimedStreams streams(*m_device);
  EXPECT_EQ(streams.count(), 1U);
  streams.open(where, 8);
  ASSERT_EQ(streams.count(), 8U);
  std::set<void*> used;
  for (std::size_t number = 0; number < streams.count(); ++number) {
    const auto time = streams.time(number, 1, {}, [&]() -> device::DeviceStatus {
      used.insert(current());
      return std::nullopt;
    });
    EXPECT_TRUE(time);
  }
  EXPECT_EQ(used.size(), 8U);
  EXPECT_EQ(used.count(nullptr), 0U);
  EXPECT_EQ(current(), nullptr) << "everything else is on the default stream";
}

TEST_F(CudaEvaluation, GivesUpTheDeviceAfterAnIllegalAddress) {
  const auto result = evaluate(plan(), reluPtx("0x7f0000000000"));
  EXPECT_TRUE(std::holds_alternative<domain::Crashed>(result.evaluation)) << domain::summary(result.evaluation);
  EXPECT_TRUE(result.workerExits);
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);  // nothing in this process may touch the device any more
}

}  // namespace
}  // namespace swage::verify
