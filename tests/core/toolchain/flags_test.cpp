// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/flags.h"

#include <gmock/gmock.h>

namespace swage::toolchain {
namespace {

using domain::Target;
using ::testing::Contains;
using ::testing::Not;
using ::testing::Optional;

TEST(Flags, AllowsWhatTunesACpuKernel) {
  EXPECT_EQ(refusedFlag(Target::Cpu, {"-mprefer-vector-width=512", "-funroll-loops", "-O2", "-fno-tree-vectorize"}),
            std::nullopt);
}

TEST(Flags, RefusesWhatLowersAccuracyReachesFilesOrRunsPlugins) {
  for (const std::string flag :
       {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-I/etc", "-include/etc/passwd", "-fplugin=x.so",
        "-B/tmp", "@/in/args", "-Wl,-rpath,/tmp", "-o", ""}) {
    EXPECT_THAT(refusedFlag(Target::Cpu, {"-O3", flag}), Optional(flag));
  }
}

TEST(Flags, AllowsWhatTunesACudaKernel) {
  EXPECT_EQ(refusedFlag(Target::Cuda, {"-maxrregcount=64", "--fmad=false", "-ftz=true"}), std::nullopt);
}

TEST(Flags, RefusesFastMathAndOddRegisterCountsOnCuda) {
  for (const std::string flag : {"--use_fast_math", "-use_fast_math", "--prec-div=false", "-maxrregcount=4",
                                 "-maxrregcount=64x", "-maxrregcount=", "-I/", "--pre-include=/etc/passwd"}) {
    EXPECT_THAT(refusedFlag(Target::Cuda, {flag}), Optional(flag));
  }
}

TEST(Flags, DefaultsCarryTheArchitectureAndNoFastMath) {
  EXPECT_THAT(defaultFlags(Target::Cuda, "sm_90a"), Contains("-arch=sm_90a"));
  EXPECT_THAT(defaultFlags(Target::Cpu, "x86-64-v3"), Contains("-march=x86-64-v3"));
  EXPECT_THAT(defaultFlags(Target::Cpu, "native"), Not(Contains("-ffast-math")));
}

TEST(Flags, KnowsArchitectureNames) {
  EXPECT_TRUE(isArchitectureName(Target::Cuda, "sm_80"));
  EXPECT_TRUE(isArchitectureName(Target::Cuda, "sm_90a"));
  EXPECT_TRUE(isArchitectureName(Target::Cuda, "sm_120f"));
  EXPECT_FALSE(isArchitectureName(Target::Cuda, "sm_"));
  EXPECT_FALSE(isArchitectureName(Target::Cuda, "sm_90 -I/"));
  EXPECT_FALSE(isArchitectureName(Target::Cuda, "native"));
  EXPECT_TRUE(isArchitectureName(Target::Cpu, "native"));
  EXPECT_FALSE(isArchitectureName(Target::Cpu, "native -fplugin=x"));
}

}  // namespace
}  // namespace swage::toolchain
