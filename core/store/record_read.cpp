// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/store/queries.h"
#include "core/store/record_impl.h"
#include "core/store/rows.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

Error missing(std::string_view what, std::string_view id) {
  return Error(ErrorKind::NotFound, fmt::format("the record has no {} {}", what, id));
}

// Plans repeat in a history (the same regions with other parameters in the source), so each is read once.
class PlanReader {
 public:
  PlanReader(const Artifacts& artifacts, SQLite::Database& connection)
      : m_artifacts(artifacts), m_connection(connection) {}

  Result<domain::LaunchPlan> read(std::int64_t artifact) {
    if (const auto known = m_plans.find(artifact); known != m_plans.end()) {
      return known->second;
    }
    SWAGE_TRY_ASSIGN(const std::string text, m_artifacts.load(m_connection, artifact));
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
    SWAGE_TRY_ASSIGN(domain::LaunchPlan plan, domain::launchPlanFromJson(json));
    m_plans.emplace(artifact, plan);
    return plan;
  }

 private:
  const Artifacts& m_artifacts;
  SQLite::Database& m_connection;
  std::map<std::int64_t, domain::LaunchPlan> m_plans;
};

Result<StoredCandidate> readCandidate(SQLite::Statement& row, const Artifacts& artifacts, SQLite::Database& connection,
                                      PlanReader& plans) {
  SWAGE_TRY_ASSIGN(StoredCandidate stored, recordFrom(row));
  SWAGE_TRY_ASSIGN(stored.record.program.source, artifacts.load(connection, stored.sourceArtifact));
  SWAGE_TRY_ASSIGN(stored.record.program.plan, plans.read(stored.planArtifact));
  return stored;
}

// Not known: no such run, or no baseline yet.
domain::Speedup eagerSpeedupOf(SQLite::Database& connection, domain::RunId run) {
  SQLite::Statement query(connection,
                          "SELECT eager_speedup, eager_speedup_low, eager_speedup_high FROM runs WHERE id = ?");
  bindAll(query, run.value());
  return query.executeStep() ? speedupFrom(query, 0) : domain::Speedup();
}

// cell, tried, correct, best candidate, its rank, time, three of its speedup over eager, error, registers and moment
std::vector<domain::CellSummary> readCells(SQLite::Statement& query, const domain::Speedup& eagerSpeedup) {
  constexpr int kOverEager = 6;
  std::vector<domain::CellSummary> lines;
  while (query.executeStep()) {
    domain::CellSummary line;
    line.cell = domain::Cell::fromIndex(std::clamp(query.getColumn(0).getInt(), 0, domain::kCellCount - 1));
    line.tried = query.getColumn(1).getInt64();
    line.correct = query.getColumn(2).getInt64();
    if (!query.getColumn(4).isNull()) {
      line.best = domain::CandidateId(query.getColumn(3).getInt64());
      line.bestTimeNs = query.getColumn(5).getDouble();
      line.speedup = speedupFrom(query, kOverEager).times(eagerSpeedup);
      line.relativeError = query.getColumn(9).getDouble();
      line.registers = query.getColumn(10).getInt();
      line.foundSeconds = query.getColumn(11).getDouble();
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

Result<std::vector<RunRow>> Record::runs() const {
  return m_impl->reading("list the runs", [](SQLite::Database& connection) -> Result<std::vector<RunRow>> {
    std::vector<RunRow> rows;
    SQLite::Statement query(connection, fmt::format("{} ORDER BY runs.id", selectRuns()));
    while (query.executeStep()) {
      SWAGE_TRY_ASSIGN(RunRow row, runFrom(query));
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

Result<RunRow> Record::run(domain::RunId id) const {
  return m_impl->reading("read a run", [id](SQLite::Database& connection) -> Result<RunRow> {
    SQLite::Statement query(connection, fmt::format("{} WHERE runs.id = ?", selectRuns()));
    bindAll(query, id.value());
    if (!query.executeStep()) {
      return missing("run", std::to_string(id.value()));
    }
    return runFrom(query);
  });
}

Result<domain::Task> readTask(SQLite::Database& connection, const Artifacts& artifacts, std::string_view taskId) {
  SQLite::Statement query(connection, "SELECT json_artifact FROM tasks WHERE id = ?");
  bindAll(query, taskId);
  if (!query.executeStep()) {
    return missing("task", taskId);
  }
  SWAGE_TRY_ASSIGN(const std::string text, artifacts.load(connection, query.getColumn(0).getInt64()));
  SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
  SWAGE_TRY_ASSIGN(domain::Task task, domain::taskFromJson(json));
  task.id = taskId;
  return task;
}

Result<domain::Task> Record::task(std::string_view taskId) const {
  return m_impl->reading("read a task",
                         [&](SQLite::Database& connection) { return readTask(connection, m_impl->artifacts, taskId); });
}

Result<std::vector<domain::Baseline>> readBaselines(SQLite::Database& connection, domain::RunId run) {
  std::vector<domain::Baseline> found;
  SQLite::Statement query(connection, "SELECT json FROM baselines WHERE run_id = ? ORDER BY id");
  bindAll(query, run.value());
  while (query.executeStep()) {
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(query.getColumn(0).getString()));
    SWAGE_TRY_ASSIGN(domain::Baseline baseline, domain::baselineFromJson(json));
    found.push_back(std::move(baseline));
  }
  return found;
}

Result<std::vector<domain::Baseline>> Record::baselines(domain::RunId run) const {
  return m_impl->reading("read baselines",
                         [&](SQLite::Database& connection) { return readBaselines(connection, run); });
}

Result<CandidateRecord> Record::candidate(domain::CandidateId id) const {
  return m_impl->reading("read a candidate", [&](SQLite::Database& connection) -> Result<CandidateRecord> {
    SQLite::Statement query(
        connection,
        fmt::format("SELECT {} FROM candidates JOIN candidate_details USING (id) WHERE id = ?", recordColumns()));
    bindAll(query, id.value());
    if (!query.executeStep()) {
      return missing("candidate", std::to_string(id.value()));
    }
    const Artifacts& artifacts = m_impl->artifacts;
    PlanReader plans(artifacts, connection);
    SWAGE_TRY_ASSIGN(StoredCandidate stored, readCandidate(query, artifacts, connection, plans));
    if (stored.assemblyArtifact) {
      SWAGE_TRY_ASSIGN(stored.record.assembly, artifacts.load(connection, *stored.assemblyArtifact));
    }
    if (stored.logArtifact) {
      SWAGE_TRY_ASSIGN(stored.record.compileLog, artifacts.load(connection, *stored.logArtifact));
    }
    return std::move(stored.record);
  });
}

Result<std::string> Record::text(std::int64_t id) const {
  return m_impl->reading("read a text", [&](SQLite::Database& connection) -> Result<std::string> {
    return m_impl->artifacts.load(connection, id);
  });
}

Result<std::string> Record::binary(std::string_view binaryHash) const {
  return m_impl->reading("read a binary", [&](SQLite::Database& connection) -> Result<std::string> {
    SQLite::Statement query(connection, "SELECT artifact FROM binaries WHERE hash = ?");
    bindAll(query, binaryHash);
    if (!query.executeStep()) {
      return missing("binary", binaryHash);
    }
    return m_impl->artifacts.load(connection, query.getColumn(0).getInt64());
  });
}

Result<std::vector<CandidateRecord>> Record::history(domain::RunId run) const {
  return m_impl->reading("read a history", [&](SQLite::Database& connection) -> Result<std::vector<CandidateRecord>> {
    SQLite::Statement query(connection, fmt::format("SELECT {} FROM candidates JOIN candidate_details USING (id) "
                                                    "WHERE run_id = ? ORDER BY proposal, candidates.id",
                                                    recordColumns()));
    bindAll(query, run.value());
    PlanReader plans(m_impl->artifacts, connection);
    std::vector<CandidateRecord> records;
    while (query.executeStep()) {
      SWAGE_TRY_ASSIGN(StoredCandidate stored, readCandidate(query, m_impl->artifacts, connection, plans));
      records.push_back(std::move(stored.record));
    }
    return records;
  });
}

Result<std::vector<domain::CellSummary>> Record::cells(domain::RunId run, std::optional<int> island) const {
  return m_impl->reading(
      "read the cells", [&](SQLite::Database& connection) -> Result<std::vector<domain::CellSummary>> {
        // Beside a lone max(), SQLite takes best_candidate from the row that has the maximum.
        SQLite::Statement query(
            connection,
            "WITH sums AS (SELECT cell, sum(tried) AS tried, sum(correct) AS correct, best_candidate, "
            "max(best_rank) AS best_rank FROM cells WHERE run_id = ?1 AND (?2 IS NULL OR island = ?2) "
            "GROUP BY cell) SELECT sums.cell, tried, correct, best_candidate, best_rank, time_ns, "
            "over_eager, over_eager_low, over_eager_high, relative_error, registers, elapsed_s "
            "FROM sums LEFT JOIN candidates ON id = best_candidate ORDER BY 1");
        bindAll(query, run.value(), island);
        return readCells(query, eagerSpeedupOf(connection, run));
      });
}

Result<std::vector<domain::CellSummary>> Record::cellsAt(domain::RunId run, std::optional<int> island,
                                                         double seconds) const {
  return m_impl->reading(
      "read the cells", [&](SQLite::Database& connection) -> Result<std::vector<domain::CellSummary>> {
        // max() passes over rows without a rank, so where there is one, the plain columns are of the best.
        SQLite::Statement query(
            connection,
            "SELECT cell, count(*), sum(status = ?4), id, max(rank), time_ns, over_eager, over_eager_low, "
            "over_eager_high, relative_error, registers, elapsed_s FROM candidates "
            "WHERE run_id = ?1 AND (?2 IS NULL OR island = ?2) AND elapsed_s <= ?3 AND cell IS NOT NULL "
            "AND status NOT IN (?5, ?6) GROUP BY cell ORDER BY cell");
        using domain::CandidateStatus;
        bindAll(query, run.value(), island, seconds, domain::name(CandidateStatus::Correct),
                domain::name(CandidateStatus::Pending), domain::name(CandidateStatus::NotEvaluated));
        return readCells(query, eagerSpeedupOf(connection, run));
      });
}

Result<int> Record::islandCount(domain::RunId run) const {
  return m_impl->reading("count the islands", [&](SQLite::Database& connection) -> Result<int> {
    SQLite::Statement query(connection, "SELECT coalesce(max(island) + 1, 0) FROM cells WHERE run_id = ?");
    bindAll(query, run.value());
    query.executeStep();
    return query.getColumn(0).getInt();
  });
}

Result<std::vector<domain::HistoryPoint>> Record::improvements(domain::RunId run) const {
  return m_impl->reading(
      "read improvements", [&](SQLite::Database& connection) -> Result<std::vector<domain::HistoryPoint>> {
        SQLite::Statement query(connection,
                                "SELECT improvements.elapsed_s, candidate, over_eager, over_eager_low, over_eager_high "
                                "FROM improvements JOIN candidates ON candidates.id = candidate "
                                "WHERE improvements.run_id = ? ORDER BY improvements.elapsed_s, candidate");
        bindAll(query, run.value());
        constexpr int kOverEager = 2;
        const domain::Speedup eagerSpeedup = eagerSpeedupOf(connection, run);
        std::vector<domain::HistoryPoint> points;
        while (query.executeStep()) {
          points.push_back({query.getColumn(0).getDouble(), speedupFrom(query, kOverEager).times(eagerSpeedup),
                            domain::CandidateId(query.getColumn(1).getInt64())});
        }
        return points;
      });
}

Result<std::vector<domain::RunEvent>> Record::events(domain::RunId run) const {
  return m_impl->reading("read events", [&](SQLite::Database& connection) -> Result<std::vector<domain::RunEvent>> {
    SQLite::Statement query(connection, "SELECT at_ms, kind, json FROM events WHERE run_id = ? ORDER BY id");
    bindAll(query, run.value());
    std::vector<domain::RunEvent> found;
    while (query.executeStep()) {
      found.push_back({query.getColumn(0).getInt64(), domain::eventKindOf(query.getColumn(1).getString()),
                       query.getColumn(2).getString()});
    }
    return found;
  });
}

}  // namespace swage::store
