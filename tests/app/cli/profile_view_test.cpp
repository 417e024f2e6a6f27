// SPDX-License-Identifier: Apache-2.0
#include "app/cli/profile_view.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace swage::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

domain::Profile countedProfile() {
  domain::KernelProfile kernel;
  kernel.entry = "copy";
  kernel.launches = 2;
  kernel.durationNs = 1000.0;
  kernel.registers = 32;
  kernel.spillBytes = 8;
  kernel.sharedBytes = 1024;
  kernel.theoreticalOccupancy = 0.5;
  kernel.occupancyLimiter = "registers";
  kernel.metrics = {{"dram__bytes_read.sum", 1e6},
                    {"dram__bytes_write.sum", 1e6},
                    {"dram__bytes.sum.peak_sustained", 2000.0},
                    {"dram__cycles_elapsed.avg.per_second", 2e9},
                    {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", 1e5},
                    {"sm__sass_thread_inst_executed_op_fmul_pred_on.sum", 0.0},
                    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 2e5},
                    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 16000.0},
                    {"sm__cycles_elapsed.avg.per_second", 1e9},
                    {"sm__warps_active.avg.pct_of_peak_sustained_active", 40.0},
                    {"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", 50.0}};
  kernel.instructions = {
      {.offset = 0, .text = "S2R R0, SR_TID.X", .line = 2, .samples = 10, .stalls = {{"wait", 10.0}}},
      {.offset = 16,
       .text = "LDG.E R2, desc[UR4][R2.64]",
       .line = 0,
       .samples = 90,
       .stalls = {{"wait", 20.0}, {"long_scoreboard", 70.0}}}};
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  profile.kernels = {kernel};
  return profile;
}

TEST(ProfileText, HasWhatTheCountersSay) {
  EXPECT_EQ(profileText(countedProfile()),
            "profile     by hardware counters\n"
            "kernel      copy: 1 µs, 2 launches, 32 registers, 8 bytes spilled, 1024 bytes shared\n"
            "  roofline   2e+12 bytes/s (50 % of 4e+12), 5e+11 flop/s (2 % of 3.2e+13), 0.25 flop/byte\n"
            "  occupancy  40 % of 50 % possible, limited by registers\n"
            "  waits for  long_scoreboard 50 %\n"
            "   90 %      library   0x0010 LDG.E R2, desc[UR4][R2.64] (long_scoreboard)\n"
            "   10 %      line 2    0x0000 S2R R0, SR_TID.X (wait)\n");
}

TEST(ProfileText, HasWhatWasCountedOfAProcessor) {
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  domain::KernelProfile kernel;
  kernel.entry = "k";
  kernel.metrics = {{"cycles", 4e6},          {"instructions", 6e6},
                    {"task-clock", 2e6},      {"stalled-cycles-backend", 1e6},
                    {"L1-dcache-loads", 1e6}, {"branches", 1e5},
                    {"cache-misses", 1e3},    {"samples-parallelism", 1.9},
                    {"branch-misses", 1e3},   {"L1-dcache-load-misses", 1e5}};
  kernel.instructions = {{.offset = 4416, .text = "vmulps ymm0,ymm0,ymm0", .line = 12, .samples = 8, .stalls = {}}};
  profile.kernels = {kernel};
  const std::string text = profileText(profile);
  EXPECT_THAT(text, HasSubstr("  processor  1.50 instructions/cycle, 2.00 GHz, 25 % of cycles stalled, 10 % L1 misses, "
                              "6.4e+04 bytes beyond the caches, 1 % branch misses, 1.9 threads at work\n"));
  EXPECT_THAT(text, HasSubstr("  100 %      line 12   0x1140 vmulps ymm0,ymm0,ymm0\n"));
}

TEST(ProfileText, SaysWhatIsMissingAndWhatToDo) {
  domain::Profile profile;
  profile.limitation = "only administrators may read the counters. Load the driver with an option";
  profile.kernels.resize(1);
  profile.kernels[0].entry = "k";
  const std::string text = profileText(profile);
  EXPECT_THAT(text, HasSubstr("by compiler output\n            only administrators"));
  EXPECT_THAT(text, HasSubstr("k: not timed\n"));
  EXPECT_THAT(text, Not(HasSubstr("roofline")));
  EXPECT_THAT(text, Not(HasSubstr("registers")));
}

TEST(ProfileText, OfNoKernelSaysSo) {
  domain::Profile profile;
  profile.limitation = "PyTorch's operators do everything";
  EXPECT_EQ(profileText(profile),
            "profile     by nothing: no kernel was seen\n            PyTorch's operators do everything\n");
}

TEST(ProfileText, ShowsTheFiveHottestInstructions) {
  domain::Profile profile = countedProfile();
  profile.kernels[0].instructions.assign(9, {.text = "NOP", .line = 3, .samples = 1, .stalls = {}});
  profile.kernels[0].instructions[7].text = "BAR.SYNC";
  profile.kernels[0].instructions[7].samples = 12;
  const std::string text = profileText(profile);
  EXPECT_LT(text.find("BAR.SYNC"), text.find("NOP"));
  EXPECT_THAT(text, HasSubstr("60 %"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5 + 5);
}

}  // namespace
}  // namespace swage::cli
