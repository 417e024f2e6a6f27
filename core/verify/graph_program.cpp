// SPDX-License-Identifier: Apache-2.0
#include "core/verify/graph_program.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

#include <algorithm>
#include <utility>

#include "core/base/scope_exit.h"
#include "core/domain/aten.h"
#include "core/verify/eager_batch_norm.h"
#include "core/verify/wide_convolution.h"
#include "core/verify/wiped.h"

namespace swage::verify {
namespace {

using domain::ValueId;

std::size_t indexOf(ValueId id) {
  return static_cast<std::size_t>(id.value());
}

// For each value the step after which nobody needs it; graph outputs are needed forever.
std::vector<std::ptrdiff_t> lastUses(const domain::Graph& graph) {
  constexpr std::ptrdiff_t kNever = -1;
  std::vector<std::ptrdiff_t> last(graph.values.size(), kNever);
  for (std::size_t step = 0; step < graph.nodes.size(); ++step) {
    const domain::Node& node = graph.nodes[step];
    for (const ValueId id : domain::inputsOf(node)) {
      last[indexOf(id)] = static_cast<std::ptrdiff_t>(step);
    }
    for (const ValueId id : node.outputs) {
      if (id.isValid()) {
        last[indexOf(id)] = static_cast<std::ptrdiff_t>(step);
      }
    }
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    last[indexOf(output.value)] = kNever;
  }
  return last;
}

}  // namespace

Result<GraphProgram> GraphProgram::bind(const domain::Graph& graph, GraphMode mode, const CallMode& call) {
  GraphProgram program;
  program.m_valueCount = graph.values.size();
  program.m_widenTo = call.widenTo;
  for (const domain::GraphInput& input : graph.inputs) {
    program.m_inputs.push_back(indexOf(input.value));
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    program.m_outputs.push_back(indexOf(output.value));
  }
  for (const domain::Node& node : graph.nodes) {
    SWAGE_TRY_ASSIGN(OperatorCall bound, OperatorCall::bind(node, call));
    const bool asModule = mode == GraphMode::Eager && domain::isModuleBatchNorm(node);
    Step& step = program.m_steps.emplace_back(Step{std::move(bound), asModule, {}, {}, {}, {}});
    std::copy_if(node.outputs.begin(), node.outputs.end(), std::back_inserter(step.made),
                 [](ValueId id) { return id.isValid(); });
    step.isWideConvolution = mode == GraphMode::Reference && call.device.is_cuda() && call.widenTo == at::kDouble &&
                             domain::isConvolution(node.op);
  }
  const auto last = lastUses(graph);
  for (std::size_t value = 0; value < last.size(); ++value) {
    if (last[value] >= 0) {
      program.m_steps[static_cast<std::size_t>(last[value])].freed.push_back(value);
    }
  }
  return program;
}

std::vector<at::Tensor> GraphProgram::run(std::span<const at::Tensor> inputs, RunningStats stats, Freed freed,
                                          const ValueChange& change) {
  TORCH_CHECK(inputs.size() == m_inputs.size(), "the graph takes ", m_inputs.size(), " inputs, not ", inputs.size());
  const at::NoGradGuard noGrad;
  const caffe2::TypeMeta defaultType = c10::get_default_dtype();
  const ScopeExit restore([&] { c10::set_default_dtype(defaultType); });
  if (m_widenTo) {
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(*m_widenTo));
  }
  m_slots.assign(m_valueCount, {});
  const ScopeExit clear([this, freed] {
    for (std::size_t value = 0; value < m_slots.size(); ++value) {
      freeSlot(value, freed);
    }
    m_slots.clear();
  });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    m_slots[m_inputs[i]] = inputs[i];
  }
  for (Step& step : m_steps) {
    runStep(step, stats);
    for (const domain::ValueId id : change ? step.made : std::vector<domain::ValueId>()) {
      if (const at::Tensor& value = m_slots[indexOf(id)]; value.defined()) {
        at::Tensor changed = change(id, value);
        freeSlot(indexOf(id), freed);
        m_slots[indexOf(id)] = std::move(changed);
      }
    }
    for (const std::size_t value : step.freed) {
      freeSlot(value, freed);
    }
  }
  std::vector<at::Tensor> outputs;
  outputs.reserve(m_outputs.size());
  for (const std::size_t value : m_outputs) {
    TORCH_CHECK(m_slots[value].defined(), "the graph did not compute its output ", value);
    outputs.push_back(m_slots[value]);
  }
  return outputs;
}

void GraphProgram::freeSlot(std::size_t value, Freed freed) {
  if (freed == Freed::Wiped) {
    wipe(m_slots[value]);
  }
  m_slots[value].reset();
}

void GraphProgram::runStep(Step& step, RunningStats stats) {
  if (step.eagerBatchNorm) {
    runBatchNorm(step, stats);
    return;
  }
  if (step.isWideConvolution) {
    if (auto result = wideConvolution(step.call.name(), step.call.arguments(m_slots))) {
      torch::jit::Stack results{*std::move(result)};
      step.call.store(results, m_slots);
      return;
    }
  }
  step.call.run(m_slots);
}

void GraphProgram::runBatchNorm(Step& step, RunningStats stats) {
  const torch::jit::Stack arguments = step.call.arguments(m_slots);
  const bool isFresh = stats == RunningStats::Fresh || !step.runningMean.defined();
  const at::Tensor mean = isFresh ? arguments[3].toTensor().clone() : step.runningMean;
  const at::Tensor variance = isFresh ? arguments[4].toTensor().clone() : step.runningVar;
  if (stats == RunningStats::Reuse) {
    step.runningMean = mean;
    step.runningVar = variance;
  }
  torch::jit::Stack results = runTrainingBatchNorm(arguments, mean, variance);
  step.call.store(results, m_slots);
}

std::int64_t peakIntermediateBytes(const domain::Graph& graph) {
  const auto last = lastUses(graph);
  std::vector<std::vector<std::size_t>> dying(graph.nodes.size());
  std::vector<bool> isInput(graph.values.size(), false);
  for (const domain::GraphInput& input : graph.inputs) {
    isInput[indexOf(input.value)] = true;
  }
  for (std::size_t value = 0; value < last.size(); ++value) {
    if (last[value] >= 0 && !isInput[value]) {
      dying[static_cast<std::size_t>(last[value])].push_back(value);
    }
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (std::size_t step = 0; step < graph.nodes.size(); ++step) {
    for (const ValueId id : graph.nodes[step].outputs) {
      live += id.isValid() ? graph.type(id).byteCount() : 0;
    }
    peak = std::max(peak, live);
    for (const std::size_t value : dying[step]) {
      live -= graph.values[value].byteCount();
    }
  }
  return peak;
}

}  // namespace swage::verify
