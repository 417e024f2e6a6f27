// SPDX-License-Identifier: Apache-2.0
#include "core/run/pipeline_options.h"

#include <algorithm>

namespace swage::run {
namespace {

constexpr int kWaiting = 4;
constexpr int kMaxInFlight = 32;
constexpr double kTimingSecondsGpu = 0.25;
constexpr double kTimingSecondsCpu = 0.5;
// Of a contender's checks, against its timing: a task that takes milliseconds is checked on everything in less.
constexpr double kChecksToTiming = 0.5;

}  // namespace

CandidatePipeline::Options pipelineOptions(const RunContext& context, int compilers) {
  const wire::TaskReady& task = context.task;
  const search::Searcher& searcher = *context.searcher;
  CandidatePipeline::Options options;
  options.run = context.run;
  options.device = context.device;
  options.overlap = context.device.kind == domain::DeviceKind::Cuda;
  // Enough to keep the worker busy, and not more: what is in flight was proposed without knowing what came before it.
  options.batch = options.overlap ? std::clamp(compilers + kWaiting, kWaiting, kMaxInFlight) : std::max(2, compilers);
  options.timingBudgetSeconds = options.overlap ? kTimingSecondsGpu : kTimingSecondsCpu;
  options.checkSeconds = kChecksToTiming * options.timingBudgetSeconds;
  options.limitSeconds = evaluationLimit(context.parts.minLimitSeconds, task.eager.medianNs);
  // Where the outputs do not depend on all inputs, as a doubtful task's may not, nothing has to be read.
  options.floorNs = task.doubts.empty() ? context.roof.floorNs : 0.0;
  options.eagerNs = task.eager.medianNs;
  options.islands = searcher.archive().islandCount();
  options.eliteSpeedup = [&searcher](const domain::Cell& cell) { return searcher.eliteSpeedup(cell); };
  options.bestSpeedup = [&searcher] {
    const search::Elite* best = searcher.archive().bestOverall();
    return best != nullptr ? best->overEager : domain::Speedup();
  };
  options.elapsedSeconds = [&context] { return context.clock.elapsedSeconds(); };
  return options;
}

}  // namespace swage::run
