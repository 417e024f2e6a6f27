// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/randn.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>

#include <set>

#include "core/device/open_device.h"
#include "core/verify/graph_program.h"
#include "core/verify/task_inputs.h"
#include "core/verify/task_session.h"
#include "core/verify/timed_streams.h"
#include "core/verify/torch_runtime.h"
#include "tests/core/verify/relay_device.h"
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

TEST_F(CudaEvaluation, OfACapturedPlanIsCorrectAndTimed) {
  domain::LaunchPlan captured = plan();
  captured.isCaptured = true;
  for (const bool isAten : {false, true}) {
    if (isAten) {
      captured.steps = testing::atenPlan(m_task).steps;
    }
    const auto result = evaluate(captured, isAten ? "" : reluPtx("0"));
    const auto* correct = domain::asCorrect(result.evaluation);
    ASSERT_NE(correct, nullptr) << domain::summary(result.evaluation);
    EXPECT_TRUE(correct->bitwiseRepeatable);
    EXPECT_GT(correct->timing.candidate.medianNs, 500.0);
  }
}

TEST_F(CudaEvaluation, CapturesThePlanForEachWorkingSet) {
  std::size_t captures = 0;
  class Counting : public testing::RelayDevice {
   public:
    Counting(device::Device& real, std::size_t& captures) : RelayDevice(real), m_captures(captures) {}
    device::DeviceResult<std::unique_ptr<device::CapturedCall>> capture(const Call& call) override {
      auto captured = RelayDevice::capture(call);
      m_captures += captured ? 1 : 0;
      return captured;
    }

   private:
    std::size_t& m_captures;
  } counting(*m_device, captures);
  wire::LoadTask load;
  load.task = m_task;
  load.timingBudgetSeconds = 0.1;
  auto session = TaskSession::load(load, counting, [](std::string_view) {});
  ASSERT_THAT(session, testing::IsOk());
  wire::Evaluate request;
  request.plan = plan();
  request.plan.isCaptured = true;
  request.binary = reluPtx("0");
  request.timingBudgetSeconds = 0.1;
  const auto result = (*session)->evaluate(request, [](std::string_view) {});
  EXPECT_NE(domain::asCorrect(result.evaluation), nullptr) << domain::summary(result.evaluation);
  EXPECT_GT(captures, 0U);
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

// What libtorch says when cuDNN must copy the weights in each call.
class WeightWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    m_count += warning.msg().find("single contiguous chunk") != std::string::npos ? 1 : 0;
  }
  [[nodiscard]] int count() const { return m_count; }

 private:
  int m_count = 0;
};

TEST_F(CudaEvaluation, EagerRunsRecurrentLayersAsTheModuleDoes) {
  const domain::Graph graph = testing::graphFromText(R"({
    "values": [{"dtype": "float32", "shape": [5, 2, 24], "strides": [48, 24, 1]},
               {"dtype": "float32", "shape": [1, 2, 10], "strides": [20, 10, 1]},
               {"dtype": "float32", "shape": [30, 24], "strides": [24, 1]},
               {"dtype": "float32", "shape": [30, 10], "strides": [10, 1]},
               {"dtype": "float32", "shape": [5, 2, 10], "strides": [20, 10, 1]}],
    "inputs": [{"value": 0, "kind": "user", "name": "x"}, {"value": 1, "kind": "user", "name": "h"},
               {"value": 2, "kind": "parameter", "name": "w_ih"}, {"value": 3, "kind": "parameter", "name": "w_hh"}],
    "nodes": [{"op": "aten.gru.input", "args": [{"value": 0}, {"value": 1}, [{"value": 2}, {"value": 3}], false, 1, 0.0,
                                                false, false, false],
               "kwargs": {}, "outputs": [4, -1], "where": ""}],
    "outputs": [{"value": 4, "kind": "user", "name": ""}]})");
  const c10::Device where(c10::kCUDA, 0);
  const std::vector<WeightChunk> chunks = weightChunks(graph, where);
  ASSERT_EQ(chunks.size(), 1U);
  std::vector<at::Tensor> made;
  for (const domain::GraphInput& input : graph.inputs) {
    made.push_back(at::randn(graph.type(input.value).shape, at::TensorOptions(at::kFloat).device(where)));
  }
  auto eager = GraphProgram::bind(graph, GraphMode::Eager, CallMode{where, std::nullopt});
  ASSERT_THAT(eager, testing::IsOk());
  const auto run = [&](std::span<const WeightChunk> pieces, int& warnings) {
    WorkingInputs working(graph, *m_device, where, pieces);
    working.fill(made, 0);
    WeightWarnings handler;
    const c10::WarningUtils::WarningHandlerGuard guard(&handler);
    at::Tensor result = eager->run(working.tensors(), RunningStats::Reuse, Freed::AsTheyAre)[0];
    warnings = handler.count();
    return result;
  };
  c10::WarningUtils::set_warnAlways(true);
  int apart = 0;
  int together = 0;
  const at::Tensor expected = run({}, apart);
  const at::Tensor result = run(chunks, together);
  c10::WarningUtils::set_warnAlways(false);
  EXPECT_EQ(apart, 1) << "this PyTorch does not say it any more, and the test shows nothing";
  EXPECT_EQ(together, 0);
  EXPECT_TRUE(result.allclose(expected, 1e-3, 1e-3));
}

TEST_F(CudaEvaluation, GivesUpTheDeviceAfterAnIllegalAddress) {
  const auto result = evaluate(plan(), reluPtx("0x7f0000000000"));
  EXPECT_TRUE(std::holds_alternative<domain::Crashed>(result.evaluation)) << domain::summary(result.evaluation);
  EXPECT_TRUE(result.workerExits);
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);  // nothing in this process may touch the device any more
}

}  // namespace
}  // namespace swage::verify
