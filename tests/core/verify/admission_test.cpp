// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "core/verify/task_session.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Admission : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
  }
  static void TearDownTestSuite() { s_device.reset(); }

  static std::vector<std::string> doubtsAbout(const domain::Task& task, const std::string& weights = {}) {
    wire::LoadTask request;
    request.task = task;
    request.weightsPath = weights;
    request.timeEager = false;
    request.adversarial = true;
    const auto session = TaskSession::load(request, *s_device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    return session ? (*session)->ready().doubts : std::vector<std::string>{"not loaded"};
  }
  // value 1 = value 0 and value 2, which is a parameter of `size` elements
  static domain::Task withParameter(const std::string& op, std::int64_t size) {
    domain::Task task = testing::pointwiseTask({8, 64}, op);
    testing::addParameter(task, "weight", {size});
    return task;
  }

  static std::unique_ptr<device::Device> s_device;
};
std::unique_ptr<device::Device> Admission::s_device;

std::string node(const std::string& op, const std::string& args, int output) {
  return R"({"op": ")" + op + R"(", "args": [)" + args + R"(], "kwargs": {}, "outputs": [)" + std::to_string(output) +
         R"(], "where": ""})";
}

TEST_F(Admission, HasNoDoubtsAboutAnOrdinaryTask) {
  EXPECT_THAT(doubtsAbout(testing::pointwiseTask({8, 64}, "aten.relu.default")), IsEmpty());
}

TEST_F(Admission, DoubtsAnOutputOfZeros) {
  const domain::Shape shape = {8, 64};
  const domain::Task task = testing::taskOf(shape, node("aten.mul.Scalar", R"({"value": 0}, 0.0)", 1), {shape});
  EXPECT_THAT(doubtsAbout(task),
              ElementsAre("the output is zero whatever the inputs are", "no output depends on the input 'x'"));
}

TEST_F(Admission, DoubtsAnOutputThatIsConstantWithinTheTolerance) {
  const domain::Shape shape = {8, 64};
  const domain::Task task = testing::taskOf(
      shape,
      node("aten.mul.Scalar", R"({"value": 0}, 1e-6)", 2) + ", " + node("aten.add.Scalar", R"({"value": 2}, 0.5)", 1),
      {shape, shape});
  EXPECT_THAT(doubtsAbout(task), ::testing::Contains(StartsWith("the output is constant: all its values lie between")));
}

TEST_F(Admission, DoubtsAnOutputThatHardlyVaries) {
  const domain::Shape shape = {8, 64};
  const domain::Task task = testing::taskOf(
      shape,
      node("aten.mul.Scalar", R"({"value": 0}, 0.002)", 2) + ", " + node("aten.add.Scalar", R"({"value": 2}, 0.5)", 1),
      {shape, shape});
  EXPECT_THAT(doubtsAbout(task), ElementsAre(StartsWith("the output is nearly constant: mean 0.5")));
}

TEST_F(Admission, DoubtsAWeightThatNothingDependsOn) {
  const testing::TempDir directory;
  std::array<float, 64> weight{};
  weight.fill(1.0F);
  testing::writeSafetensors(directory / "w.safetensors", "weight", {64}, weight);
  domain::Task task = withParameter("aten.relu.default", 64);  // takes the weight and never looks at it
  EXPECT_THAT(doubtsAbout(task, directory / "w.safetensors"), ElementsAre("no output depends on the weight 'weight'"));
  task.graph.nodes[0].op = "aten.mul.Tensor";
  task.graph.nodes[0].args.push_back({domain::ValueId(2)});
  EXPECT_THAT(doubtsAbout(task, directory / "w.safetensors"), IsEmpty());
}

TEST_F(Admission, DoubtsATaskThatIgnoresItsInput) {
  const testing::TempDir directory;
  std::array<float, 64> weight{};
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] = static_cast<float>(i);
  }
  testing::writeSafetensors(directory / "w.safetensors", "weight", {64}, weight);
  const domain::Shape shape = {8, 64};
  const domain::Task task = testing::taskOf(shape,
                                            node("aten.mul.Scalar", R"({"value": 0}, 0.0)", 2) + ", " +
                                                node("aten.add.Tensor", R"({"value": 2}, {"value": 3})", 1),
                                            {shape, shape, {64}}, "weight");
  EXPECT_THAT(doubtsAbout(task, directory / "w.safetensors"),
              ElementsAre("the output is the same for every draw of the inputs", "no output depends on the input 'x'"));
}

TEST_F(Admission, SaysNothingWhereNobodyAsks) {
  wire::LoadTask request;
  request.task = testing::taskOf({8, 64}, node("aten.mul.Scalar", R"({"value": 0}, 0.0)", 1), {{8, 64}});
  request.timeEager = false;
  const auto session = TaskSession::load(request, *s_device, [](std::string_view) {});
  ASSERT_THAT(session, testing::IsOk());
  EXPECT_THAT((*session)->ready().doubts, IsEmpty());
}

}  // namespace
}  // namespace swage::verify
