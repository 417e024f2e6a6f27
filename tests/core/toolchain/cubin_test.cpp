// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/cubin.h"

#include <gmock/gmock.h>

namespace swage::toolchain {
namespace {

constexpr std::string_view kLog =
    "source.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
    "ptxas info    : 40 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
    "ptxas info    : Function properties for first\n"
    "ptxas         .     48 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 2.465 ms\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
    "ptxas info    : Function properties for second\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 14 registers, used 1 barriers, 128 bytes smem\n"
    "ptxas warning : something else\n";

TEST(ResourceReport, GivesRegistersSpillsAndSharedMemoryOfEachEntry) {
  const auto kernels = parseResourceReport(kLog);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.at("first").registers, 255);
  EXPECT_EQ(kernels.at("first").spillBytes, 84);
  EXPECT_EQ(kernels.at("first").staticSharedBytes, 0);
  EXPECT_EQ(kernels.at("second").registers, 14);
  EXPECT_EQ(kernels.at("second").spillBytes, 0);
  EXPECT_EQ(kernels.at("second").staticSharedBytes, 128);
}

TEST(ResourceReport, IsTakenOutOfTheLogSoThatEqualCompilationsHaveEqualLogs) {
  EXPECT_EQ(withoutResourceReport(kLog),
            "source.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
            "ptxas warning : something else\n");
}

}  // namespace
}  // namespace swage::toolchain
