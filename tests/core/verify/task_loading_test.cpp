// SPDX-License-Identifier: Apache-2.0
// What a worker says of a task when it loads it, before any candidate comes.
#include <gmock/gmock.h>

#include <array>

#include "core/verify/task_session.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::verify {
namespace {

using ::testing::HasSubstr;

class TaskLoading : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
  }
  static void TearDownTestSuite() { s_device.reset(); }

  static Result<std::unique_ptr<TaskSession>> load(const wire::LoadTask& request) {
    return TaskSession::load(request, *s_device, [](std::string_view) {});
  }

  static std::unique_ptr<device::Device> s_device;
};
std::unique_ptr<device::Device> TaskLoading::s_device;

TEST_F(TaskLoading, SaysHowEagerDoes) {
  const auto session = load(testing::briefLoad(testing::pointwiseTask({13, 101}, "aten.relu.default")));
  ASSERT_THAT(session, testing::IsOk());
  const wire::TaskReady& ready = (*session)->ready();
  EXPECT_EQ(ready.referenceType, "float64");
  EXPECT_GT(ready.eager.medianNs, 0.0);
  ASSERT_EQ(ready.eagerErrors.size(), 1U);
  EXPECT_EQ(ready.eagerErrors[0].relativeL2, 0.0);
  EXPECT_GT(ready.peakBytes, 0);
}

TEST_F(TaskLoading, LoadsWeightsByName) {
  const testing::TempDir directory;
  const std::array<float, 2> weight = {2.0F, 3.0F};
  testing::writeSafetensors(directory / "w.safetensors", "scale", {2}, weight);
  domain::Task task = testing::pointwiseTask({2}, "aten.mul.Tensor");
  task.graph.values.push_back(task.graph.values[0]);
  task.graph.inputs.push_back({domain::ValueId(2), domain::InputKind::Parameter, "scale"});
  task.graph.nodes[0].args.push_back({domain::ValueId(2)});
  wire::LoadTask loading = testing::briefLoad(task);
  loading.weightsPath = directory / "w.safetensors";
  EXPECT_THAT(load(loading), testing::IsOk());
  loading.task.graph.inputs[1].name = "bias";
  EXPECT_THAT(load(loading), testing::IsError(ErrorKind::InvalidInput, HasSubstr("no tensor 'bias'")));
}

TEST_F(TaskLoading, RefusesATaskThatPyTorchCannotRun) {
  const domain::Task task = testing::pointwiseTask({4}, "aten.no_such_thing.default");
  EXPECT_THAT(load(testing::briefLoad(task)),
              testing::IsError(ErrorKind::Unsupported, HasSubstr("aten.no_such_thing.default")));
}

TEST_F(TaskLoading, RefusesATaskThatIsLargerThanMemory) {
  const domain::Task task = testing::pointwiseTask({1 << 20, 1 << 20}, "aten.relu.default");
  EXPECT_THAT(load(testing::briefLoad(task)),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("the task needs about")));
}

TEST_F(TaskLoading, RefusesATaskWhoseGraphDeclaresOtherShapesThanPyTorchComputes) {
  domain::Task task = testing::pointwiseTask({4, 8}, "aten.relu.default");
  task.graph.values[1] = domain::contiguousTensor(domain::ScalarType::Float32, {8, 4});
  EXPECT_THAT(load(testing::briefLoad(task)),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("another shape or type")));
}

}  // namespace
}  // namespace swage::verify
