// SPDX-License-Identifier: Apache-2.0
#include "core/device/processor_contention.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <vector>

namespace swage::device {
namespace {

constexpr pid_t kWorker = 100;
constexpr pid_t kCell = 200;

// Since the last look, in seconds.
struct Since {
  double waited = 0.0;
  double cellWaited = 0.0;
  double used = 0.0;
  double others = 0.0;
};

// A look each second, by two threads.
class ContentionTest : public ::testing::Test {
 protected:
  ProcessorContention watch(int processors, const std::vector<Since>& looks) {
    ProcessorTimes times;
    times.processors = processors;
    times.waitedSeconds = {{kWorker, 5.0}};
    times.idleSeconds = 1000.0;
    m_times = {times};
    for (const Since& look : looks) {
      times.waitedSeconds[kWorker] += look.waited;
      times.waitedSeconds[kCell] += look.cellWaited;
      times.usedSeconds += look.used;
      times.idleSeconds += processors - look.used - look.others;
      m_times.emplace_back(times);
    }
    return ProcessorContention([this] { return m_times[m_next++]; }, [this] { return m_seconds += 1.0; }, 2);
  }

  std::vector<std::optional<ProcessorTimes>> m_times;

 private:
  std::size_t m_next = 0;
  double m_seconds = 0.0;
};

TEST_F(ContentionTest, IsWaitingWhileOtherProcessesCompute) {
  auto busy = watch(2, {{.waited = 0.3, .used = 1.2, .others = 0.8},
                        {.waited = 0.01, .used = 1.2, .others = 0.8},
                        {.waited = 0.9, .used = 2.0, .others = 0.0}});
  EXPECT_TRUE(busy.isKnown());
  EXPECT_TRUE(busy.isContended());
  EXPECT_FALSE(busy.isContended()) << "it hardly waited";
  EXPECT_FALSE(busy.isContended()) << "its threads waited for one another";
}

TEST_F(ContentionTest, ProcessesThatWorkForThisOneAreItself) {
  auto busy = watch(2, {{.cellWaited = 0.2, .used = 1.0, .others = 0.9},
                        {.cellWaited = 0.2, .used = 1.0, .others = 0.9},
                        {.waited = 0.2, .cellWaited = 0.2, .used = 2.0, .others = 0.0}});
  EXPECT_FALSE(busy.isContended()) << "what a process waited before the first look at it";
  EXPECT_TRUE(busy.isContended());
  EXPECT_FALSE(busy.isContended()) << "they waited for one another";
}

TEST_F(ContentionTest, WaitsOfEndedProcessesAreForgotten) {
  auto busy = watch(2, {{.cellWaited = 3.0, .used = 1.0}, {.waited = 0.5, .used = 1.0, .others = 1.0}});
  m_times.back()->waitedSeconds.erase(kCell);
  EXPECT_FALSE(busy.isContended());
  EXPECT_TRUE(busy.isContended());
}

TEST_F(ContentionTest, OtherProcessesOnOtherProcessorsAreNone) {
  auto wide = watch(8, {{.waited = 0.5, .used = 2.0, .others = 3.0}});
  EXPECT_FALSE(wide.isContended());
}

TEST_F(ContentionTest, IsNotKnownWhereTheSystemDoesNotSay) {
  ProcessorContention silent([] { return std::nullopt; }, [] { return 1.0; }, 2);
  EXPECT_FALSE(silent.isKnown());
  EXPECT_FALSE(silent.isContended());
}

TEST(ProcessorTimes, OnlyGrow) {
  const auto first = readProcessorTimes();
  const auto second = readProcessorTimes();
  ASSERT_EQ(first.has_value(), second.has_value());
  if (first) {
    EXPECT_GE(second->waitedSeconds.at(::getpid()), first->waitedSeconds.at(::getpid()));
    EXPECT_GE(second->usedSeconds, first->usedSeconds);
    EXPECT_GE(second->idleSeconds, first->idleSeconds);
    EXPECT_GT(first->processors, 0);
  }
}

// Reads a child's, too, and keeps what it used when it has ended.
TEST(ProcessorTimes, AreThoseOfHelpers) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (volatile bool forever = true; forever;) {
    }
  }
  const auto before = readProcessorTimes();
  std::optional<ProcessorTimes> during;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    during = readProcessorTimes(std::array{child});
  } while (during && during->usedSeconds - before->usedSeconds < 0.05 && std::chrono::steady_clock::now() < deadline);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!before) {
    GTEST_SKIP() << "the system does not say";
  }
  EXPECT_TRUE(during->waitedSeconds.contains(child));
  EXPECT_GE(during->usedSeconds - before->usedSeconds, 0.05);
  EXPECT_GE(readProcessorTimes()->usedSeconds, during->usedSeconds - 0.01) << "in whole ticks, on some systems";
}

}  // namespace
}  // namespace swage::device
