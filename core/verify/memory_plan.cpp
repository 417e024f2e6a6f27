// SPDX-License-Identifier: Apache-2.0
#include "core/verify/memory_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/verify/graph_program.h"

namespace swage::verify {
namespace {

constexpr double kUsableShare = 0.9;
constexpr double kKeptShare = 0.3;
// A time depends on where in memory a process happens to have its tensors (a copy of 8 us by 0.1 us, on an H200), so it
// is measured at several places where they are little.
constexpr int kMostWorkingSets = 4;
constexpr double kFurtherSetsShare = 0.1;
constexpr int kMostStreams = 8;
constexpr double kStreamsShare = 0.1;

struct Footprint {
  double inputs = 0.0;
  double outputs = 0.0;
  double intermediates = 0.0;
  double widening = 1.0;  // bytes of a float64 for each byte of the narrowest floating value
};

Footprint footprintOf(const domain::Graph& graph) {
  Footprint result;
  for (const domain::GraphInput& input : graph.inputs) {
    result.inputs += static_cast<double>(graph.type(input.value).byteCount());
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    result.outputs += static_cast<double>(graph.type(output.value).byteCount());
  }
  result.intermediates = static_cast<double>(peakIntermediateBytes(graph));
  for (const domain::TensorType& type : graph.values) {
    if (domain::isFloating(type.dtype)) {
      result.widening = std::max(result.widening, 8.0 / static_cast<double>(domain::byteSize(type.dtype)));
    }
  }
  return result;
}

}  // namespace

Result<MemoryPlan> planMemory(const domain::Graph& graph, int checks, std::int64_t freeBytes) {
  const Footprint task = footprintOf(graph);
  const double usable = kUsableShare * static_cast<double>(freeBytes);
  const double run = task.inputs + task.intermediates;  // outputs are among the intermediates
  // Pristine inputs, the working copy, a candidate's outputs, and either eager or the reference beside them.
  const double native = 2 * task.inputs + 2 * task.outputs + run;
  if (native > usable) {
    return Error(
        ErrorKind::InvalidInput,
        fmt::format("the task needs about {:.2f} GB on this device, of which {:.2f} GB are free: three copies of "
                    "{:.2f} GB of inputs, {:.2f} GB of results between its steps, and twice {:.2f} GB of "
                    "outputs",
                    native / 1e9, static_cast<double>(freeBytes) / 1e9, task.inputs / 1e9, task.intermediates / 1e9,
                    task.outputs / 1e9),
        "Make its sizes smaller, for example with --set NAME=VALUE.");
  }
  MemoryPlan plan;
  plan.referenceInFloat64 = native + task.widening * run <= usable;
  const double peak = native + (plan.referenceInFloat64 ? task.widening * run : 0.0);
  const double kept = std::max(1.0, task.inputs + (1.0 + task.widening) * task.outputs);
  // Sets that take turns have outputs that take turns.
  const double turns = std::max(1.0, task.inputs + task.outputs);
  plan.workingSets = peak + turns <= usable ? 2 : 1;
  while (plan.workingSets > 1 && plan.workingSets < kMostWorkingSets && peak + plan.workingSets * turns <= usable &&
         plan.workingSets * turns <= kFurtherSetsShare * static_cast<double>(freeBytes)) {
    ++plan.workingSets;
  }
  const double turnsMemory = std::max(1, plan.workingSets - 1) * turns;
  // libtorch keeps what was freed for the stream that had it: twice what eager needs, because a candidate's outputs are
  // still there.
  const double ofStream = std::max(1.0, 2 * task.intermediates);
  const double forStreams = std::min(kStreamsShare * static_cast<double>(freeBytes), usable - peak - turnsMemory);
  plan.streams = static_cast<int>(std::clamp(forStreams / ofStream, 1.0, static_cast<double>(kMostStreams)));
  const double room = std::min(kKeptShare * static_cast<double>(freeBytes),
                               usable - peak - turnsMemory - (plan.streams - 1) * ofStream);
  plan.keptChecks = static_cast<int>(std::clamp(room / kept, 0.0, static_cast<double>(checks)));
  return plan;
}

}  // namespace swage::verify
