// SPDX-License-Identifier: Apache-2.0
#include "core/verify/timed_streams.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace swage::verify {
namespace {

TEST(TimedStreams, EveryStreamMeetsEveryWorkingSet) {
  for (const std::size_t streams : {1, 2, 3, 4, 8}) {
    for (const std::size_t sets : {1, 2, 3, 4}) {
      std::set<std::pair<std::size_t, std::size_t>> pairs;
      for (std::size_t call = 0; call < streams * sets; ++call) {
        pairs.emplace(streamOf(call, streams, sets), call % sets);
      }
      EXPECT_EQ(pairs.size(), streams * sets) << streams << " streams, " << sets << " sets";
    }
  }
}

TEST(TimedStreams, AllAreUsedBeforeOneComesAgain) {
  std::set<std::size_t> used;
  for (std::size_t call = 0; call < 8; ++call) {
    used.insert(streamOf(call, 8, 4));
  }
  EXPECT_EQ(used.size(), 8U);
}

}  // namespace
}  // namespace swage::verify
