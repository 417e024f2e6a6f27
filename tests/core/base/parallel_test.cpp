// SPDX-License-Identifier: Apache-2.0
#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace swage {
namespace {

TEST(InParallel, CallsEachItemOnce) {
  std::array<std::atomic<int>, 1000> calls{};
  inParallel(calls.size(), [&calls](std::size_t item) { ++calls.at(item); });
  EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](int count) { return count == 1; }));
}

TEST(InParallel, ReturnsWhenAllAreDone) {
  std::atomic<int> done = 0;
  inParallel(8, [&done](std::size_t item) {
    std::this_thread::sleep_for(std::chrono::milliseconds(item));
    ++done;
  });
  EXPECT_EQ(done, 8);
}

TEST(InParallel, OfNothingIsNothing) {
  inParallel(0, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace swage
