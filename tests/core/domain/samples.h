// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/domain/baseline.h"
#include "core/domain/compilation.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/profile.h"
#include "core/domain/task.h"

// Values with every member set, for tests of what carries them.
namespace swage::testing {

inline domain::Graph sampleGraph() {
  using namespace domain;
  Graph graph;
  graph.values = {contiguousTensor(ScalarType::Float32, {16, 64}), contiguousTensor(ScalarType::Float32, {64}),
                  contiguousTensor(ScalarType::Int64, {}), contiguousTensor(ScalarType::Float32, {16, 64}),
                  contiguousTensor(ScalarType::Float32, {64})};
  graph.inputs = {{ValueId(0), InputKind::User, "x"},
                  {ValueId(1), InputKind::Buffer, "norm.running_mean"},
                  {ValueId(2), InputKind::Constant, "c0"}};
  Node node;
  node.op = "aten.everything.default";
  node.args = {{ValueId(0)},
               {std::monostate()},
               {true},
               {std::int64_t{-1}},
               {1.0},
               {std::numeric_limits<double>::infinity()},
               {std::string("mean")},
               {ScalarType::BFloat16},
               {ArgumentList{{ValueId(1)}, {std::int64_t{3}}, {ArgumentList{}}}}};
  node.kwargs = {{"device", {DeviceArgument{}}},
                 {"layout", {LayoutArgument{"strided"}}},
                 {"memory_format", {MemoryFormatArgument{"contiguous_format"}}}};
  node.outputs = {ValueId(3), ValueId(), ValueId(4)};
  node.where = "model.py:14 in forward";
  node.code = "weights = everything(x)";
  node.name = "weights";
  graph.nodes = {node};
  graph.outputs = {{ValueId(4), OutputKind::BufferMutation, "norm.running_mean"}, {ValueId(3), OutputKind::User, ""}};
  return graph;
}

inline domain::Task sampleTask() {
  using namespace domain;
  Task task;
  task.name = "23_Softmax";
  task.source = {TaskKind::Module,
                 "softmax.py",
                 "Model",
                 std::string(64, 'a'),
                 {{"dim", "4096"}, {"mode", "\"x\""}},
                 R"({"path":"/somewhere/softmax.py"})"};
  task.mode = ModuleMode::Eval;
  task.torchVersion = "2.11.0";
  task.seed = 7;
  task.graph = sampleGraph();
  task.inputGenerator.values = {contiguousTensor(ScalarType::Float32, {16, 64})};
  task.inputGenerator.nodes = {{"aten.randn.default",
                                {{ArgumentList{{std::int64_t{16}}, {std::int64_t{64}}}}},
                                {{"device", {DeviceArgument{}}}},
                                {ValueId(0)},
                                ""}};
  task.inputGenerator.outputs = {{ValueId(0), OutputKind::User, ""}};
  task.bytes = {4096, 256, 4096, 512};
  task.warnings = {"a warning"};
  task.extraJson = R"({"call":{"args":{"tuple":[{"tensor":0}]}}})";
  return task;
}

inline domain::LaunchPlan samplePlan() {
  using namespace domain;
  LaunchPlan plan;
  plan.buffers = sampleGraph().values;
  plan.buffers.push_back({ScalarType::Float16, {2, 3}, {1, 2}});
  plan.inputs = {ValueId(0), ValueId(1), ValueId(2)};
  plan.outputs = {ValueId(4), ValueId(3)};
  KernelStep kernel;
  kernel.entry = "row_block_0";
  kernel.grid = {16, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.cluster = {2, 1, 1};
  kernel.dynamicSharedBytes = 4096;
  kernel.cooperative = true;
  kernel.arguments = {
      ValueId(0), ValueId(3), Int32{-5}, std::int64_t{1} << 40, 0.1F, std::numeric_limits<double>::quiet_NaN()};
  TensorMap map = tensorMapOf(ValueId(0), plan.buffers[0], {32, 8});
  map.swizzle = MapSwizzle::Bytes128;
  map.promotion = MapPromotion::Bytes256;
  map.fill = MapFill::NotANumber;
  kernel.arguments.emplace_back(map);
  plan.steps = {ZeroStep{ValueId(5)}, kernel, AtenStep{sampleGraph().nodes.front()}};
  return plan;
}

inline domain::Genome sampleGenome() {
  return {{{{0, 1, 4}, "row_block", {{"block", 256}, {"vector", 4}}}, {{2}, "pointwise", {}}}};
}

inline domain::Program sampleProgram() {
  return {domain::Language::CudaCpp,
          "extern \"C\" __global__ void row_block_0() {}",
          samplePlan(),
          {"--use_fast_math"},
          {{"void row_block_0() {}", {"row_block_0"}, {{1, 2, 30}, {5, 6, 70}}}}};
}

inline domain::KernelFacts sampleFacts() {
  domain::KernelFacts facts;
  facts.entry = "row_block_0";
  facts.movement = domain::DataMovement::Staged;
  facts.arithmetic = domain::Arithmetic::Packed;
  facts.interBlock = true;
  facts.registers = 42;
  facts.spillBytes = 8;
  facts.staticSharedBytes = 1024;
  facts.evidence = {{"ld.global.v4", 8}, {"st.shared", 2}};
  facts.lines = {{1, 2, 30}, {5, 6, 70}};
  return facts;
}

inline domain::DeviceInfo sampleDevice() {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cuda;
  device.host = "host";
  device.uuid = "GPU-1";
  device.name = "A device";
  device.architecture = "sm_90a";
  device.driverVersion = "580";
  device.ordinal = 1;
  device.multiprocessors = 132;
  device.threads = 1;
  device.memoryBytes = std::int64_t{140} << 30;
  device.cacheBytes = 50 << 20;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  device.copyBytesPerSecond = 4.29e12;
  return device;
}

inline domain::Timing sampleTiming(double medianNs) {
  domain::Timing timing;
  timing.samples = 21;
  timing.discarded = 2;
  timing.medianNs = medianNs;
  timing.lowNs = medianNs * 0.99;
  timing.highNs = medianNs * 1.01;
  timing.minNs = medianNs * 0.98;
  timing.stopReason = "precise";
  timing.clock = "device events";
  timing.hostMedianNs = medianNs * 1.02;
  timing.activityMedianNs = medianNs * 0.97;
  timing.repeated = 3;
  timing.conditions = {1980, 1965, 3201, 52, 433.5, {"power cap"}, {{1980, 51, false}, {1965, 52, true}}};
  timing.sequenceNs = {medianNs * 1.01, medianNs, medianNs * 0.98};
  return timing;
}

inline domain::Correct correctIn(double medianNs) {
  domain::Correct correct;
  correct.errors = {{1, 1.5e-7, 1e-6, 2e-7, 2e-6}};
  correct.accuracy = domain::AccuracyClass::Tf32;
  correct.bitwiseRepeatable = false;
  correct.byInputs = {{"held back", 3, {{0, 1e-7, 1e-6, 2e-7, 2e-6}}}};
  correct.timing = {sampleTiming(medianNs),
                    sampleTiming(2000.0),
                    2000.0 / medianNs,
                    1900.0 / medianNs,
                    2100.0 / medianNs,
                    false,
                    1.5};
  return correct;
}

inline domain::Profile sampleProfile() {
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  profile.limitation = "no disassembler was found";
  profile.kernels = {{"row_block_0",
                      2,
                      1500.5,
                      42,
                      8,
                      4096,
                      0.75,
                      "registers",
                      {{"dram__bytes_read.sum", 4096.0}},
                      {{16, "LDG.E R2, [R4]", 12, 7, {{"long_scoreboard", 5.0}}}}}};
  profile.conditions = {1980, 1965, 3201, 52, 433.5, {"power cap"}};
  return profile;
}

// One of each alternative, in their order.
inline std::vector<domain::Evaluation> sampleEvaluations() {
  using namespace domain;
  return {Duplicate{CandidateId(3), "source"},
          Rejected{"forbidden call", "it calls system()"},
          CompileFailed{CompileFailureReason::MemoryLimit, "killed"},
          LaunchFailed{"row_block_0", "too many resources"},
          Wrong{0,
                17,
                0.25,
                std::numeric_limits<double>::quiet_NaN(),
                "nan",
                "",
                {{0, 1.0, 2.0, 3.0, 4.0}},
                {{17, {2, 3}, 0.25, std::numeric_limits<double>::quiet_NaN()}, {19, {2, 5}, 1.0, -1.0}}},
          Crashed{11, "illegal address"},
          TimedOut{"verify", 20.0},
          Cheating{"reads outside", "red zone"},
          Unstable{"bimodal"},
          correctIn(1000.0)};
}

inline domain::Baseline sampleBaseline() {
  return {"compile", sampleTiming(1500.0), 1e-7, 1e-6, 12.5, "", domain::AccuracyClass::Tf32,
          "2.11.0",  {0.75, 0.7, 0.8}};
}

}  // namespace swage::testing
