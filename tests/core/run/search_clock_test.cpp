// SPDX-License-Identifier: Apache-2.0
#include "core/run/search_clock.h"

#include <gmock/gmock.h>

#include "tests/support/fake_clock.h"

namespace swage::run {
namespace {

TEST(SearchClock, OnlyRunsWhileTheSearchRuns) {
  testing::FakeClock clock;
  SearchClock search(clock.now());
  search.reset(10.0);
  clock.advance(std::chrono::seconds(5));
  EXPECT_DOUBLE_EQ(search.elapsedSeconds(), 10.0);
  search.run();
  clock.advance(std::chrono::seconds(5));
  search.hold();
  clock.advance(std::chrono::seconds(5));
  EXPECT_DOUBLE_EQ(search.elapsedSeconds(), 15.0);
}

}  // namespace
}  // namespace swage::run
