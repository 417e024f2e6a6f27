// SPDX-License-Identifier: Apache-2.0
#include "core/device/flush_count.h"

#include <gtest/gtest.h>

namespace swage::device {
namespace {

TEST(FlushCountTest, IsTwoWhileNothingIsKnown) {
  FlushCount count;
  count.add(1e9);
  EXPECT_EQ(count.next(), 2);
}

TEST(FlushCountTest, KeepsTheDeviceBusyForAsLongAsTheHostNeeds) {
  FlushCount count;
  count.setFlushNs(64e3);
  EXPECT_EQ(count.next(), 2);
  count.add(100e3);
  EXPECT_EQ(count.next(), 2);
  count.add(120e3);
  EXPECT_EQ(count.next(), 4) << "with a margin";
  count.add(300e3);
  EXPECT_EQ(count.next(), 8) << "in powers of two";
  count.add(1e9);
  EXPECT_EQ(count.next(), 16) << "there is an end";
}

TEST(FlushCountTest, RemembersTheSlowestOfTheLastCalls) {
  FlushCount count;
  count.setFlushNs(64e3);
  count.add(200e3);
  count.add(10e3);
  EXPECT_EQ(count.next(), 4);
  for (int call = 0; call < 20; ++call) {
    count.add(10e3);
  }
  EXPECT_EQ(count.next(), 2);
}

}  // namespace
}  // namespace swage::device
