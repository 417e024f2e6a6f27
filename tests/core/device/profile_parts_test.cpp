// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/device/cupti_errors.h"
#include "core/device/profile_metrics.h"
#include "core/device/sass_listing.h"

namespace swage::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Pair;

TEST(SassListing, HasTheInstructionsOfOneKernel) {
  const SassListing listing = parseSass(R"(
//--------------------- .text.first      --------------------------
first:
.text.first:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/               @P0 BRA `(.L_x_1) ;
.L_x_1:
        /*01a0*/                   EXIT ;
//--------------------- .text.second      --------------------------
.text.second:
        /*0000*/                   NOP ;
)",
                                        "first");
  EXPECT_THAT(listing,
              ElementsAre(Pair(0, SassInstruction{"LDC R1, c[0x0][0x28]", {}}),
                          Pair(16, SassInstruction{"@P0 BRA `(.L_x_1)", {}}), Pair(416, SassInstruction{"EXIT", {}})));
}

TEST(SassListing, HasTheBitsForTheSchedulerWhereTheEncodingIsPrinted) {
  const SassListing listing = parseSass(R"(
.text.first:
        /*0000*/                   S2R R0, SR_TID.X ;                    /* 0x0000000000007919 */
                                                                         /* 0x000e2e0000002100 */
.L_x_1:
        /*0010*/               @P0 EXIT ;                                /* 0x000000000000094d */
.text.second:
        /*0000*/                   NOP ;                                 /* 0x0000000000007918 */
                                                                         /* 0x000fc00000000000 */
)",
                                        "first");
  EXPECT_THAT(listing, ElementsAre(Pair(0, SassInstruction{"S2R R0, SR_TID.X", 0x717}),
                                   Pair(16, SassInstruction{"@P0 EXIT", {}})));
}

TEST(SassListing, IsEmptyWithoutTheKernel) {
  EXPECT_TRUE(parseSass(".text.second:\n /*0000*/ NOP ;\n", "first").empty());
  EXPECT_TRUE(parseSass("nvdisasm error", "first").empty());
}

TEST(ExplainCupti, NamesCauseAndFixOfWhatUsersMeet) {
  for (const int code : {26, 33, 35, 40, 41, 43, 45}) {
    const ProfilerFailure failure = explainCupti(code, "NAME", "start the counters");
    EXPECT_THAT(failure.cause, HasSubstr("cannot start the counters: ")) << code;
    EXPECT_THAT(failure.cause, HasSubstr("(NAME)")) << code;
    EXPECT_FALSE(failure.fix.empty()) << code;
  }
  EXPECT_THAT(explainCupti(999, "CUPTI_ERROR_UNKNOWN", "x").cause, HasSubstr("CUPTI_ERROR_UNKNOWN (999)"));
}

TEST(LaunchMetrics, AreOfTheLaunchAndNotOfTheCompiler) {
  KernelResources resources;
  resources.registers = 10;
  resources.occupancy = occupancyOf({2048, 32, 65536, 233472, 1024}, {256, 10, 0});
  EXPECT_THAT(launchMetrics(resources), IsSupersetOf({domain::ProfileMetric{"launch__registers_per_thread", 16.0},
                                                      domain::ProfileMetric{"launch__occupancy_limit_warps", 8.0}}));
}

TEST(ProfileMetrics, AreDistinctAndThoseThatTheChipKnows) {
  const ChosenMetrics all = chooseMetrics([](const std::string&) { return true; });
  EXPECT_TRUE(all.unknown.empty());
  EXPECT_EQ(std::set<std::string>(all.names.begin(), all.names.end()).size(), all.names.size());
  EXPECT_EQ(all.names.size(), profileMetrics().size());
  const ChosenMetrics none = chooseMetrics([](const std::string&) { return false; });
  EXPECT_TRUE(none.names.empty());
  const auto optional = std::count_if(profileMetrics().begin(), profileMetrics().end(),
                                      [](const MetricChoice& choice) { return choice.isOptional; });
  EXPECT_EQ(optional, 2) << "those of bank conflicts";
  EXPECT_EQ(none.unknown.size() + 2U, profileMetrics().size()) << "of which nobody hears";
  ChosenMetrics rest = all;
  EXPECT_TRUE(rest.leaveOutOptional());
  EXPECT_EQ(rest.names.size() + 2U, all.names.size());
  EXPECT_FALSE(rest.leaveOutOptional());
}

}  // namespace
}  // namespace swage::device
