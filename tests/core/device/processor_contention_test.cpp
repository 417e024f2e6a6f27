// SPDX-License-Identifier: Apache-2.0
#include "core/device/processor_contention.h"

#include <gtest/gtest.h>

#include <vector>

namespace swage::device {
namespace {

// A look each second, by two threads on two processors.
class ContentionTest : public ::testing::Test {
 protected:
  ProcessorContention watch(std::vector<std::optional<ProcessorTimes>> uses) {
    m_uses = std::move(uses);
    return ProcessorContention([this] { return m_uses[m_next++]; }, [this] { return m_seconds += 1.0; }, 2, 2);
  }

 private:
  std::vector<std::optional<ProcessorTimes>> m_uses;
  std::size_t m_next = 0;
  double m_seconds = 0.0;
};

TEST_F(ContentionTest, IsWaitingWhileOtherProcessesWantMoreThanIsLeft) {
  auto busy = watch({ProcessorTimes{0.0, 0}, ProcessorTimes{0.3, 4}, ProcessorTimes{0.31, 4}, ProcessorTimes{0.9, 0}});
  EXPECT_TRUE(busy.isKnown());
  EXPECT_TRUE(busy.isContended());
  EXPECT_FALSE(busy.isContended()) << "it hardly waited";
  EXPECT_FALSE(busy.isContended()) << "its threads waited for one another";
}

TEST_F(ContentionTest, OtherProcessesOnOtherProcessorsAreNone) {
  std::vector<std::optional<ProcessorTimes>> uses = {ProcessorTimes{0.0, 0}, ProcessorTimes{0.5, 3}};
  std::size_t next = 0;
  double seconds = 0.0;
  ProcessorContention wide([&] { return uses[next++]; }, [&] { return seconds += 1.0; }, 2, 8);
  EXPECT_FALSE(wide.isContended());
}

TEST_F(ContentionTest, IsNotKnownWhereTheSystemDoesNotSay) {
  auto silent = watch({std::nullopt});
  EXPECT_FALSE(silent.isKnown());
  EXPECT_FALSE(silent.isContended());
}

TEST(ProcessorTimes, OnlyGrows) {
  const auto first = readProcessorTimes();
  const auto second = readProcessorTimes();
  ASSERT_EQ(first.has_value(), second.has_value());
  if (first) {
    EXPECT_GE(second->waitedSeconds, first->waitedSeconds);
    EXPECT_GE(first->othersRunnable, 0);
  }
}

}  // namespace
}  // namespace swage::device
