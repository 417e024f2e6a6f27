// SPDX-License-Identifier: Apache-2.0
#include "core/domain/baseline.h"

#include <algorithm>
#include <cmath>

#include "core/domain/aten.h"
#include "core/domain/graph.h"

namespace swage::domain {
namespace {

constexpr std::string_view kEager = "eager";

bool hasConvolution(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&graph](const Node& node) {
    return isConvolution(node.op) && !node.outputs.empty() && node.outputs[0].isValid() &&
           graph.type(node.outputs[0]).dtype == ScalarType::Float32;
  });
}

Speedup::Times timesOf(const Baseline& baseline) {
  return {baseline.timing.medianNs, baseline.timing.lowNs, baseline.timing.highNs};
}

}  // namespace

Speedup againstEager(const PairedTiming& timing) {
  if (timing.candidate.samples == 0 || timing.eager.samples == 0 || timing.screenedOut) {
    return {};
  }
  return {timing.speedup, timing.speedupLow, timing.speedupHigh};
}

std::string pytorchWay(const std::string& mode) {
  if (mode == kEager) {
    return "eager execution";
  }
  return mode == "compile" ? "torch.compile" : "torch.compile in mode " + mode;
}

bool hasWorked(const Baseline& baseline) {
  return baseline.failure.empty() && std::isfinite(baseline.timing.medianNs) && baseline.timing.medianNs > 0.0;
}

bool isRejected(const Baseline& baseline) {
  return !baseline.failure.empty() && std::isfinite(baseline.timing.medianNs) && baseline.timing.medianNs > 0.0;
}

Speedup eagerAgainst(const Baseline& baseline, const std::vector<Baseline>& all) {
  if (baseline.mode == kEager) {
    return Speedup::exactly(1.0);
  }
  if (baseline.eagerSpeedup.isKnown()) {
    return baseline.eagerSpeedup;
  }
  const auto eager = std::find_if(all.begin(), all.end(),
                                  [](const Baseline& other) { return other.mode == kEager && hasWorked(other); });
  return eager != all.end() ? Speedup::ofTimes(timesOf(baseline), timesOf(*eager)) : Speedup();
}

AccuracyClass permittedAccuracy(const Graph& graph, AccuracyClass eager) {
  return hasConvolution(graph) ? std::max(eager, AccuracyClass::Tf32) : eager;  // declared from the most exact on
}

}  // namespace swage::domain
