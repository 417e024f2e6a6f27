// SPDX-License-Identifier: Apache-2.0
#include "core/run/profile_schedule.h"

#include <algorithm>

namespace swage::run {
namespace {

// Before that, what is fastest is soon replaced.
constexpr double kFirstBegin = 0.1;  // of the search
constexpr double kLatestFirst = 60.0;
// The sooner something is known, the more candidates it is for: the share is used up in the first half.
constexpr double kHaste = 2.0;
constexpr double kLeastSeconds = 1.0;

}  // namespace

ProfileSchedule::ProfileSchedule(Options options)
    : m_options(options),
      m_expected(std::max(options.firstSeconds, kLeastSeconds)),
      m_notBefore(std::min(kFirstBegin * options.budgetSeconds, kLatestFirst)) {}

bool ProfileSchedule::isDue(double elapsedSeconds) const {
  const bool isTooLate = m_options.budgetSeconds > 0.0 && elapsedSeconds > kLastBegin * m_options.budgetSeconds;
  return m_made < kMost && elapsedSeconds >= m_notBefore && !isTooLate && m_expected <= limitSeconds(elapsedSeconds);
}

double ProfileSchedule::limitSeconds(double elapsedSeconds) const {
  const double whole = m_options.budgetSeconds > 0.0 ? m_options.budgetSeconds : elapsedSeconds;
  return (m_made == 0 ? kFirstShare : kShare) * whole - m_spent;
}

void ProfileSchedule::spend(double seconds, double elapsedSeconds) {
  ++m_made;
  m_spent += seconds;
  m_expected = std::max(seconds, kLeastSeconds);
  m_notBefore = elapsedSeconds + m_expected / (kHaste * kShare);
}

}  // namespace swage::run
