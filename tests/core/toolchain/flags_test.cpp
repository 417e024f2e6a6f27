// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/flags.h"

#include <gmock/gmock.h>

namespace swage::toolchain {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

domain::CompileRequest cppRequest(std::vector<std::string> flags, std::string architecture = "native") {
  return {domain::Language::Cpp, {}, {}, std::move(architecture), std::move(flags)};
}

domain::CompileRequest cudaRequest(std::vector<std::string> flags, std::string architecture = "sm_90a") {
  return {domain::Language::CudaCpp, {}, {}, std::move(architecture), std::move(flags)};
}

TEST(Flags, AllowsWhatTunesACppKernel) {
  EXPECT_EQ(findFlagDefect(cppFlags(),
                           cppRequest({"-mprefer-vector-width=512", "-funroll-loops", "-O2", "-fno-tree-vectorize"})),
            std::nullopt);
}

TEST(Flags, RefusesWhatLowersAccuracyReachesFilesOrRunsPlugins) {
  for (const std::string flag :
       {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-I/etc", "-include/etc/passwd", "-fplugin=x.so",
        "-B/tmp", "@/in/args", "-Wl,-rpath,/tmp", "-o", ""}) {
    EXPECT_THAT(findFlagDefect(cppFlags(), cppRequest({"-O3", flag})),
                Optional("the flag '" + flag + "' is not allowed for C++"));
  }
}

TEST(Flags, AllowsWhatTunesACudaKernel) {
  EXPECT_EQ(findFlagDefect(cudaFlags(), cudaRequest({"-maxrregcount=64", "--fmad=false", "-ftz=true"})), std::nullopt);
}

TEST(Flags, RefusesFastMathAndOddRegisterCountsOnCuda) {
  for (const std::string flag : {"--use_fast_math", "-use_fast_math", "--prec-div=false", "-maxrregcount=4",
                                 "-maxrregcount=64x", "-maxrregcount=", "-I/", "--pre-include=/etc/passwd"}) {
    EXPECT_THAT(findFlagDefect(cudaFlags(), cudaRequest({flag})),
                Optional("the flag '" + flag + "' is not allowed for CUDA C++"));
  }
}

TEST(Flags, DefaultsCarryTheArchitectureAndNoFastMath) {
  EXPECT_THAT(cudaFlags().defaults("sm_90a"), Contains("-arch=sm_90a"));
  EXPECT_THAT(cppFlags().defaults("x86-64-v3"), Contains("-march=x86-64-v3"));
  EXPECT_THAT(cppFlags().defaults("native"), Not(Contains("-ffast-math")));
}

TEST(Flags, KnowsArchitectureNames) {
  EXPECT_TRUE(cudaFlags().isArchitecture("sm_80"));
  EXPECT_TRUE(cudaFlags().isArchitecture("sm_90a"));
  EXPECT_TRUE(cudaFlags().isArchitecture("sm_120f"));
  EXPECT_FALSE(cudaFlags().isArchitecture("sm_"));
  EXPECT_FALSE(cudaFlags().isArchitecture("sm_90 -I/"));
  EXPECT_FALSE(cudaFlags().isArchitecture("native"));
  EXPECT_TRUE(cppFlags().isArchitecture("native"));
  EXPECT_FALSE(cppFlags().isArchitecture("native -fplugin=x"));
  EXPECT_THAT(findFlagDefect(cppFlags(), cppRequest({}, "sm_90a")), Optional(HasSubstr("'sm_90a' is not")));
}

}  // namespace
}  // namespace swage::toolchain
