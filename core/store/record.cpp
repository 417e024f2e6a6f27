// SPDX-License-Identifier: Apache-2.0
#include "core/store/record.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "core/base/unix_time.h"
#include "core/domain/json.h"
#include "core/store/baseline_choice.h"
#include "core/store/ledger.h"
#include "core/store/project_folder.h"
#include "core/store/record_impl.h"
#include "core/store/rows.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

using domain::CandidateStatus;
using domain::name;

Error missing(std::string_view what, std::int64_t id) {
  return Error(ErrorKind::NotFound, fmt::format("the record has no {} {}", what, id));
}

Result<> requireRun(SQLite::Database& connection, domain::RunId run) {
  SQLite::Statement find(connection, "SELECT 1 FROM runs WHERE id = ?");
  bindAll(find, run.value());
  if (!find.executeStep()) {
    return missing("run", run.value());
  }
  return {};
}

std::string taskIdOf(SQLite::Database& connection, domain::RunId run) {
  SQLite::Statement find(connection, "SELECT task_id FROM runs WHERE id = ?");
  bindAll(find, run.value());
  return find.executeStep() ? find.getColumn(0).getString() : std::string();
}

std::optional<double> medianOf(const domain::Baseline& baseline) {
  const double median = baseline.timing.medianNs;
  const bool isUsable = baseline.failure.empty() && std::isfinite(median) && median > 0.0;
  return isUsable ? std::optional(median) : std::nullopt;
}

int mostRegisters(const std::vector<domain::KernelFacts>& kernels) {
  int most = 0;
  for (const domain::KernelFacts& kernel : kernels) {
    most = std::max(most, kernel.registers);
  }
  return most;
}

std::string listToText(const std::vector<domain::KernelFacts>& kernels) {
  domain::Json list = domain::Json::array();
  for (const domain::KernelFacts& kernel : kernels) {
    list.push_back(domain::toJson(kernel));
  }
  return domain::dumpJson(list);
}

Result<std::optional<std::int64_t>> putUnlessEmpty(const Artifacts& artifacts, SQLite::Database& connection,
                                                   std::string_view content) {
  if (content.empty()) {
    return std::optional<std::int64_t>();
  }
  SWAGE_TRY_ASSIGN(const std::int64_t id, artifacts.put(connection, content));
  return std::optional(id);
}

// The row of a candidate as far as its evaluation needs it.
struct CandidateState {
  LedgerEntry entry;
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  bool wasEvaluated = false;
};

Result<CandidateState> stateOf(SQLite::Database& connection, domain::CandidateId id) {
  SQLite::Statement find(connection, "SELECT run_id, island, cell, status, operator FROM candidates WHERE id = ?");
  bindAll(find, id.value());
  if (!find.executeStep()) {
    return missing("candidate", id.value());
  }
  CandidateState state;
  state.entry.candidate = id.value();
  state.entry.run = find.getColumn(0).getInt64();
  state.entry.island = find.getColumn(1).getInt();
  if (!find.getColumn(2).isNull()) {
    state.entry.cell = find.getColumn(2).getInt();
  }
  const auto status = domain::parseCandidateStatus(find.getColumn(3).getString());
  state.wasEvaluated = !status || domain::isEvaluated(*status);
  const std::string madeBy = find.getColumn(4).getString();
  state.madeBy = domain::ProposerName::parse(madeBy).value_or(domain::OperatorKind::Synthesis);
  return state;
}

}  // namespace

Record::Record(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Record::~Record() = default;
Record::Record(Record&&) noexcept = default;
Record& Record::operator=(Record&&) noexcept = default;

Result<Record> Record::open(const std::filesystem::path& project, Mode mode) {
  const std::filesystem::path file = project / "runs.sqlite";
  if (mode == Mode::ReadOnly) {
    SWAGE_TRY_ASSIGN(Database database, Database::open(file, {.access = Access::ReadOnly}));
    return Record(std::make_unique<Impl>(std::nullopt, std::move(database), project));
  }
  SWAGE_TRY(makeProjectFolder(project));
  SWAGE_TRY_ASSIGN(ProjectLock lock, ProjectLock::take(project / "runs.lock"));
  const bool wasKilled = lock.lastWriter() == ProjectLock::LastWriter::Killed;
  const Check check = wasKilled ? Check::Quick : Check::None;
  SWAGE_TRY_ASSIGN(Database database, Database::open(file, {.access = Access::ReadWrite, .check = check}));
  SWAGE_TRY(writeIgnoreRules(project));
  auto impl = std::make_unique<Impl>(std::move(lock), std::move(database), project);
  // A run that says it is running has lost its process, because this one holds the lock.
  SWAGE_TRY(impl->writing("close interrupted runs", [](SQLite::Database& connection) -> Result<> {
    execute(connection, "UPDATE runs SET status = ? WHERE status = ?", name(RunStatus::Interrupted),
            name(RunStatus::Running));
    execute(connection,
            "UPDATE candidates SET status = ? WHERE run_id IN (SELECT id FROM runs WHERE status = ?) AND status = ?",
            name(CandidateStatus::NotEvaluated), name(RunStatus::Interrupted), name(CandidateStatus::Pending));
    return {};
  }));
  return Record(std::move(impl));
}

Result<> Record::bringUpToDate(const std::filesystem::path& project) {
  if (!Database::isOlder(project / "runs.sqlite")) {
    return {};
  }
  if (auto opened = open(project, Mode::ReadWrite); !opened) {
    return std::move(opened).error().withContext("bringing the record of an earlier version up to date");
  }
  return {};
}

Result<domain::RunId> Record::createRun(const NewRun& run) {
  return m_impl->writing("record a new run", [&](SQLite::Database& connection) -> Result<domain::RunId> {
    const std::string taskId = run.task.id.empty() ? domain::taskId(run.task) : run.task.id;
    const std::string taskJson = domain::dumpJson(domain::toJson(run.task));
    SWAGE_TRY_ASSIGN(const std::int64_t artifact, m_impl->artifacts.put(connection, taskJson));
    execute(connection, "INSERT OR IGNORE INTO tasks (id, name, json_artifact) VALUES (?, ?, ?)", taskId, run.task.name,
            artifact);
    execute(connection,
            "INSERT INTO runs (task_id, bundle_path, device_json, status, seed, time_budget_s, max_evaluations, "
            "options_json, swage_version, started_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            taskId, run.bundlePath, domain::dumpJson(domain::toJson(run.device)), name(RunStatus::Running),
            std::bit_cast<std::int64_t>(run.seed), run.timeBudgetSeconds, run.maxEvaluations, run.optionsJson,
            run.swageVersion, unixTimeMs());
    return domain::RunId(connection.getLastInsertRowid());
  });
}

Result<> Record::setRunStatus(domain::RunId run, RunStatus status, double elapsedSeconds) {
  const bool isEnd = domain::hasEnded(status);
  return m_impl->reading("record the status of a run", [&](SQLite::Database&) -> Result<> {
    if (isEnd) {
      m_impl->database->setDurability(Durability::SurvivesPowerLoss);
    }
    auto written = m_impl->writing("record the status of a run", [&](SQLite::Database& connection) -> Result<> {
      const int changed =
          execute(connection, "UPDATE runs SET status = ?, elapsed_s = ?, winner = iif(?, winner, NULL) WHERE id = ?",
                  name(status), elapsedSeconds, isEnd ? 1 : 0, run.value());
      // What an ended run did not get to is not pending any more, until the run goes on.
      execute(connection, "UPDATE candidates SET status = ? WHERE run_id = ? AND status = ?",
              name(isEnd ? CandidateStatus::NotEvaluated : CandidateStatus::Pending), run.value(),
              name(isEnd ? CandidateStatus::Pending : CandidateStatus::NotEvaluated));
      return changed == 0 ? Result<>(missing("run", run.value())) : Result<>();
    });
    m_impl->database->setDurability(Durability::SurvivesKill);
    return written;
  });
}

Result<> Record::setWinner(domain::RunId run, domain::CandidateId winner) {
  return m_impl->writing("record the winner of a run", [&](SQLite::Database& connection) -> Result<> {
    const int changed = execute(connection, "UPDATE runs SET winner = ? WHERE id = ?", winner.value(), run.value());
    return changed == 0 ? Result<>(missing("run", run.value())) : Result<>();
  });
}

Result<> Record::addBaseline(domain::RunId run, const domain::Baseline& baseline) {
  return m_impl->writing("record a baseline", [&](SQLite::Database& connection) -> Result<> {
    SWAGE_TRY(requireRun(connection, run));
    execute(connection,
            "INSERT INTO baselines (run_id, mode, median_ns, json) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (run_id, mode) DO UPDATE SET median_ns = excluded.median_ns, json = excluded.json",
            run.value(), baseline.mode, medianOf(baseline), domain::dumpJson(domain::toJson(baseline)));
    SWAGE_TRY_ASSIGN(const std::vector<domain::Baseline> all, readBaselines(connection, run));
    SWAGE_TRY_ASSIGN(const domain::Task task, readTask(connection, m_impl->artifacts, taskIdOf(connection, run)));
    const domain::Baseline* fastest = fastestComparable(all, task.graph);
    const domain::Speedup eager = fastest != nullptr ? domain::eagerAgainst(*fastest, all) : domain::Speedup();
    const auto orNull = [&eager](double value) { return eager.isKnown() ? std::optional(value) : std::nullopt; };
    execute(connection,
            "UPDATE runs SET baseline_ns = ?, baseline_mode = ?, eager_speedup = ?, eager_speedup_low = ?, "
            "eager_speedup_high = ? WHERE id = ?",
            fastest != nullptr ? std::optional(fastest->timing.medianNs) : std::nullopt,
            fastest != nullptr ? std::optional(fastest->mode) : std::nullopt, orNull(eager.value), orNull(eager.low),
            orNull(eager.high), run.value());
    return {};
  });
}

Result<domain::CandidateId> Record::addCandidate(const NewCandidate& candidate) {
  return m_impl->writing("record a candidate", [&](SQLite::Database& connection) -> Result<domain::CandidateId> {
    SWAGE_TRY(requireRun(connection, candidate.run));
    const std::string plan = domain::dumpJson(domain::toJson(candidate.program.plan));
    SWAGE_TRY_ASSIGN(const std::int64_t source, m_impl->artifacts.put(connection, candidate.program.source));
    SWAGE_TRY_ASSIGN(const std::int64_t planArtifact, m_impl->artifacts.put(connection, plan));
    execute(connection,
            "INSERT INTO candidates (run_id, proposal, island, operator, parents, created_at_ms, algebraic) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            candidate.run.value(), candidate.proposal, candidate.island, name(candidate.madeBy),
            joinIds(candidate.parents), unixTimeMs(),
            candidate.genome && domain::isAlgebraic(*candidate.genome) ? 1 : 0);
    const domain::CandidateId id(connection.getLastInsertRowid());
    execute(connection,
            "INSERT INTO candidate_details (id, genome_json, language, flags_json, source_artifact, plan_artifact, "
            "source_hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
            id.value(), domain::dumpJson(candidate.genome ? domain::toJson(*candidate.genome) : domain::Json()),
            name(candidate.program.language), domain::dumpJson(domain::Json(candidate.program.compileFlags)), source,
            planArtifact, candidate.sourceHash);
    for (const domain::CandidateId parent : candidate.parents) {
      execute(connection, "INSERT OR IGNORE INTO lineage (parent, child) VALUES (?, ?)", parent.value(), id.value());
    }
    return id;
  });
}

Result<> Record::setCompiled(domain::CandidateId id, const domain::CompiledBinary& binary,
                             const std::optional<domain::Cell>& cell) {
  return m_impl->writing("record a compiled candidate", [&](SQLite::Database& connection) -> Result<> {
    const Artifacts& artifacts = m_impl->artifacts;
    SWAGE_TRY_ASSIGN(const auto bytes, putUnlessEmpty(artifacts, connection, binary.bytes));
    SWAGE_TRY_ASSIGN(const auto assembly, putUnlessEmpty(artifacts, connection, binary.assembly));
    SWAGE_TRY_ASSIGN(const auto log, putUnlessEmpty(artifacts, connection, binary.log));
    if (bytes) {
      execute(connection, "INSERT OR IGNORE INTO binaries (hash, artifact) VALUES (?, ?)", binary.binaryHash, *bytes);
    }
    const int changed =
        execute(connection, "UPDATE candidates SET cell = ?, registers = ? WHERE id = ?",
                cell ? std::optional(cell->index()) : std::nullopt, mostRegisters(binary.kernels), id.value());
    if (changed == 0) {
      return missing("candidate", id.value());
    }
    execute(connection,
            "UPDATE candidate_details SET binary_hash = ?, assembly_artifact = ?, log_artifact = ?, compile_s = ?, "
            "kernels_json = ? WHERE id = ?",
            binary.binaryHash, assembly, log, binary.seconds, listToText(binary.kernels), id.value());
    return {};
  });
}

Result<> Record::setEvaluation(domain::CandidateId id, const domain::Evaluation& evaluation, double elapsedSeconds,
                               std::optional<StageSeconds> stages) {
  return m_impl->writing("record an evaluation", [&](SQLite::Database& connection) -> Result<> {
    SWAGE_TRY_ASSIGN(CandidateState state, stateOf(connection, id));
    const EvaluationColumns columns = columnsOf(evaluation, state.madeBy);
    const auto end = [&columns](double domain::Speedup::*member) {
      return columns.overEager ? std::optional((*columns.overEager).*member) : std::nullopt;
    };
    execute(connection,
            "UPDATE candidates SET status = ?, summary = ?, time_ns = ?, low_ns = ?, high_ns = ?, rank = ?, "
            "over_eager = ?, over_eager_low = ?, over_eager_high = ?, relative_error = ?, elapsed_s = ? WHERE id = ?",
            name(columns.status), columns.summary, columns.timeNs, columns.lowNs, columns.highNs, columns.rank,
            end(&domain::Speedup::value), end(&domain::Speedup::low), end(&domain::Speedup::high),
            columns.relativeError, elapsedSeconds, id.value());
    execute(connection, "UPDATE candidate_details SET evaluation_json = ? WHERE id = ?",
            domain::dumpJson(domain::toJson(evaluation)), id.value());
    if (stages) {
      execute(connection, "UPDATE candidate_details SET verify_s = ?, timing_s = ? WHERE id = ?", stages->verify,
              stages->timing, id.value());
    }
    state.entry.isCorrect = domain::asCorrect(evaluation) != nullptr;
    state.entry.rank = columns.rank;
    state.entry.elapsedSeconds = elapsedSeconds;
    if (state.wasEvaluated) {
      rebuildLedger(connection, state.entry.run);
    } else {
      addToLedger(connection, state.entry);
    }
    return {};
  });
}

Result<> Record::withdrawUnconfirmed(domain::RunId run, double aboveSpeedup) {
  return m_impl->writing("withdraw candidates", [&](SQLite::Database& connection) -> Result<> {
    SWAGE_TRY(requireRun(connection, run));
    execute(connection,
            "UPDATE candidates SET rank = NULL WHERE run_id = ? AND over_eager > ? / "
            "coalesce((SELECT eager_speedup FROM runs WHERE runs.id = run_id), 1.0) "
            "AND id NOT IN (SELECT candidate_id FROM assurances WHERE kind = ? AND verdict = ?)",
            run.value(), aboveSpeedup, name(domain::AssuranceKind::FreshProcess),
            name(domain::AssuranceVerdict::Passed));
    rebuildLedger(connection, run.value());
    return {};
  });
}

Result<std::int64_t> Record::addText(std::string_view text) {
  return m_impl->writing("record a text", [&](SQLite::Database& connection) -> Result<std::int64_t> {
    return m_impl->artifacts.put(connection, text);
  });
}

Result<> Record::addEvent(domain::RunId run, domain::EventKind kind, std::string_view json) {
  return m_impl->writing("record an event", [&](SQLite::Database& connection) -> Result<> {
    SWAGE_TRY(requireRun(connection, run));
    execute(connection, "INSERT INTO events (run_id, at_ms, kind, json) VALUES (?, ?, ?, ?)", run.value(), unixTimeMs(),
            name(kind), json);
    return {};
  });
}

}  // namespace swage::store
