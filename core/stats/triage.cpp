// SPDX-License-Identifier: Apache-2.0
#include "core/stats/triage.h"

#include <algorithm>
#include <utility>

namespace swage::stats {
namespace {

constexpr std::size_t kTopStalls = 3;
constexpr std::string_view kStallPrefix = "smsp__warp_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_warp_active.pct";
// The warp issues, or could and another one does: nothing waits.
constexpr std::string_view kNotStalled[] = {"selected", "not_selected"};

std::optional<RooflinePosition> rooflineOf(const domain::KernelProfile& kernel) {
  const auto read = metricOf(kernel, "dram__bytes_read.sum");
  const auto written = metricOf(kernel, "dram__bytes_write.sum");
  const auto bytesPerCycle = metricOf(kernel, "dram__bytes.sum.peak_sustained");
  const auto memoryClock = metricOf(kernel, "dram__cycles_elapsed.avg.per_second");
  const auto adds = metricOf(kernel, "sm__sass_thread_inst_executed_op_fadd_pred_on.sum");
  const auto products = metricOf(kernel, "sm__sass_thread_inst_executed_op_fmul_pred_on.sum");
  const auto fused = metricOf(kernel, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum");
  const auto fusedPerCycle = metricOf(kernel, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained");
  const auto clock = metricOf(kernel, "sm__cycles_elapsed.avg.per_second");
  if (!read || !written || !bytesPerCycle || !memoryClock || !adds || !products || !fused || !fusedPerCycle || !clock ||
      kernel.durationNs <= 0.0) {
    return std::nullopt;
  }
  const double seconds = kernel.durationNs * 1e-9;
  const double bytes = *read + *written;
  const double flops = *adds + *products + 2.0 * *fused;
  return RooflinePosition{bytes / seconds, *bytesPerCycle * *memoryClock, flops / seconds,
                          2.0 * *fusedPerCycle * *clock, bytes > 0.0 ? flops / bytes : 0.0};
}

std::optional<double> shareOf(const domain::KernelProfile& kernel, std::string_view name) {
  const auto percent = metricOf(kernel, name);
  return percent ? std::optional(*percent / 100.0) : std::nullopt;
}

}  // namespace

std::optional<double> metricOf(const domain::KernelProfile& kernel, std::string_view name) {
  const auto found = std::find_if(kernel.metrics.begin(), kernel.metrics.end(),
                                  [name](const domain::ProfileMetric& metric) { return metric.name == name; });
  return found == kernel.metrics.end() ? std::nullopt : std::optional(found->value);
}

std::vector<domain::ProfileMetric> stallShares(const domain::KernelProfile& kernel) {
  std::vector<domain::ProfileMetric> stalls;
  for (const domain::ProfileMetric& metric : kernel.metrics) {
    const std::string_view name = metric.name;
    if (!name.starts_with(kStallPrefix) || !name.ends_with(kStallSuffix) || metric.value <= 0.0) {
      continue;
    }
    const std::string_view reason =
        name.substr(kStallPrefix.size(), name.size() - kStallPrefix.size() - kStallSuffix.size());
    if (std::find(std::begin(kNotStalled), std::end(kNotStalled), reason) == std::end(kNotStalled)) {
      stalls.push_back({std::string(reason), metric.value / 100.0});
    }
  }
  std::stable_sort(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  return stalls;
}

Triage triageOf(const domain::KernelProfile& kernel) {
  std::vector<domain::ProfileMetric> stalls = stallShares(kernel);
  stalls.resize(std::min(stalls.size(), kTopStalls));
  return {rooflineOf(kernel), shareOf(kernel, "sm__warps_active.avg.pct_of_peak_sustained_active"),
          shareOf(kernel, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"), std::move(stalls)};
}

}  // namespace swage::stats
