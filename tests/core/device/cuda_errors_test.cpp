// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_errors.h"

#include <gtest/gtest.h>

namespace swage::device {
namespace {

TEST(StickyErrors, AreThoseAfterWhichTheProcessMustEnd) {
  for (const int code : {214, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911}) {
    EXPECT_TRUE(isSticky(code)) << code;
  }
}

TEST(StickyErrors, AreNotThoseAfterWhichTheContextStillWorks) {
  // Success, invalid value, out of memory, no binary for the GPU, not found, out of resources, invalid cluster size.
  for (const int code : {0, 1, 2, 209, 500, 701, 912}) {
    EXPECT_FALSE(isSticky(code)) << code;
  }
}

}  // namespace
}  // namespace swage::device
