// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/device/open_device.h"
#include "core/domain/json.h"
#include "core/verify/task_session.h"
#include "core/verify/torch_runtime.h"
#include "tests/core/device/gpu_kernels.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

// A candidate's profile on a GPU, in a process that has PyTorch.
namespace swage::verify {
namespace {

constexpr const char* kRelu = R"(
extern "C" __global__ void relu(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) {
    y[i] = fmaxf(x[i], 0.0f);
  }
}
)";

TEST(CudaTaskProfile, HasCountersSamplesAndLines) {
  auto device = device::openDevice(domain::DeviceKind::Cuda, 0, 1);
  if (!device) {
    GTEST_SKIP() << device.error().message();
  }
  ASSERT_THAT(startTorch(domain::DeviceKind::Cuda, 0, 0), testing::IsOk());
  wire::LoadTask load;
  load.task = testing::pointwiseTask({8192, 4096}, "aten.relu.default");
  load.timeEager = false;
  const auto session = TaskSession::load(load, **device, [](std::string_view) {});
  ASSERT_THAT(session, testing::IsOk());
  const auto cubin = testing::compileCubin(kRelu, (*device)->info().architecture);
  ASSERT_THAT(cubin, testing::IsOk());
  wire::ProfileRequest request;
  request.plan = testing::oneKernelPlan(load.task, "relu");
  auto& step = std::get<domain::KernelStep>(request.plan.steps[0]);
  step.block = {256, 1, 1};
  step.grid = {8192 * 4096 / 256, 1, 1};
  request.binary = *cubin;
  const wire::Profiled result = (*session)->profile(request, [](std::string_view) {});
  std::fputs((domain::toJson(result.profile).dump(1) + "\n").c_str(), stderr);
  if (result.profile.source != domain::ProfileSource::Counters) {
    GTEST_SKIP() << result.profile.limitation;
  }
  ASSERT_EQ(result.profile.kernels.size(), 1U);
  const domain::KernelProfile& kernel = result.profile.kernels[0];
  EXPECT_GT(kernel.registers, 0);
  EXPECT_EQ(kernel.theoreticalOccupancy, 1.0);
  EXPECT_GT(kernel.durationNs, 10000.0);
  EXPECT_FALSE(kernel.instructions.empty());
  constexpr double kBytes = 4.0 * 8192 * 4096;
  for (const domain::ProfileMetric& metric : kernel.metrics) {
    if (metric.name == "dram__bytes_read.sum") {
      EXPECT_THAT(metric.value, ::testing::DoubleNear(kBytes, 0.03 * kBytes));
    }
  }
  EXPECT_TRUE(result.workerExits);
}

}  // namespace
}  // namespace swage::verify
