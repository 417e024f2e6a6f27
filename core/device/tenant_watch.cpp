// SPDX-License-Identifier: Apache-2.0
#include "core/device/tenant_watch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace swage::device {
namespace {

// The library takes a sample about six times a second.
constexpr double kSecondsBetweenQuestions = 0.25;
// What is older may be of a process that was there before the measurement: the one that timed PyTorch, for example.
constexpr double kSecondsOfMemory = 1.0;
// A desktop that draws its windows stays below.
constexpr unsigned kDisturbingPercent = 5;

// In a container the library's numbers of processes are the host's: then one of those that are active is this one.
bool hasOthers(const std::vector<ProcessUse>& uses, unsigned self) {
  std::set<unsigned> active;
  for (const ProcessUse& use : uses) {
    if (use.percent >= kDisturbingPercent) {
      active.insert(use.process);
    }
  }
  const bool isKnown = std::any_of(uses.begin(), uses.end(), [self](const auto& use) { return use.process == self; });
  active.erase(self);
  return active.size() > (isKnown ? 0U : 1U);
}

}  // namespace

TenantWatch::TenantWatch(Query query, Clock clock, unsigned self)
    : m_query(std::move(query)), m_clock(std::move(clock)), m_self(self) {}

bool TenantWatch::isShared() {
  const double now = m_clock();
  if (m_asked && now - *m_asked < kSecondsBetweenQuestions) {
    return m_shared;
  }
  const bool isRecent = m_asked && now - *m_asked < kSecondsOfMemory;
  m_asked = now;
  const std::vector<ProcessUse> uses = m_query(m_seen);
  for (const ProcessUse& use : uses) {
    m_seen = std::max(m_seen, use.time);
  }
  m_shared = isRecent && hasOthers(uses, m_self);
  return m_shared;
}

}  // namespace swage::device
