// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace SQLite {  // NOLINT(readability-identifier-naming): its own name
class Database;
}

// The sums over candidates that the record keeps: counters and best of a run, cells, improvements.
// SQLite's exceptions pass through; callers run inside the record's guard and in its transaction.
namespace swage::store {

struct LedgerEntry {
  std::int64_t run = 0;
  std::int64_t candidate = 0;
  int island = 0;
  std::optional<int> cell;
  bool isCorrect = false;
  std::optional<double> rank;  // absent: it does not compete
  double elapsedSeconds = 0.0;
};

// Adds the first evaluation of a candidate.
void addToLedger(SQLite::Database& connection, const LedgerEntry& entry);
// Sums a run up again from its candidates, after one was evaluated again. A winner that is no longer correct is none.
void rebuildLedger(SQLite::Database& connection, std::int64_t run);

}  // namespace swage::store
