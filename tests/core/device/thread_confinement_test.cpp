// SPDX-License-Identifier: Apache-2.0
#include "core/device/thread_confinement.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace swage::device {
namespace {

using std::chrono::milliseconds;

// How many processors each thread of a team may use.
std::vector<int> processors() {
  std::vector<int> found(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    cpu_set_t allowed;
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    found[static_cast<std::size_t>(omp_get_thread_num())] = CPU_COUNT(&allowed);
  }
  return found;
}

class ThreadConfinementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    omp_set_num_threads(3);
    ASSERT_EQ(::sched_getaffinity(0, sizeof m_allowed, &m_allowed), 0);
    m_before = processors();
    if (m_before[0] < 2) {
      GTEST_SKIP() << "one processor only";
    }
  }
  std::vector<int> m_before;
  cpu_set_t m_allowed{};
};

TEST_F(ThreadConfinementTest, AllThreadsShareOneProcessorAndGetTheirsBack) {
  {
    const ThreadConfinement confinement(::getpid(), milliseconds(60'000), m_allowed);
    EXPECT_EQ(processors(), std::vector<int>(m_before.size(), 1));
  }
  EXPECT_EQ(processors(), m_before);
}

TEST_F(ThreadConfinementTest, ThreadsThatAreStartedMeanwhileAreFreedToo) {
  m_before.resize(7, m_before[0]);
  {
    const ThreadConfinement confinement(::getpid(), milliseconds(60'000), m_allowed);
    omp_set_num_threads(7);
    EXPECT_EQ(processors(), std::vector<int>(m_before.size(), 1));
  }
  EXPECT_EQ(processors(), m_before);
}

TEST_F(ThreadConfinementTest, EndsByItself) {
  const ThreadConfinement confinement(::getpid(), milliseconds(1), m_allowed);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (processors() != m_before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(processors(), m_before);
}

}  // namespace
}  // namespace swage::device
