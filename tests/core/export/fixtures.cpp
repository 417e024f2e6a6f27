// SPDX-License-Identifier: Apache-2.0
#include "tests/core/export/fixtures.h"

namespace swage::exporting::testing {

namespace {

using domain::ValueId;

constexpr const char* kReluSource = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    """Applies ReLU."""
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The forward pass."""
        return torch.relu(x)

batch_size = 16
dim = 64

def get_inputs():
    return [torch.rand(batch_size, dim)]

def get_init_inputs():
    return []  # nothing to pass
)";

constexpr const char* kReluCpu = R"(#include <cstdint>

// One pass over the elements.
extern "C" void relu_kernel(void** arguments) {
  const float* x = *static_cast<const float**>(arguments[0]);
  float* out = *static_cast<float**>(arguments[1]);
  const int n = *static_cast<const int*>(arguments[2]);
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) {
    out[i] = x[i] > 0.0f ? x[i] : 0.0f;
  }
}
)";

constexpr const char* kReluCuda = R"(extern "C" __global__ void relu_kernel(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = x[i] > 0.0f ? x[i] : 0.0f;
  }
}
)";

constexpr const char* kCountingSource = R"(from __future__ import annotations

import torch
from torch import nn

features = 3
scale = 2.0

class Scaled(nn.Module):
    def forward(self, x):
        return x * scale

class Model(nn.Module):
    def __init__(self, inputs, outputs, *, bias=True):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=bias)
        self.scaled = Scaled()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        y = self.scaled(self.linear(x))
        return torch.relu(y), [y]

def get_inputs():
    return [torch.randn(2, features)]

def get_init_inputs():
    return [[features, 4], {"bias": True}]
)";

constexpr const char* kNormSource = R"(import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        y = self.norm(x) * 2.0
        return torch.relu(y), y

def get_inputs():
    return [torch.randn(2, 4)]

def get_init_inputs():
    return []
)";

constexpr const char* kDeepSource = R"(import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(4, 4) for _ in range(9)])
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        return self.layers(x)

def get_inputs():
    return [torch.rand(2, 4)]

def get_init_inputs():
    return []
)";

// out = max(x * scale, 0) through a zeroed scratch tensor that it adds to.
constexpr const char* kScaledReluCpu = R"(extern "C" void scaled_relu(void** arguments) {
  const float* x = *static_cast<const float**>(arguments[0]);
  float* scaled = *static_cast<float**>(arguments[1]);
  float* out = *static_cast<float**>(arguments[2]);
  float* scratch = *static_cast<float**>(arguments[3]);
  const float scale = *static_cast<const float*>(arguments[4]);
  for (int pass = 0; pass < 8; ++pass) {
    scaled[pass] = x[pass] * scale;
    scratch[pass] += scaled[pass];
    out[pass] = scratch[pass] > 0.0f ? scratch[pass] : 0.0f;
  }
}
)";

domain::Argument value(int id) {
  return {ValueId(id)};
}

domain::KernelStep scaledReluStep(int x, int scaled, int out, int scratch) {
  domain::KernelStep step;
  step.entry = "scaled_relu";
  step.arguments = {ValueId(x), ValueId(scaled), ValueId(out), ValueId(scratch), 2.0F};
  return step;
}

domain::Timing timing(double medianNs, double lowNs, double highNs) {
  domain::Timing result;
  result.samples = 40;
  result.medianNs = medianNs;
  result.lowNs = lowNs;
  result.highNs = highNs;
  return result;
}

void setCommon(ModelNewInput& input) {
  input.task.id = "0123abcd";
  input.task.torchVersion = "2.11.0";
  input.task.source.className = "Model";
  input.device.name = "Test device";
  input.device.architecture = "test-1";
  input.device.driverVersion = "580.1";
  domain::Correct correct;
  correct.errors = {{.output = 0, .relativeL2 = 1.2e-7, .maxAbsolute = 3e-7, .eagerRelativeL2 = 1.3e-7}};
  correct.byInputs = {{"task", 5, correct.errors}, {"large", 1, {}}};
  correct.timing = {.candidate = timing(2000.0, 1980.0, 2030.0),
                    .eager = timing(3000.0, 2960.0, 3050.0),
                    .speedup = 1.5,
                    .speedupLow = 1.46,
                    .speedupHigh = 1.54};
  domain::Baseline compiled;
  compiled.mode = "compile";
  compiled.timing = timing(2500.0, 2480.0, 2520.0);
  compiled.torchVersion = "2.11.0";
  domain::Baseline failed;
  failed.mode = "max-autotune";
  failed.failure = "no compiler";
  input.provenance = {.run = domain::RunId(3),
                      .candidate = domain::CandidateId(17),
                      .seed = 7,
                      .swageVersion = "0.1.0",
                      .compiler = "test-cc 1.2",
                      .cell = "A1 B0 C1",
                      .madeBy = domain::OperatorKind::Crossover,
                      .parents = {domain::CandidateId(12), domain::CandidateId(15)},
                      .ancestors = {domain::CandidateId(4)},
                      .genome = domain::Genome(),
                      .evaluation = correct,
                      .speedup = {1.25, 1.2, 1.31},
                      .baselineMode = "compile",
                      .baselines = {compiled, failed},
                      .assurances = {{.kind = domain::AssuranceKind::HeldBackSeeds,
                                      .verdict = domain::AssuranceVerdict::Passed,
                                      .detail = "3 seeds that no other check used"}},
                      .doubts = {}};
}

}  // namespace

ModelNewInput reluExport(domain::DeviceKind target) {
  const bool isCpu = target == domain::DeviceKind::Cpu;
  ModelNewInput input;
  setCommon(input);
  input.task.name = "19_ReLU";
  input.task.source.file = "19_ReLU.py";
  input.task.source.overrides = {{"batch_size", "16"}, {"dim", "64"}};
  input.taskSource = kReluSource;
  const domain::TensorType tensor = domain::contiguousTensor(domain::ScalarType::Float32, {16, 64});
  input.task.graph = {
      .values = {tensor, tensor},
      .inputs = {{ValueId(0), domain::InputKind::User, "x"}},
      .nodes = {{.op = "aten.relu.default", .args = {value(0)}, .kwargs = {}, .outputs = {ValueId(1)}, .where = ""}},
      .outputs = {{ValueId(1), domain::OutputKind::User, ""}}};
  domain::KernelStep step{.entry = "relu_kernel",
                          .grid = {isCpu ? 1U : 4U},
                          .block = {isCpu ? 1U : 256U},
                          .cluster = {},
                          .dynamicSharedBytes = 0,
                          .cooperative = false,
                          .arguments = {ValueId(0), ValueId(1), domain::Int32{1024}}};
  input.program.language = domain::standardLanguage(target);
  input.program.source = isCpu ? kReluCpu : kReluCuda;
  input.program.plan = {.buffers = {tensor, tensor}, .inputs = {ValueId(0)}, .outputs = {ValueId(1)}, .steps = {step}};
  input.device.kind = target;
  if (!isCpu) {
    input.binary = "not a real binary";
    input.device.computeCapability = 90;
  }
  return input;
}

ModelNewInput mapExport() {
  ModelNewInput input = reluExport(domain::DeviceKind::Cuda);
  auto& step = std::get<domain::KernelStep>(input.program.plan.steps[0]);
  domain::TensorMap map = domain::tensorMapOf(ValueId(0), input.program.plan.buffers[0], {32, 8});
  map.offset = 8;
  map.sizes = {64, 15};
  map.swizzle = domain::MapSwizzle::Bytes128;
  domain::TensorMap other = map;
  other.buffer = ValueId(1);
  step.arguments = {ValueId(0), map, domain::Int32{5}, other, ValueId(1)};
  return input;
}

ModelNewInput countingLinearExport() {
  ModelNewInput input;
  setCommon(input);
  input.task.name = "counting";
  input.task.source.file = "counting.py";
  input.task.source.overrides = {{"scale", "2.0"}};
  input.taskSource = kCountingSource;
  input.call =
      R"({"args": {"tuple": [{"tensor": 0}]}, "result": {"tuple": [{"tensor": 0}, {"list": [{"tensor": 1}]}]}})";
  const auto tensor = [](domain::Shape shape) {
    return domain::contiguousTensor(domain::ScalarType::Float32, std::move(shape));
  };
  const domain::TensorType count = domain::contiguousTensor(domain::ScalarType::Int64, {});
  const std::vector<domain::TensorType> values = {tensor({4, 3}), tensor({4}), count,          tensor({2, 3}),
                                                  tensor({2, 4}), count,       tensor({2, 4}), tensor({2, 4})};
  const domain::Node linear{.op = "aten.linear.default",
                            .args = {value(3), value(0), value(1)},
                            .kwargs = {},
                            .outputs = {ValueId(4)},
                            .where = ""};
  const domain::Node add{.op = "aten.add.Tensor",
                         .args = {value(2), {std::int64_t{1}}},
                         .kwargs = {},
                         .outputs = {ValueId(5)},
                         .where = ""};
  const domain::Node scale{
      .op = "aten.mul.Tensor", .args = {value(4), {2.0}}, .kwargs = {}, .outputs = {ValueId(6)}, .where = ""};
  const domain::Node relu{
      .op = "aten.relu.default", .args = {value(6)}, .kwargs = {}, .outputs = {ValueId(7)}, .where = ""};
  input.task.graph = {.values = values,
                      .inputs = {{ValueId(0), domain::InputKind::Parameter, "linear.weight"},
                                 {ValueId(1), domain::InputKind::Parameter, "linear.bias"},
                                 {ValueId(2), domain::InputKind::Buffer, "calls"},
                                 {ValueId(3), domain::InputKind::User, "x"}},
                      .nodes = {add, linear, scale, relu},
                      .outputs = {{ValueId(5), domain::OutputKind::BufferMutation, "calls"},
                                  {ValueId(7), domain::OutputKind::User, ""},
                                  {ValueId(6), domain::OutputKind::User, ""}}};
  domain::LaunchPlan plan{.buffers = values,
                          .inputs = {ValueId(0), ValueId(1), ValueId(2), ValueId(3)},
                          .outputs = {ValueId(5), ValueId(7), ValueId(6)},
                          .steps = {}};
  plan.buffers.push_back(tensor({2, 4}));
  plan.steps = {domain::AtenStep{add}, domain::AtenStep{linear}, domain::ZeroStep{ValueId(8)},
                scaledReluStep(4, 6, 7, 8)};
  input.program.source = kScaledReluCpu;
  input.program.plan = std::move(plan);
  return input;
}

ModelNewInput deepExport() {
  ModelNewInput input;
  setCommon(input);
  input.task.name = "deep";
  input.task.source.file = "deep.py";
  input.taskSource = kDeepSource;
  constexpr int kLayers = 9;
  constexpr int kCalls = 2 * kLayers;
  constexpr int kInput = kCalls + 1;
  domain::Graph& graph = input.task.graph;
  const auto tensor = [](domain::Shape shape) {
    return domain::contiguousTensor(domain::ScalarType::Float32, std::move(shape));
  };
  const domain::TensorType count = domain::contiguousTensor(domain::ScalarType::Int64, {});
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    graph.values.insert(graph.values.end(), {tensor({4, 4}), tensor({4})});
    graph.inputs.push_back({ValueId(2 * layer), domain::InputKind::Parameter, name + ".weight"});
    graph.inputs.push_back({ValueId(2 * layer + 1), domain::InputKind::Parameter, name + ".bias"});
  }
  graph.values.insert(graph.values.end(), {count, tensor({2, 4}), count});
  graph.inputs.push_back({ValueId(kCalls), domain::InputKind::Buffer, "calls"});
  graph.inputs.push_back({ValueId(kInput), domain::InputKind::User, "x"});
  graph.nodes.push_back({.op = "aten.add.Tensor",
                         .args = {value(kCalls), {std::int64_t{1}}},
                         .kwargs = {},
                         .outputs = {ValueId(kInput + 1)},
                         .where = ""});
  int last = kInput;
  for (int layer = 0; layer < kLayers; ++layer) {
    const int made = static_cast<int>(graph.values.size());
    graph.values.push_back(tensor({2, 4}));
    graph.nodes.push_back({.op = "aten.linear.default",
                           .args = {value(last), value(2 * layer), value(2 * layer + 1)},
                           .kwargs = {},
                           .outputs = {ValueId(made)},
                           .where = ""});
    last = made;
  }
  graph.outputs = {{ValueId(kInput + 1), domain::OutputKind::BufferMutation, "calls"},
                   {ValueId(last), domain::OutputKind::User, ""}};
  domain::LaunchPlan& plan = input.program.plan;
  plan.buffers = graph.values;
  for (const domain::GraphInput& one : graph.inputs) {
    plan.inputs.push_back(one.value);
  }
  plan.outputs = {ValueId(kInput + 1), ValueId(last)};
  for (const domain::Node& node : graph.nodes) {
    plan.steps.emplace_back(domain::AtenStep{node});
  }
  return input;
}

ModelNewInput batchNormExport() {
  ModelNewInput input;
  setCommon(input);
  input.task.name = "norm";
  input.task.source.file = "norm.py";
  input.taskSource = kNormSource;
  input.call = R"({"args": {"tuple": [{"tensor": 0}]}, "result": {"tuple": [{"tensor": 0}, {"tensor": 1}]}})";
  const domain::TensorType channels = domain::contiguousTensor(domain::ScalarType::Float32, {4});
  const domain::TensorType rows = domain::contiguousTensor(domain::ScalarType::Float32, {2, 4});
  const domain::TensorType count = domain::contiguousTensor(domain::ScalarType::Int64, {});
  const std::vector<domain::TensorType> values = {channels, channels, channels, channels, count, rows,
                                                  count,    rows,     channels, channels, rows,  rows};
  const domain::Node add{.op = "aten.add.Tensor",
                         .args = {value(4), {std::int64_t{1}}},
                         .kwargs = {},
                         .outputs = {ValueId(6)},
                         .where = ""};
  const domain::Node norm{.op = "aten._native_batch_norm_legit_functional.default",
                          .args = {value(5), value(0), value(1), value(2), value(3), {true}, {0.1}, {1e-5}},
                          .kwargs = {},
                          .outputs = {ValueId(7), ValueId(), ValueId(), ValueId(8), ValueId(9)},
                          .where = ""};
  const domain::Node scale{
      .op = "aten.mul.Tensor", .args = {value(7), {2.0}}, .kwargs = {}, .outputs = {ValueId(10)}, .where = ""};
  const domain::Node relu{
      .op = "aten.relu.default", .args = {value(10)}, .kwargs = {}, .outputs = {ValueId(11)}, .where = ""};
  input.task.graph = {.values = values,
                      .inputs = {{ValueId(0), domain::InputKind::Parameter, "norm.weight"},
                                 {ValueId(1), domain::InputKind::Parameter, "norm.bias"},
                                 {ValueId(2), domain::InputKind::Buffer, "norm.running_mean"},
                                 {ValueId(3), domain::InputKind::Buffer, "norm.running_var"},
                                 {ValueId(4), domain::InputKind::Buffer, "norm.num_batches_tracked"},
                                 {ValueId(5), domain::InputKind::User, "x"}},
                      .nodes = {add, norm, scale, relu},
                      .outputs = {{ValueId(6), domain::OutputKind::BufferMutation, "norm.num_batches_tracked"},
                                  {ValueId(8), domain::OutputKind::BufferMutation, "norm.running_mean"},
                                  {ValueId(9), domain::OutputKind::BufferMutation, "norm.running_var"},
                                  {ValueId(11), domain::OutputKind::User, ""},
                                  {ValueId(10), domain::OutputKind::User, ""}}};
  domain::LaunchPlan plan{.buffers = values,
                          .inputs = {ValueId(0), ValueId(1), ValueId(2), ValueId(3), ValueId(4), ValueId(5)},
                          .outputs = {ValueId(6), ValueId(8), ValueId(9), ValueId(11), ValueId(10)},
                          .steps = {}};
  plan.buffers.push_back(rows);
  plan.steps = {domain::AtenStep{add}, domain::AtenStep{norm}, domain::ZeroStep{ValueId(12)},
                scaledReluStep(7, 10, 11, 12)};
  input.program.source = kScaledReluCpu;
  input.program.plan = std::move(plan);
  return input;
}

}  // namespace swage::exporting::testing
