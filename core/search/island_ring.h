// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/search/archive.h"

namespace swage::search {

// How the islands exchanged elites, and for how long nothing improved.
struct Exchange {
  std::int64_t migrations = 0;
  std::int64_t adopted = 0;         // elites that took a cell of the next island
  int reportsSinceImprovement = 0;  // after half a migration interval of them the islands exchange early
};

// Copies elites from island to island, in a ring. Pure.
class IslandRing {
 public:
  explicit IslandRing(int interval) : m_interval(interval) {}  // in reports; 0: never

  // Of an outcome that the archive has.
  void report(bool improved, Archive& archive);
  [[nodiscard]] const Exchange& exchange() const { return m_exchange; }

 private:
  void migrate(Archive& archive);

  int m_interval;
  int m_sinceMigration = 0;    // reports
  int m_sinceImprovement = 0;  // or since the last migration
  Exchange m_exchange;
};

}  // namespace swage::search
