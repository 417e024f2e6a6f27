// SPDX-License-Identifier: Apache-2.0
#include "core/run/recorded_case.h"

#include <gmock/gmock.h>

namespace swage::run {
namespace {

using ::testing::IsEmpty;

// One kernel of 256 threads on a GPU.
class KernelNumbersTest : public ::testing::Test {
 protected:
  KernelNumbersTest() {
    domain::KernelStep step;
    step.entry = "k";
    step.grid = {64, 1, 1};
    step.block = {256, 1, 1};
    m_recorded.candidate.program.language = domain::Language::CudaCpp;
    m_recorded.candidate.program.plan.steps = {step};
    m_recorded.candidate.evaluation = domain::Correct();
    domain::KernelFacts facts;
    facts.entry = "k";
    facts.registers = 64;
    m_recorded.candidate.kernels = {facts};
    m_device.kind = domain::DeviceKind::Cuda;
    m_device.architecture = "sm_90a";
    m_device.computeCapability = 90;
    m_device.multiprocessors = 132;
  }
  [[nodiscard]] std::vector<models::KernelNumbers> numbers() const {
    return kernelNumbers(m_recorded.on(m_device, {}, domain::ScalarType::Float32));
  }

  RecordedCase m_recorded;
  domain::DeviceInfo m_device;
};

TEST_F(KernelNumbersTest, TheCompilerKnowsRegistersAndWhatFits) {
  const auto found = numbers();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].entry, "k");
  EXPECT_EQ(found[0].registers, 64);
  EXPECT_DOUBLE_EQ(found[0].occupancy, 0.5) << "four blocks of 256 threads, of 2048";
  EXPECT_THAT(found[0].lines, IsEmpty());
}

TEST_F(KernelNumbersTest, AProfileKnowsTheLinesThatTakeTheTime) {
  domain::KernelProfile kernel;
  kernel.entry = "k";
  kernel.registers = 64;
  kernel.theoreticalOccupancy = 0.375;
  for (const auto& [line, samples] : {std::pair{3, 10}, std::pair{7, 30}, std::pair{7, 20}, std::pair{9, 40}}) {
    domain::InstructionSamples instruction;
    instruction.offset = 16 * static_cast<std::int64_t>(kernel.instructions.size());
    instruction.line = line;
    instruction.samples = samples;
    kernel.instructions.push_back(instruction);
  }
  m_recorded.profile = domain::Profile{
      .source = domain::ProfileSource::Counters, .limitation = {}, .kernels = {kernel}, .conditions = {}};
  const auto found = numbers();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].occupancy, 0.375);
  ASSERT_EQ(found[0].lines.size(), 3U);
  EXPECT_EQ(found[0].lines[0].line, 7);
  EXPECT_DOUBLE_EQ(found[0].lines[0].share, 0.5);
  EXPECT_EQ(found[0].lines[1].line, 9);
}

TEST_F(KernelNumbersTest, OnACpuThereAreNoRegisters) {
  m_device.kind = domain::DeviceKind::Cpu;
  m_recorded.candidate.kernels[0].registers = 0;
  const auto found = numbers();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].registers, 0);
  EXPECT_EQ(found[0].occupancy, 0.0);
}

}  // namespace
}  // namespace swage::run
