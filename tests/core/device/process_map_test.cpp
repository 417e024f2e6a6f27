// SPDX-License-Identifier: Apache-2.0
#include "core/device/process_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace swage::device {
namespace {

TEST(ProcessMap, FindsFilesAndHowFarAnAddressLiesInThem) {
  const ProcessMap map(
      "7f0000001000-7f0000002000 r--p 00000000 00:01 77     /memfd:swage-kernel (deleted)\n"
      "7f0000002000-7f0000004000 r-xp 00001000 00:01 77     /memfd:swage-kernel (deleted)\n"
      "7f0000005000-7f0000006000 rw-p 00000000 00:00 0 \n"
      "nonsense\n");
  const auto found = map.find(0x7f0000002010);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->file, "/memfd:swage-kernel (deleted)");
  EXPECT_EQ(found->offset, 0x1010);
  EXPECT_FALSE(map.find(0x7f0000004000).has_value()) << "behind it";
  EXPECT_FALSE(map.find(0x7f0000005000).has_value()) << "memory without a file";
}

int g_here = 0;

TEST(ProcessMap, KnowsThisProgram) {
  const auto found = ProcessMap::of(::getpid()).find(reinterpret_cast<std::uint64_t>(&optind));
  EXPECT_TRUE(found.has_value());
  EXPECT_FALSE(ProcessMap::of(-1).find(reinterpret_cast<std::uint64_t>(&g_here)).has_value());
}

}  // namespace
}  // namespace swage::device
