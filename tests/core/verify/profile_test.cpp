// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/relay_device.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kKernels = R"(
#include <cstdint>
extern "C" void relu(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const std::int64_t n = *static_cast<std::int64_t*>(a[2]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
extern "C" void relu_again(void** a) { relu(a); }
)";

struct FakeProfiler final : device::Profiler {
  FakeProfiler(bool allowed, std::vector<std::string>& names) : isAllowed(allowed), sampled(names) {}

  device::ProfilerResult<void> beginSampling() override {
    return isAllowed ? device::ProfilerResult<void>() : tl::make_unexpected(denied());
  }
  device::ProfilerResult<device::CounterReport> counters(const Program& program) override {
    if (!isAllowed) {
      return tl::make_unexpected(denied());
    }
    if (const auto failed = program([](const Launch& launch) { return launch(); })) {
      return tl::make_unexpected(device::ProfilerFailure{failed->detail, "", failed->poisoned});
    }
    return device::CounterReport{{{"gpu__time_duration.sum", 1234.0}}, {"a__metric.sum"}, 1};
  }
  device::ProfilerResult<device::SampleReport> samples(const Program&, const std::string& entry,
                                                       const std::string&) override {
    if (!isAllowed) {
      return tl::make_unexpected(denied());
    }
    sampled.push_back(entry);
    return device::SampleReport{{{16, "FADD R0, R1, R2", 3, 5, {{"wait", 5.0}}}}, 5, 0};
  }
  static device::ProfilerFailure denied() { return {"counters are denied", "Ask the administrator."}; }

  bool isAllowed;
  std::vector<std::string>& sampled;  // entries, in order
};

// The CPU, with a profiler put in its place.
class ProfiledDevice final : public testing::RelayDevice {
 public:
  using RelayDevice::RelayDevice;
  [[nodiscard]] device::ProfilerResult<std::unique_ptr<device::Profiler>> openProfiler() override {
    return std::make_unique<FakeProfiler>(isAllowed, sampled);
  }

  bool isAllowed = true;
  std::vector<std::string> sampled;
};

class ProfileOfACandidate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_cpu = testing::openCpu();
    ASSERT_NE(s_cpu, nullptr);
    s_kernels = testing::compileSharedObject(kKernels);
  }
  static void TearDownTestSuite() { s_cpu.reset(); }

  wire::Profiled profile(device::Device& device, const domain::LaunchPlan& plan) {
    wire::LoadTask load;
    load.task = m_task;
    load.timeEager = false;
    auto session = TaskSession::load(load, device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    wire::ProfileRequest request;
    request.request = 7;
    request.plan = plan;
    request.binary = s_kernels;
    std::string stages;
    auto result = (*session)->profile(request, [&](std::string_view stage) { stages += stage; });
    EXPECT_EQ(stages, "profile");
    EXPECT_EQ(result.request, 7U);
    return result;
  }

  static inline std::unique_ptr<device::Device> s_cpu;
  static inline std::string s_kernels;
  domain::Task m_task = testing::pointwiseTask({13, 101}, "aten.relu.default");
};

TEST_F(ProfileOfACandidate, OnACpuHasTheTimeOfEachKernel) {
  const wire::Profiled result = profile(*s_cpu, testing::oneKernelPlan(m_task, "relu"));
  if (result.profile.source == domain::ProfileSource::Activity) {
    EXPECT_FALSE(result.profile.limitation.empty()) << "why nothing was counted";
  } else {
    EXPECT_EQ(result.profile.source, domain::ProfileSource::Counters);
  }
  ASSERT_EQ(result.profile.kernels.size(), 1U);
  EXPECT_EQ(result.profile.kernels[0].entry, "relu");
  EXPECT_GT(result.profile.kernels[0].durationNs, 0.0);
  EXPECT_EQ(result.profile.kernels[0].registers, 0);
  EXPECT_FALSE(result.workerExits);
}

TEST_F(ProfileOfACandidate, HasCountersAndSamplesWhereTheDeviceGivesThem) {
  ProfiledDevice device(*s_cpu);
  const wire::Profiled result = profile(device, testing::oneKernelPlan(m_task, "relu"));
  EXPECT_EQ(result.profile.source, domain::ProfileSource::Counters);
  EXPECT_EQ(result.profile.limitation, "this chip does not count a__metric.sum");
  ASSERT_EQ(result.profile.kernels.size(), 1U);
  const domain::KernelProfile& kernel = result.profile.kernels[0];
  EXPECT_EQ(kernel.durationNs, 1234.0);
  EXPECT_THAT(kernel.metrics, ElementsAre(domain::ProfileMetric{"gpu__time_duration.sum", 1234.0}));
  EXPECT_THAT(kernel.instructions,
              ElementsAre(domain::InstructionSamples{16, "FADD R0, R1, R2", 3, 5, {{"wait", 5.0}}}));
  EXPECT_TRUE(result.workerExits) << "a profiler was in the process";
}

// The time may end before all of them have had their turn.
TEST_F(ProfileOfACandidate, BeginsWithTheKernelOfMostThreads) {
  ProfiledDevice device(*s_cpu);
  domain::LaunchPlan plan = testing::oneKernelPlan(m_task, "relu");
  domain::KernelStep large = std::get<domain::KernelStep>(plan.steps[0]);
  large.entry = "relu_again";
  large.grid.x = 2;
  plan.steps.emplace_back(large);
  const wire::Profiled result = profile(device, plan);
  EXPECT_THAT(device.sampled, ElementsAre("relu_again", "relu"));
  ASSERT_EQ(result.profile.kernels.size(), 2U);
  EXPECT_EQ(result.profile.kernels[0].entry, "relu") << "but they are shown in the order of their launches";
}

TEST_F(ProfileOfACandidate, FallsBackToTimesAndSaysHowToGetMore) {
  ProfiledDevice device(*s_cpu);
  device.isAllowed = false;
  const wire::Profiled result = profile(device, testing::oneKernelPlan(m_task, "relu"));
  EXPECT_EQ(result.profile.source, domain::ProfileSource::Activity);
  EXPECT_EQ(result.profile.limitation, "counters are denied. Ask the administrator.");
  ASSERT_EQ(result.profile.kernels.size(), 1U);
  EXPECT_GT(result.profile.kernels[0].durationNs, 0.0);
}

TEST_F(ProfileOfACandidate, CountsTheLaunchesOfOneKernel) {
  domain::LaunchPlan plan = testing::oneKernelPlan(m_task, "relu");
  plan.steps.push_back(plan.steps[0]);
  const wire::Profiled result = profile(*s_cpu, plan);
  ASSERT_EQ(result.profile.kernels.size(), 1U);
  EXPECT_EQ(result.profile.kernels[0].launches, 2);
}

TEST_F(ProfileOfACandidate, WithoutKernelsIsEmpty) {
  ProfiledDevice device(*s_cpu);
  const wire::Profiled result = profile(device, testing::atenPlan(m_task));
  EXPECT_THAT(result.profile.kernels, IsEmpty());
  EXPECT_THAT(result.profile.limitation, HasSubstr("no kernel of its own"));
  EXPECT_FALSE(result.workerExits) << "no profiler was needed";
  EXPECT_EQ(result.profile.source, domain::ProfileSource::Compiler);
}

TEST_F(ProfileOfACandidate, SaysWhyItCannotRun) {
  const wire::Profiled result = profile(*s_cpu, testing::oneKernelPlan(m_task, "missing"));
  EXPECT_EQ(result.profile.source, domain::ProfileSource::Compiler);
  EXPECT_THAT(result.profile.limitation, HasSubstr("the shared object has no entry 'missing'"));
}

}  // namespace
}  // namespace swage::verify
