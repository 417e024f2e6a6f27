// SPDX-License-Identifier: Apache-2.0
#include "core/device/profile_metrics.h"

#include <algorithm>

namespace swage::device {

const std::vector<MetricChoice>& profileMetrics() {
  static const std::vector<MetricChoice> kMetrics = {
      {"gpu__time_duration.sum", {}},
      {"sm__cycles_active.avg", {}},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", {}},
      {"sm__inst_executed.sum", {}},
      {"sm__inst_executed_pipe_fp32.avg.pct_of_peak_sustained_active",
       {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"}},
      {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", {}},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", {}},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", {}},
      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", {}},
      {"dram__bytes_read.sum", {}},
      {"dram__bytes_write.sum", {}},
      {"dram__bytes.sum.per_second", {}},
      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", {}},
      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", {}},
      {"l1tex__t_sector_hit_rate.pct", {}},
      {"l1tex__throughput.avg.pct_of_peak_sustained_active", {}},
      {"lts__t_sector_hit_rate.pct", {}},
      {"lts__throughput.avg.pct_of_peak_sustained_active", {}},
      {"smsp__sass_average_branch_targets_threads_uniform.pct", {}},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", {}},
      // Volta split the stalls on memory into waits for data, for the queue of global memory and for other queues.
      {"smsp__warp_issue_stalled_memory_dependency_per_warp_active.pct",
       {"smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct"}},
      {"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_barrier_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_wait_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_not_selected_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_selected_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_membar_per_warp_active.pct", {}},
      {"smsp__warp_issue_stalled_no_instruction_per_warp_active.pct", {}},
      // For the roofline: what was computed, and the most that the chip can compute and move.
      {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", {}},
      {"sm__sass_thread_inst_executed_op_fmul_pred_on.sum", {}},
      {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", {}},
      {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", {}},
      {"sm__cycles_elapsed.avg.per_second", {}},
      {"dram__bytes.sum.peak_sustained", {}},
      {"dram__cycles_elapsed.avg.per_second", {}},
      // Passes of loads and stores through shared memory, and those of them that only bank conflicts need, as Nsight
      // Compute's table of shared memory has them.
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", {}, true},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", {}, true},
  };
  return kMetrics;
}

ChosenMetrics chooseMetrics(const std::function<bool(const std::string&)>& isKnown) {
  ChosenMetrics chosen;
  for (const MetricChoice& choice : profileMetrics()) {
    std::vector<std::string_view> names = {choice.name};
    names.insert(names.end(), choice.successors.begin(), choice.successors.end());
    const auto known =
        std::find_if(names.begin(), names.end(), [&](std::string_view name) { return isKnown(std::string(name)); });
    if (known == names.end()) {
      if (!choice.isOptional) {
        chosen.unknown.emplace_back(choice.name);
      }
    } else {
      chosen.names.emplace_back(*known);
    }
  }
  return chosen;
}

bool ChosenMetrics::leaveOutOptional() {
  const auto isOptional = [](const std::string& name) {
    const std::vector<MetricChoice>& all = profileMetrics();
    return std::any_of(all.begin(), all.end(), [&name](const MetricChoice& choice) {
      return choice.isOptional && (choice.name == name || std::find(choice.successors.begin(), choice.successors.end(),
                                                                    name) != choice.successors.end());
    });
  };
  return std::erase_if(names, isOptional) > 0;
}

std::vector<domain::ProfileMetric> launchMetrics(const KernelResources& resources) {
  const Occupancy& occupancy = resources.occupancy;
  return {{"launch__registers_per_thread", static_cast<double>(occupancy.registersPerThread)},
          {"launch__shared_mem_per_block_allocated", static_cast<double>(occupancy.sharedBytesAllocated)},
          {"launch__occupancy_limit_blocks", static_cast<double>(occupancy.byBlocks)},
          {"launch__occupancy_limit_registers", static_cast<double>(occupancy.byRegisters)},
          {"launch__occupancy_limit_shared_mem", static_cast<double>(occupancy.bySharedMemory)},
          {"launch__occupancy_limit_warps", static_cast<double>(occupancy.byWarps)}};
}

}  // namespace swage::device
