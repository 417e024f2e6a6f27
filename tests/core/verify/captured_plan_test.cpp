// SPDX-License-Identifier: Apache-2.0
// Plans that are captured, on a CPU whose captured calls are made again in full when they are launched. Memory that
// they had once must not be used again, as that of a CUDA graph is not: large blocks are kept when they are freed.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <utility>

#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/relay_device.h"
#include "tests/core/verify/relu_kernels.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

class CapturingDevice final : public testing::RelayDevice {
 public:
  using RelayDevice::RelayDevice;

  [[nodiscard]] device::DeviceResult<std::unique_ptr<device::CapturedCall>> capture(const Call& call) override {
    if (device::DeviceStatus failed = call()) {
      return tl::make_unexpected(std::move(*failed));
    }
    ++captures;
    return std::make_unique<Again>(call, launches);
  }

  int captures = 0;
  int launches = 0;

 private:
  class Again final : public device::CapturedCall {
   public:
    Again(Call call, int& launches) : m_call(std::move(call)), m_launches(launches) {}
    [[nodiscard]] device::DeviceStatus launch() override {
      ++m_launches;
      return m_call();
    }

   private:
    Call m_call;
    int& m_launches;
  };
};

class CapturedPlans : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_NE(::dlsym(RTLD_DEFAULT, "kSwageKeepsWhatIsFreed"), nullptr) << "needs LD_PRELOAD=libswage_no_reuse.so";
    s_kernels = testing::compileSharedObject(std::string(testing::kKernelMacro) + testing::kReluKernels);
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
  }
  static void TearDownTestSuite() { s_device.reset(); }

  static domain::Evaluation evaluate(device::Device& device, const std::string& entry) {
    const domain::Task task = testing::pointwiseTask({64, 512}, "aten.relu.default");
    const auto session = TaskSession::load(testing::briefLoad(task), device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    wire::Evaluate request;
    request.plan = testing::oneKernelPlan(task, entry);
    request.plan.isCaptured = true;
    request.binary = s_kernels;
    request.timingBudgetSeconds = 0.05;
    return (*session)->evaluate(request, [](std::string_view) {}).evaluation;
  }

  static std::string s_kernels;
  static std::unique_ptr<device::Device> s_device;
};
std::string CapturedPlans::s_kernels;
std::unique_ptr<device::Device> CapturedPlans::s_device;

TEST_F(CapturedPlans, AreTimedAsOneLaunch) {
  CapturingDevice device(*s_device);
  testing::expectCorrect(evaluate(device, "right"), "right");
  EXPECT_GE(device.captures, 1);
  EXPECT_GT(device.launches, device.captures) << "each timed call launches what was captured before";
}

TEST_F(CapturedPlans, AreTimedStepByStepWhereNothingCanBeCaptured) {
  testing::expectCorrect(evaluate(*s_device, "right"), "right");
}

TEST_F(CapturedPlans, AreRejectedForWhatTimedCallsLeave) {
  CapturingDevice device(*s_device);
  const domain::Evaluation evaluation = evaluate(device, "skipsSome");
  EXPECT_EQ(domain::asCorrect(evaluation), nullptr) << domain::summary(evaluation);
  EXPECT_GT(device.launches, 0);
}

}  // namespace
}  // namespace swage::verify
