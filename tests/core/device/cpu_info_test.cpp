// SPDX-License-Identifier: Apache-2.0
#include "core/device/cpu_info.h"

#include <gtest/gtest.h>

namespace swage::device {
namespace {

constexpr const char* kHaswellFlags =
    "flags\t\t: fpu cx16 lahf_lm popcnt pni sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe";

TEST(DescribeCpu, NamesTheLevelThatAllFlagsReach) {
  const std::string text = std::string("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n") + kHaswellFlags + "\n";
  const CpuDescription cpu = describeCpu(text, "x86_64");
  EXPECT_EQ(cpu.name, "Some CPU @ 2 GHz");
  EXPECT_EQ(cpu.architecture, "x86-64-v3");
}

TEST(DescribeCpu, NamesAmxBesideTheLevel) {
  const std::string text =
      std::string(kHaswellFlags) + " avx512f avx512bw avx512cd avx512dq avx512vl amx_tile amx_bf16\n";
  EXPECT_EQ(describeCpu(text, "x86_64").architecture, "x86-64-v4+amx");
}

TEST(DescribeCpu, FallsBackToTheMachineWhereThereAreNoFlags) {
  const CpuDescription cpu = describeCpu("processor : 0\n", "aarch64");
  EXPECT_EQ(cpu.name, "aarch64");
  EXPECT_EQ(cpu.architecture, "aarch64");
}

TEST(DescribeCpu, DoesNotPromiseMoreThanThePlainArchitecture) {
  EXPECT_EQ(describeCpu("flags : fpu sse2\n", "x86_64").architecture, "x86-64");
}

TEST(ParseCacheSize, KnowsTheKernelsUnits) {
  EXPECT_EQ(parseCacheSize("32768K\n"), 32768 * 1024);
  EXPECT_EQ(parseCacheSize("2M"), 2 * 1024 * 1024);
  EXPECT_EQ(parseCacheSize("1024"), 1024);
}

TEST(ParseCacheSize, TakesWhatIsNoSizeForUnknown) {
  EXPECT_EQ(parseCacheSize("max"), 0);
  EXPECT_EQ(parseCacheSize(""), 0);
  EXPECT_EQ(parseCacheSize("-1K"), 0);
  EXPECT_EQ(parseCacheSize("5 apples"), 0);
}

TEST(AvailableMemory, IsPartOfAllMemory) {
  EXPECT_GT(availableMemoryBytes(), 0);
  EXPECT_LE(availableMemoryBytes(), totalMemoryBytes());
}

}  // namespace
}  // namespace swage::device
