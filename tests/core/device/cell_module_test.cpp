// SPDX-License-Identifier: Apache-2.0
#include "core/device/cell_module.h"

#include <gmock/gmock.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/assert.h"
#include "tests/core/verify/kernel_compiler.h"

namespace swage::device {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kElements = 3000;

// A plan with an input, a scratch buffer and an output: "first" writes twice the input to the scratch, "second" adds
// the scratch to the output.
class CellModuleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const domain::TensorType type = domain::contiguousTensor(domain::ScalarType::Float32, {kElements});
    m_plan.buffers = {type, type, type};
    m_plan.inputs = {domain::ValueId(0)};
    m_plan.outputs = {domain::ValueId(2)};
    domain::KernelStep first;
    first.entry = "first";
    first.arguments = {domain::ValueId(0), domain::ValueId(1), std::int64_t{kElements}, 2.0F};
    domain::KernelStep second;
    second.entry = "second";
    second.arguments = {domain::ValueId(1), domain::ValueId(2), domain::Int32{kElements}, 1.0};
    m_plan.steps = {first, domain::ZeroStep{domain::ValueId(2)}, second};
    load(R"(
extern "C" void first(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const long n = *static_cast<long*>(a[2]);
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = x[i] * *static_cast<float*>(a[3]);
}
extern "C" void second(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  for (int i = 0; i < *static_cast<int*>(a[2]); ++i) y[i] += x[i] * (float)*static_cast<double*>(a[3]);
}
extern "C" void writesInput(void** a) { (*static_cast<float**>(a[0]))[1] = 1; }
extern "C" void writesBehind(void** a) { (*static_cast<float**>(a[1]))[3000] = 1; }
)");
  }
  void load(std::string_view source) {
    auto module = CellModule::load({SWAGE_TEST_CELL, 2}, testing::compileSharedObject(source), m_plan, m_cells);
    SWAGE_ASSERT(module.has_value());
    m_module = std::move(*module);
  }
  [[nodiscard]] std::unique_ptr<Kernel> bind(const domain::KernelStep& step) {
    auto kernel = m_module->bind(step);
    SWAGE_ASSERT(kernel.has_value());
    return std::move(*kernel);
  }
  [[nodiscard]] const domain::KernelStep& step(std::size_t index) const {
    return std::get<domain::KernelStep>(m_plan.steps[index]);
  }
  DeviceStatus launch(const domain::KernelStep& step, std::vector<float>& from, std::vector<float>& to) {
    void* first = from.data();
    void* second = to.data();
    std::int64_t count = kElements;
    float factor = 2.0F;
    double weight = 1.0;
    void* pointers[] = {&first, &second, &count, step.entry == "second" ? static_cast<void*>(&weight) : &factor};
    return bind(step)->launch(pointers);
  }
  DeviceStatus runAll(std::vector<float>& input) {
    std::vector<float> unused(kElements);
    DeviceStatus failed = launch(step(0), input, unused);
    failed = failed ? failed : m_module->memory()->zero(2);
    return failed ? failed : launch(step(2), unused, unused);
  }
  [[nodiscard]] std::vector<float> output() {
    std::vector<float> values(kElements);
    EXPECT_FALSE(m_module->memory()->take(2, values.data()));
    return values;
  }

  domain::LaunchPlan m_plan;
  CellRegister m_cells;
  std::unique_ptr<KernelModule> m_module;
};

TEST_F(CellModuleTest, BringsAndTakesBuffersOfALaunchOutsideOfARun) {
  std::vector<float> input(kElements, 3.0F);
  std::vector<float> scratch(kElements);
  std::vector<float> result(kElements, 1.0F);
  ASSERT_FALSE(launch(step(0), input, scratch));
  EXPECT_EQ(scratch, std::vector<float>(kElements, 6.0F));
  ASSERT_FALSE(launch(step(2), scratch, result));
  EXPECT_EQ(result, std::vector<float>(kElements, 7.0F));
}

TEST_F(CellModuleTest, LeavesBuffersWhereTheyAreInARun) {
  std::vector<float> input(kElements, 3.0F);
  KernelMemory& memory = *m_module->memory();
  memory.beginChecked();
  EXPECT_EQ(m_cells.current, m_module.get());
  ASSERT_FALSE(memory.bring(0, input.data()));
  ASSERT_FALSE(runAll(input));
  EXPECT_EQ(output(), std::vector<float>(kElements, 6.0F));
  EXPECT_FALSE(memory.inspect());
  memory.end();
  EXPECT_EQ(m_cells.current, nullptr);
}

TEST_F(CellModuleTest, KeepsTheInputsOfSetsForTimedRuns) {
  KernelMemory& memory = *m_module->memory();
  std::vector<float> one(kElements, 1.0F);
  std::vector<float> two(kElements, 2.0F);
  const auto run = [&](std::size_t set, std::vector<float>& values) {
    const KernelMemory::Input input{0, values.data()};
    EXPECT_FALSE(memory.beginTimed(set, std::span(&input, 1)));
    EXPECT_FALSE(runAll(values));
    const float first = output().front();
    memory.end();
    return first;
  };
  EXPECT_EQ(run(0, one), 2.0F);
  EXPECT_EQ(run(1, two), 4.0F);
  std::fill(one.begin(), one.end(), 5.0F);
  EXPECT_EQ(run(0, one), 2.0F) << "the cell has its inputs";
  memory.forgetInputs();
  EXPECT_EQ(run(0, one), 10.0F);
}

// Its threads and this process' are never at work at once.
TEST_F(CellModuleTest, KeepsItsTurnUnderTheClockUntilThisProcessComputes) {
  ASSERT_EQ(::sched_getaffinity(0, sizeof m_cells.allowed, &m_cells.allowed), 0);
  omp_set_num_threads(2);
  m_cells.team.spread(m_cells.allowed);
  std::vector<float> input(kElements, 3.0F);
  auto& module = static_cast<CellModule&>(*m_module);
  const KernelMemory::Input brought{0, input.data()};
  ASSERT_FALSE(module.beginTimed(0, std::span(&brought, 1)));
  EXPECT_FALSE(m_cells.team.isPaused());
  m_cells.isTiming = true;
  ASSERT_FALSE(module.warm());
  EXPECT_TRUE(m_cells.team.isPaused());
  ASSERT_FALSE(launch(step(0), input, input));
  EXPECT_TRUE(m_cells.team.isPaused());
  module.yield();
  EXPECT_FALSE(m_cells.team.isPaused());
  ASSERT_FALSE(module.zero(2));
  EXPECT_TRUE(m_cells.team.isPaused()) << "and takes it back";
  ASSERT_FALSE(launch(step(2), input, input));
  m_cells.isTiming = false;
  EXPECT_EQ(output(), std::vector<float>(kElements, 6.0F));
  EXPECT_FALSE(m_cells.team.isPaused());
  module.end();
}

TEST_F(CellModuleTest, CountsWhatIsNotTheKernels) {
  std::vector<float> input(kElements, 3.0F);
  m_module->memory()->beginChecked();
  m_cells.outsideNs = 0.0;
  ASSERT_FALSE(m_module->memory()->bring(0, input.data()));
  const double brought = m_cells.outsideNs;
  EXPECT_GT(brought, 0.0);
  ASSERT_FALSE(runAll(input));
  EXPECT_GT(m_cells.outsideNs, brought);
}

TEST_F(CellModuleTest, SaysWhatAKernelDidToMemoryThatIsNotItsOwn) {
  std::vector<float> input(kElements, 3.0F);
  std::vector<float> scratch(kElements);
  domain::KernelStep step = this->step(0);
  step.entry = "writesBehind";
  const DeviceStatus behind = launch(step, input, scratch);
  ASSERT_TRUE(behind.has_value());
  EXPECT_EQ(behind->kind, FailureKind::BesideBuffer);
  EXPECT_THAT(behind->detail, HasSubstr("buffer 1"));
  step.entry = "writesInput";
  const DeviceStatus changed = launch(step, input, scratch);
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->kind, FailureKind::WroteInput);
}

TEST_F(CellModuleTest, RefusesToZeroAnInput) {
  m_module->memory()->beginChecked();
  const DeviceStatus failed = m_module->memory()->zero(0);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->kind, FailureKind::WroteInput);
}

TEST_F(CellModuleTest, EndsALaunchThatTakesTooLong) {
  load("extern \"C\" void first(void**) { volatile int forever = 1; while (forever) {} }");
  std::vector<float> values(kElements);
  m_module->memory()->setLimit(0.2);
  const DeviceStatus failed = launch(step(0), values, values);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->kind, FailureKind::TimedOut);
  EXPECT_EQ(static_cast<CellModule&>(*m_module).process(), -1);
}

TEST_F(CellModuleTest, KnowsTheThreadsThatRunKernels) {
  const auto& module = static_cast<const CellModule&>(*m_module);
  EXPECT_EQ(module.threads().size(), 2U);
  EXPECT_EQ(module.threads().front(), module.process());
}

TEST_F(CellModuleTest, SaysThatAnEntryOrATensorMapIsNotForIt) {
  domain::KernelStep step = this->step(0);
  step.entry = "third";
  EXPECT_THAT(m_module->bind(step).error().detail, HasSubstr("no entry 'third'"));
  step.arguments = {domain::TensorMap{}};
  EXPECT_THAT(m_module->bind(step).error().detail, HasSubstr("tensor map"));
}

}  // namespace
}  // namespace swage::device
