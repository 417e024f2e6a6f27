// SPDX-License-Identifier: Apache-2.0
// swage-replay with the fake driver of tests/fake_cuda, whose kernels do nothing.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::device {
namespace {

using ::testing::HasSubstr;

// An input, a scratch buffer that is zeroed, an output, and two launches.
domain::LaunchPlan plan() {
  domain::LaunchPlan plan;
  plan.buffers = {domain::contiguousTensor(domain::ScalarType::Float16, {1000}),
                  domain::contiguousTensor(domain::ScalarType::Float32, {7}),
                  domain::contiguousTensor(domain::ScalarType::Int64, {3, 5})};
  plan.inputs = {domain::ValueId(0)};
  plan.outputs = {domain::ValueId(2)};
  domain::KernelStep step;
  step.entry = "kernel";
  step.block.x = 128;
  step.arguments = {domain::ValueId(0), domain::Int32{1000}, domain::ValueId(1)};
  plan.steps = {domain::ZeroStep{domain::ValueId(1)}, step, step};
  return plan;
}

struct Answer {
  int exitCode = -1;
  std::string text;
};

Answer replay(const std::string& faults, const std::string& module = "kernel 0 1024 8 4 8\n",
              const domain::LaunchPlan& of = plan(), const std::string& option = "") {
  const testing::TempDir folder;
  EXPECT_THAT(writeFileAtomically(folder / "plan.json", domain::toJson(of).dump()), testing::IsOk());
  EXPECT_THAT(writeFileAtomically(folder / "kernel", module), testing::IsOk());
  const std::string command =
      "SWAGE_FAKE_CUDA='" + faults + "' LD_LIBRARY_PATH=" SWAGE_FAKE_CUDA_FOLDER " " SWAGE_TEST_REPLAY " 0 " +
      (folder / "plan.json").string() + " " + (folder / "kernel").string() + " " + option + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  Answer answer;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    answer.text.append(buffer.data(), count);
  }
  answer.exitCode = WEXITSTATUS(::pclose(pipe));
  return answer;
}

TEST(Replay, RunsEveryKernelOfThePlanOnce) {
  const Answer answer = replay("");
  EXPECT_EQ(answer.exitCode, 0);
  EXPECT_EQ(answer.text, "2 kernels replayed\n");
}

TEST(Replay, EncodesTensorMaps) {
  domain::LaunchPlan mapped = plan();
  std::get<domain::KernelStep>(mapped.steps.back()).arguments[2] =
      domain::tensorMapOf(domain::ValueId(0), mapped.buffers[0], {64});
  constexpr const char* kBoth = "kernel 0 1024 8 4 8\nmapped 0 1024 8 4 128\n";
  std::get<domain::KernelStep>(mapped.steps.back()).entry = "mapped";
  EXPECT_EQ(replay("", kBoth, mapped).text, "2 kernels replayed\n");
  EXPECT_THAT(replay("map=1", kBoth, mapped).text, HasSubstr("mapped: cannot encode the tensor map of buffer 0"));
}

TEST(Replay, AKernelThatFailsIsTheCandidates) {
  const Answer answer = replay("launch=700");
  EXPECT_EQ(answer.exitCode, 4);
  EXPECT_THAT(answer.text, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST(Replay, AKernelThatTakesOtherParametersIsNotLaunched) {
  const Answer answer = replay("", "kernel 0 1024 8 8 8\n");
  EXPECT_EQ(answer.exitCode, 4);
  EXPECT_THAT(answer.text, HasSubstr("parameter 1 of 'kernel' has 8 bytes, the plan gives 4"));
}

TEST(Replay, ADeviceWithoutRoomIsTheEnvironments) {
  const Answer answer = replay("alloc_at=2");
  EXPECT_EQ(answer.exitCode, 5);
  EXPECT_THAT(answer.text, HasSubstr("allocate buffer 1 of 28 bytes"));
}

TEST(Replay, TakesNoMemoryForWhatNoKernelUses) {
  EXPECT_EQ(replay("alloc_at=3").exitCode, 0);
}

TEST(Replay, RunsNothingForRacecheckWhereNoKernelUsesSharedMemory) {
  constexpr const char* kStatic = "kernel 64 1024 8 4 8\n";
  constexpr const char* kNone = "kernel 0 1024 8 4 8\n";
  constexpr const char* kOption = "--if-shared-memory";
  domain::LaunchPlan dynamic = plan();
  std::get<domain::KernelStep>(dynamic.steps.back()).dynamicSharedBytes = 64;
  EXPECT_EQ(replay("", kNone, plan(), kOption).text, "no kernel uses shared memory\n");
  EXPECT_EQ(replay("", kStatic, plan(), kOption).text, "2 kernels replayed\n");
  EXPECT_EQ(replay("", kNone, dynamic, kOption).text, "2 kernels replayed\n");
  EXPECT_EQ(replay("", kNone, plan(), "--if-it-rains").exitCode, 2);
}

TEST(Replay, AMissingDeviceIsTheEnvironments) {
  EXPECT_EQ(replay("devices=0").exitCode, 5);
}

}  // namespace
}  // namespace swage::device
