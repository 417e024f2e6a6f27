// SPDX-License-Identifier: Apache-2.0
#include "core/domain/control_code.h"

#include <gtest/gtest.h>

namespace swage::domain {
namespace {

// The upper 64 bits of instructions of one kernel, as ptxas 12.8 wrote them for sm_90a.
std::string textOf(std::uint64_t upper) {
  return toText(controlCode(static_cast<std::uint32_t>(upper >> 41 & 0x1fffff)));
}

TEST(ControlCode, NamesWhatEachInstructionWaitsForAndReleases) {
  EXPECT_EQ(textOf(0x000e2e0000002100), "B------:R-:W0:-:S07");  // S2R R0, SR_TID.X
  EXPECT_EQ(textOf(0x001fe2000f8e0200), "B0-----:R-:W-:-:S01");  // IMAD R5, R5, UR4, R0: waits for it
  EXPECT_EQ(textOf(0x000ea4000c1e1900), "B------:R-:W2:-:S02");  // LDG.E R0, desc[UR4][R2.64]
  EXPECT_EQ(textOf(0x004fca0000400000), "B--2---:R-:W-:Y:S05");  // FMUL R4, R0, ...: waits for it
}

TEST(ControlCode, ReadsTheReuseOfOperands) {
  EXPECT_EQ(controlCode(0b0101'000000'111'111'1'0000).reuse, 5);
}

TEST(ControlCode, IsOfOneWidth) {
  EXPECT_EQ(textOf(~0ULL).size(), textOf(0).size());
}

}  // namespace
}  // namespace swage::domain
