// SPDX-License-Identifier: Apache-2.0
#include "core/device/openmp_team.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/files.h"
#include "core/device/team_placement.h"

namespace swage::device {
namespace {

cpu_set_t processorsUpTo(unsigned count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned i = 0; i < count; ++i) {
    CPU_SET(i, &set);
  }
  return set;
}

std::vector<int> spreadOverFour(std::vector<int> processors) {
  spreadOver(processorsUpTo(4), processors);
  return processors;
}

TEST(SpreadOver, LeavesThreadsThatAreAlone) {
  EXPECT_EQ(spreadOverFour({2, 0, 3}), (std::vector<int>{2, 0, 3}));
}

TEST(SpreadOver, GivesTheLaterOnesOfAProcessorFreeOnes) {
  EXPECT_EQ(spreadOverFour({2, 2, 0, 2}), (std::vector<int>{2, 1, 0, 3}));
}

TEST(SpreadOver, LeavesThoseForWhichThereIsNone) {
  EXPECT_EQ(spreadOverFour({0, 1, 2, 3, 3, 0}), (std::vector<int>{0, 1, 2, 3, -1, -1}));
}

TEST(SpreadOver, PutsAThreadOfWhichNothingIsKnownSomewhere) {
  EXPECT_EQ(spreadOverFour({1, -1}), (std::vector<int>{1, 0}));
}

class OpenMpTeamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::sched_getaffinity(0, sizeof m_allowed, &m_allowed), 0);
    omp_set_num_threads(kThreads);
  }
  // What each thread of the team may use, and its number.
  struct Member {
    int processors = 0;
    pid_t thread = 0;
  };
  static std::vector<Member> members() {
    std::vector<Member> found(kThreads);
#pragma omp parallel
    {
      cpu_set_t set;
      ::sched_getaffinity(0, sizeof set, &set);
      found[static_cast<std::size_t>(omp_get_thread_num())] = {CPU_COUNT(&set), ::gettid()};
    }
    return found;
  }
  // Sooner or later; a thread that looks for work runs for some milliseconds.
  static bool sleeps(pid_t thread) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      const std::string state = readTextFile("/proc/self/task/" + std::to_string(thread) + "/stat").value_or("");
      if (const std::size_t name = state.rfind(") "); name != std::string::npos && state[name + 2] == 'S') {
        return true;
      }
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
  }

  static constexpr int kThreads = 2;
  cpu_set_t m_allowed{};
  OpenMpTeam m_team;
};

TEST_F(OpenMpTeamTest, HasEachThreadOnAProcessorOfItsOwnAndKeepsNoneThere) {
  if (CPU_COUNT(&m_allowed) < kThreads) {
    GTEST_SKIP() << "one processor only";
  }
  m_team.spread(m_allowed);
  const std::set<int> processors(m_team.processors().begin(), m_team.processors().end());
  EXPECT_EQ(processors.size(), static_cast<std::size_t>(kThreads));
  for (const int processor : processors) {
    EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(processor), &m_allowed));
  }
  for (const Member& member : members()) {
    EXPECT_EQ(member.processors, CPU_COUNT(&m_allowed));
  }
}

TEST_F(OpenMpTeamTest, StandsStillUntilItGoesOn) {
  m_team.spread(m_allowed);
  const std::vector<Member> before = members();
  for (int round = 0; round < 50; ++round) {
    m_team.pause();
    EXPECT_TRUE(m_team.isPaused());
    EXPECT_TRUE(sleeps(before[1].thread));
    m_team.resume();
    const std::vector<Member> after = members();
    EXPECT_EQ(after[1].thread, before[1].thread) << "the same thread, which computes again";
  }
}

TEST_F(OpenMpTeamTest, GoesOnWithItsWorkAfterAPauseInTheMiddle) {
  m_team.spread(m_allowed);
  for (int round = 0; round < 50; ++round) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) {
      sum += i;
    }
    EXPECT_EQ(sum, 499'500);
    m_team.pause();
    m_team.pause();
    m_team.spread(m_allowed);  // goes on by itself
    EXPECT_FALSE(m_team.isPaused());
  }
}

}  // namespace
}  // namespace swage::device
