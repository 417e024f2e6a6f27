// SPDX-License-Identifier: Apache-2.0
#include "core/stats/triage.h"

#include <gmock/gmock.h>

namespace swage::stats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

domain::KernelProfile copyKernel() {
  domain::KernelProfile kernel;
  kernel.durationNs = 1000.0;
  kernel.metrics = {{"dram__bytes_read.sum", 1e6},
                    {"dram__bytes_write.sum", 1e6},
                    {"dram__bytes.sum.peak_sustained", 2000.0},
                    {"dram__cycles_elapsed.avg.per_second", 2e9},
                    {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", 1e5},
                    {"sm__sass_thread_inst_executed_op_fmul_pred_on.sum", 0.0},
                    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 2e5},
                    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 16000.0},
                    {"sm__cycles_elapsed.avg.per_second", 1e9},
                    {"sm__warps_active.avg.pct_of_peak_sustained_active", 75.0},
                    {"smsp__warp_issue_stalled_wait_per_warp_active.pct", 5.0},
                    {"smsp__warp_issue_stalled_selected_per_warp_active.pct", 60.0},
                    {"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", 50.0},
                    {"smsp__warp_issue_stalled_barrier_per_warp_active.pct", 0.0},
                    {"smsp__warp_issue_stalled_membar_per_warp_active.pct", 1.0},
                    {"smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct", 2.0}};
  return kernel;
}

TEST(Triage, PlacesAKernelOnTheRoofline) {
  const auto position = triageOf(copyKernel()).roofline;
  ASSERT_TRUE(position);
  EXPECT_DOUBLE_EQ(position->bytesPerSecond, 2e12);
  EXPECT_DOUBLE_EQ(position->memoryRoof, 4e12);
  EXPECT_DOUBLE_EQ(position->flopsPerSecond, 5e11);
  EXPECT_DOUBLE_EQ(position->computeRoof, 3.2e13);
  EXPECT_DOUBLE_EQ(position->flopsPerByte, 0.25);
}

TEST(Triage, NamesTheThreeReasonsThatWarpsWaitForMost) {
  EXPECT_THAT(triageOf(copyKernel()).topStalls,
              ElementsAre(domain::ProfileMetric{"long_scoreboard", 0.5}, domain::ProfileMetric{"wait", 0.05},
                          domain::ProfileMetric{"mio_throttle", 0.02}));
  EXPECT_EQ(triageOf(copyKernel()).achievedOccupancy, 0.75);
}

TEST(Triage, SaysNothingWithoutCounters) {
  const Triage triage = triageOf({});
  EXPECT_FALSE(triage.roofline);
  EXPECT_FALSE(triage.achievedOccupancy);
  EXPECT_THAT(triage.topStalls, IsEmpty());
}

}  // namespace
}  // namespace swage::stats
