// SPDX-License-Identifier: Apache-2.0
#include "core/store/ledger.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/statements.h"

namespace swage::store {
namespace {

void addToRun(SQLite::Database& connection, const LedgerEntry& entry) {
  execute(connection,
          "UPDATE runs SET evaluations = evaluations + 1, correct = correct + ?, elapsed_s = max(elapsed_s, ?) "
          "WHERE id = ?",
          entry.isCorrect ? 1 : 0, entry.elapsedSeconds, entry.run);
}

void addToCell(SQLite::Database& connection, const LedgerEntry& entry) {
  execute(connection,
          "INSERT INTO cells (run_id, island, cell, tried, correct) VALUES (?, ?, ?, 1, ?) "
          "ON CONFLICT DO UPDATE SET tried = tried + 1, correct = correct + excluded.correct",
          entry.run, entry.island, *entry.cell, entry.isCorrect ? 1 : 0);
  if (entry.rank) {
    execute(connection,
            "UPDATE cells SET best_candidate = ?, best_rank = ? "
            "WHERE run_id = ? AND island = ? AND cell = ? AND (best_rank IS NULL OR best_rank < ?)",
            entry.candidate, *entry.rank, entry.run, entry.island, *entry.cell, *entry.rank);
  }
}

void addToBest(SQLite::Database& connection, const LedgerEntry& entry) {
  const int improved = execute(connection,
                               "UPDATE runs SET best_candidate = ?, best_rank = ? "
                               "WHERE id = ? AND (best_rank IS NULL OR best_rank < ?)",
                               entry.candidate, *entry.rank, entry.run, *entry.rank);
  if (improved > 0) {
    execute(connection, "INSERT INTO improvements (run_id, candidate, elapsed_s, rank) VALUES (?, ?, ?, ?)", entry.run,
            entry.candidate, entry.elapsedSeconds, *entry.rank);
  }
}

}  // namespace

void addToLedger(SQLite::Database& connection, const LedgerEntry& entry) {
  addToRun(connection, entry);
  if (entry.cell) {
    addToCell(connection, entry);
  }
  if (entry.rank) {
    addToBest(connection, entry);
  }
}

void rebuildLedger(SQLite::Database& connection, std::int64_t run) {
  execute(connection, "DELETE FROM cells WHERE run_id = ?", run);
  execute(connection, "DELETE FROM improvements WHERE run_id = ?", run);
  execute(connection,
          "INSERT INTO cells (run_id, island, cell, tried, correct) "
          "SELECT run_id, island, cell, count(*), sum(status = 'correct') FROM candidates "
          "WHERE run_id = ? AND cell IS NOT NULL AND status NOT IN ('pending', 'not evaluated') GROUP BY island, cell",
          run);
  execute(connection,
          "UPDATE cells SET (best_candidate, best_rank) = (SELECT id, rank FROM candidates "
          " WHERE candidates.run_id = cells.run_id AND candidates.cell = cells.cell "
          " AND candidates.island = cells.island AND rank IS NOT NULL ORDER BY rank DESC, id LIMIT 1) "
          "WHERE run_id = ?",
          run);
  execute(connection,
          "INSERT INTO improvements (run_id, candidate, elapsed_s, rank) "
          "SELECT run_id, id, elapsed_s, rank FROM (SELECT *, max(rank) OVER "
          " (ORDER BY elapsed_s, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best_before "
          " FROM candidates WHERE run_id = ? AND rank IS NOT NULL) "
          "WHERE best_before IS NULL OR rank > best_before",
          run);
  execute(connection,
          "UPDATE runs SET "
          "evaluations = (SELECT count(*) FROM candidates WHERE run_id = runs.id AND status NOT IN ('pending', 'not "
          "evaluated')), "
          "correct = (SELECT count(*) FROM candidates WHERE run_id = runs.id AND status = 'correct'), "
          "(best_candidate, best_rank) = (SELECT id, rank FROM candidates "
          " WHERE run_id = runs.id AND rank IS NOT NULL ORDER BY rank DESC, id LIMIT 1), "
          "winner = (SELECT id FROM candidates WHERE id = runs.winner AND over_eager IS NOT NULL) WHERE id = ?",
          run);
}

}  // namespace swage::store
