// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>

#include "core/device/open_device.h"
#include "core/device/sass_listing.h"
#include "tests/core/device/gpu_kernels.h"
#include "tests/support/result_matchers.h"

// What the profiler says of kernels whose counters can be worked out.
namespace swage::device {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;
using ::testing::Not;

class CudaProfile : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = openDevice(domain::DeviceKind::Cuda, 0, 1);
    if (!device) {
      GTEST_SKIP() << device.error().message();
    }
    m_device = std::move(*device);
    auto profiler = m_device->openProfiler();
    if (!profiler) {
      GTEST_SKIP() << profiler.error().cause;
    }
    m_profiler = std::move(*profiler);
    if (const auto begun = m_profiler->beginSampling(); !begun) {
      GTEST_SKIP() << begun.error().cause << "\n" << begun.error().fix;
    }
    auto cubin = testing::compileCubin(testing::kProbeSource, m_device->info().architecture);
    ASSERT_THAT(cubin, testing::IsOk());
    m_cubin = *cubin;
    auto module = m_device->loadModule(m_cubin);
    ASSERT_TRUE(module) << module.error().detail;
    m_module = std::move(*module);
  }

  std::unique_ptr<Kernel> bind(const testing::ProbeKernel& kernel) {
    return std::move(m_module->bind(testing::stepOf(kernel)).value());
  }
  Profiler::Program programOf(Kernel& kernel) {
    return [this, &kernel](const Profiler::Bracket& bracket) {
      return bracket([this, &kernel] {
        void* in = m_in->address();
        void* out = m_out->address();
        std::vector<void*> arguments = {static_cast<void*>(&in), static_cast<void*>(&out)};
        return kernel.launch(arguments.data());
      });
    };
  }
  [[nodiscard]] std::map<std::string, double> countersOf(Kernel& kernel) {
    const auto report = m_profiler->counters(programOf(kernel));
    EXPECT_TRUE(report) << report.error().cause;
    std::map<std::string, double> values;
    for (const domain::ProfileMetric& metric : report ? report->values : std::vector<domain::ProfileMetric>()) {
      values[metric.name] = metric.value;
    }
    return values;
  }
  // Up to the first EXIT, as every warp runs them where no branch is taken.
  [[nodiscard]] double straightInstructions(const std::string& entry) {
    const auto listing = disassemble(findDisassembler(""), m_cubin);
    double count = 0;
    for (const auto& [offset, instruction] : parseSass(listing.value_or(""), entry)) {
      count += 1;
      if (instruction.text.starts_with("EXIT")) {
        return count;
      }
    }
    return 0;
  }

  std::unique_ptr<Device> m_device;
  std::unique_ptr<Profiler> m_profiler;
  std::string m_cubin;
  std::unique_ptr<KernelModule> m_module;
  std::optional<testing::DeviceArray> m_in;
  std::optional<testing::DeviceArray> m_out;
};

TEST_F(CudaProfile, OfACopyCountsItsBytesAndInstructions) {
  m_in.emplace(sizeof(float) * testing::kProbeElements);
  m_out.emplace(sizeof(float) * testing::kProbeElements);
  const testing::ProbeKernel& copy = testing::kProbeKernels[0];
  const auto kernel = bind(copy);
  const auto samples = m_profiler->samples(programOf(*kernel), copy.entry, m_cubin);
  ASSERT_TRUE(samples) << samples.error().cause;
  EXPECT_GT(samples->samples, 100);
  for (const domain::InstructionSamples& instruction : samples->instructions) {
    EXPECT_THAT(instruction.stalls, Not(IsEmpty())) << instruction.offset;
    EXPECT_GE(instruction.line, 2) << instruction.offset;
    EXPECT_LE(instruction.line, 5) << instruction.offset;
  }
  auto values = countersOf(*kernel);
  EXPECT_THAT(values["dram__bytes_read.sum"], DoubleNear(copy.readBytes, 0.03 * copy.readBytes));
  EXPECT_GT(values["dram__bytes_write.sum"], 0.5 * copy.writtenBytes);
  EXPECT_LT(values["dram__bytes_write.sum"], 1.03 * copy.writtenBytes);
  EXPECT_GT(values["gpu__time_duration.sum"], 1000.0);
  if (const double perWarp = straightInstructions(copy.entry); perWarp > 0) {
    const double warps = copy.blocks * (copy.threads / 32.0);
    EXPECT_THAT(values["sm__inst_executed.sum"], DoubleNear(perWarp * warps, 0.001 * perWarp * warps));
  }
  const auto resources = kernel->resources();
  ASSERT_TRUE(resources);
  EXPECT_GT(resources->registers, 0);
  EXPECT_EQ(resources->occupancy.theoretical, 1.0);
  EXPECT_LE(values["sm__warps_active.avg.pct_of_peak_sustained_active"], 100.0);
}

}  // namespace
}  // namespace swage::device
