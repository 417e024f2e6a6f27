// SPDX-License-Identifier: Apache-2.0
#include "tests/core/store/large_record.h"

#include <array>
#include <cmath>
#include <random>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/assert.h"
#include "core/domain/evaluation.h"
#include "core/domain/json.h"
#include "core/store/record.h"
#include "tests/core/store/samples.h"

namespace swage::testing {
namespace {

constexpr double kSecondsPerCandidate = 0.1;

domain::RunId makeRun(const std::filesystem::path& project) {
  store::Record record = openForWriting(project);
  const domain::RunId run = record.createRun(sampleRun()).value();
  require(record.addBaseline(run, sampleBaseline()));
  addCorrect(record, run, 0, 0, "A1B0C1", 1500.0, 0.0);
  return run;
}

// Random numbers that are the same on every machine, which those of the distributions of std are not.
class Inventor {
 public:
  double uniform() { return static_cast<double>(m_random()) / (static_cast<double>(std::mt19937::max()) + 1.0); }
  int below(int end) { return static_cast<int>(uniform() * end); }
  std::int64_t before(std::int64_t id) { return std::max<std::int64_t>(1, id - 1 - below(4000)); }

 private:
  std::mt19937 m_random{20};
};

struct Statements {
  explicit Statements(SQLite::Database& connection)
      : candidate(connection,
                  "INSERT INTO candidates (id, run_id, proposal, island, operator, parents, cell, status, summary, "
                  "time_ns, low_ns, high_ns, rank, over_eager, over_eager_low, over_eager_high, relative_error, "
                  "registers, created_at_ms, elapsed_s) VALUES (?1, ?2, ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9 * 0.99, "
                  "?9 * 1.01, 0.99e6 / ?9, 1e6 / ?9, 0.99e6 / ?9, 1.01e6 / ?9, ?10, ?11, 0, ?12)"),
        details(connection,
                "INSERT INTO candidate_details SELECT ?, genome_json, language, flags_json, source_artifact, "
                "plan_artifact, ?, '', assembly_artifact, log_artifact, compile_s, kernels_json, evaluation_json, "
                "verify_s, timing_s FROM candidate_details WHERE id = 1"),
        lineage(connection, "INSERT OR IGNORE INTO lineage (parent, child) VALUES (?, ?)") {}

  SQLite::Statement candidate;
  SQLite::Statement details;
  SQLite::Statement lineage;
};

void bindIf(bool hasValue, SQLite::Statement& statement, int index, double value) {
  if (hasValue) {
    statement.bind(index, value);
  } else {
    statement.bind(index);
  }
}

void addParents(Statements& statements, std::int64_t id, const std::vector<std::int64_t>& parents) {
  for (const std::int64_t parent : parents) {
    statements.lineage.bind(1, parent);
    statements.lineage.bind(2, id);
    statements.lineage.exec();
    statements.lineage.reset();
  }
}

void addOne(Statements& statements, Inventor& invent, domain::RunId run, std::int64_t id) {
  const std::span<const std::string_view> statuses = domain::statusNames();
  const bool isCorrect = invent.uniform() < 0.66;
  const std::string status(
      isCorrect ? statuses.back()
                : statuses[static_cast<std::size_t>(invent.below(static_cast<int>(statuses.size()) - 1))]);
  const double time = 2e4 * std::pow(100.0, invent.uniform());
  std::vector<std::int64_t> parents = {invent.before(id)};
  if (invent.uniform() < 0.2) {
    parents.push_back(invent.before(id));
  }
  std::string parentsText = std::to_string(parents.front());
  parentsText += parents.size() > 1 ? "," + std::to_string(parents.back()) : "";
  SQLite::Statement& row = statements.candidate;
  row.bind(1, id);
  row.bind(2, run.value());
  row.bind(3, invent.below(4));
  row.bind(4, std::string(domain::name(static_cast<domain::OperatorKind>(1 + invent.below(7)))));
  row.bind(5, parentsText);
  bindIf(status != "compile error", row, 6, invent.below(domain::kCellCount));
  row.bind(7, status);
  row.bind(8, status + ": made-up outcome " + std::to_string(invent.below(1000)));
  bindIf(isCorrect, row, 9, time);
  bindIf(isCorrect, row, 10, 1e-7 * (1.0 + invent.uniform()));
  row.bind(11, isCorrect ? 16 + invent.below(200) : 0);
  row.bind(12, kSecondsPerCandidate * static_cast<double>(id));
  row.exec();
  row.reset();
  statements.details.bind(1, id);
  statements.details.bind(2, "source-" + std::to_string(id));
  statements.details.exec();
  statements.details.reset();
  addParents(statements, id, parents);
}

void annotate(SQLite::Database& connection) {
  connection.exec(
      "INSERT INTO pins SELECT id, 0 FROM candidates WHERE id % 5003 = 1;"
      "INSERT INTO trash SELECT id, 0 FROM candidates WHERE id % 4001 = 2;"
      "INSERT INTO notes SELECT id, 'a note about ' || id, 0 FROM candidates WHERE id % 3001 = 3;"
      "INSERT INTO tags SELECT id, iif(id % 2, 'promising', 'to read'), 0 FROM candidates WHERE id % 2003 = 4;");
}

// The sums that Record keeps with every evaluation.
void sumUp(SQLite::Database& connection) {
  connection.exec(
      "DELETE FROM cells; DELETE FROM improvements;"
      "INSERT INTO cells (run_id, island, cell, tried, correct, best_candidate, best_rank) "
      "  SELECT run_id, island, cell, count(*), sum(status = 'correct'), id, max(rank) FROM candidates "
      "  WHERE cell IS NOT NULL GROUP BY run_id, island, cell;"
      "INSERT INTO improvements (run_id, candidate, elapsed_s, rank) "
      "  SELECT run_id, id, elapsed_s, rank FROM (SELECT *, max(rank) OVER "
      "  (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM candidates "
      "  WHERE rank IS NOT NULL) WHERE before IS NULL OR rank > before;"
      "UPDATE runs SET status = 'finished', baseline_ns = 1e6, baseline_mode = 'eager', eager_speedup = 1.0, "
      "  eager_speedup_low = 1.0, eager_speedup_high = 1.0, "
      "  evaluations = (SELECT count(*) FROM candidates), "
      "  correct = (SELECT count(*) FROM candidates WHERE status = 'correct'), "
      "  elapsed_s = (SELECT max(elapsed_s) FROM candidates), "
      "  (best_candidate, best_rank) = (SELECT id, rank FROM candidates WHERE rank IS NOT NULL "
      "                                 ORDER BY rank DESC LIMIT 1);");
}

}  // namespace

domain::RunId makeLargeRecord(const std::filesystem::path& project, std::int64_t candidates) {
  const domain::RunId run = makeRun(project);
  SQLite::Database connection((project / "runs.sqlite").string(), SQLite::OPEN_READWRITE);
  connection.exec("PRAGMA synchronous=OFF; PRAGMA cache_size=-262144");
  SQLite::Transaction transaction(connection);
  Statements statements(connection);
  Inventor invent;
  // The first one takes part in no sum that the others are compared with.
  connection.exec(
      "UPDATE candidates SET time_ns = 1e6, low_ns = 1e6, high_ns = 1e6, rank = 1.0, over_eager = 1.0, "
      "over_eager_low = 1.0, over_eager_high = 1.0 WHERE id = 1");
  for (std::int64_t id = 2; id <= candidates; ++id) {
    addOne(statements, invent, run, id);
  }
  annotate(connection);
  sumUp(connection);
  transaction.commit();
  return run;
}

}  // namespace swage::testing
