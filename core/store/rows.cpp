// SPDX-License-Identifier: Apache-2.0
#include "core/store/rows.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::store {
namespace {

constexpr int kSpeedupColumns = 3;

Error rowError(std::string_view what, std::string_view why) {
  return Error(ErrorKind::Storage, fmt::format("the record holds a {} that cannot be used: {}", what, why),
               "Restore the project from a backup, or start the run again.");
}

template <class Parse>
auto parseColumn(SQLite::Statement& row, int column, std::string_view what, Parse parse)
    -> decltype(parse(std::declval<const domain::Json&>())) {
  const auto json = domain::parseJson(row.getColumn(column).getString());
  if (!json) {
    return rowError(what, json.error().message());
  }
  auto value = parse(*json);
  if (!value) {
    return rowError(what, value.error().message());
  }
  return value;
}

// null: the program was not synthesised.
Result<std::optional<domain::Genome>> genomeFrom(const domain::Json& json) {
  if (json.is_null()) {
    return std::optional<domain::Genome>();
  }
  SWAGE_TRY_ASSIGN(domain::Genome genome, domain::genomeFromJson(json));
  return std::optional(std::move(genome));
}

Result<std::optional<domain::Cell>> cellFrom(SQLite::Statement& row, int column) {
  if (row.getColumn(column).isNull()) {
    return std::optional<domain::Cell>();
  }
  const int index = row.getColumn(column).getInt();
  if (index < 0 || index >= domain::kCellCount) {
    return rowError("cell", fmt::format("there is no cell {}", index));
  }
  return std::optional<domain::Cell>(domain::Cell::fromIndex(index));
}

Result<domain::ProposerName> proposerFrom(SQLite::Statement& row, int column) {
  const std::string text = row.getColumn(column).getString();
  auto proposer = domain::ProposerName::parse(text);
  if (!proposer) {
    return rowError("operator", fmt::format("'{}' is no name", text));
  }
  return std::move(*proposer);
}

domain::CandidateId optionalId(SQLite::Statement& row, int column) {
  return row.getColumn(column).isNull() ? domain::CandidateId() : domain::CandidateId(row.getColumn(column).getInt64());
}

std::optional<std::int64_t> optionalInteger(SQLite::Statement& row, int column) {
  return row.getColumn(column).isNull() ? std::nullopt : std::optional(row.getColumn(column).getInt64());
}

Result<std::vector<domain::KernelFacts>> kernelsFrom(const domain::Json& json) {
  std::vector<domain::KernelFacts> kernels;
  for (const domain::Json& item : json) {
    SWAGE_TRY_ASSIGN(domain::KernelFacts facts, domain::kernelFactsFromJson(item));
    kernels.push_back(std::move(facts));
  }
  return kernels;
}

Result<std::vector<std::string>> textsFrom(const domain::Json& json) {
  std::vector<std::string> texts;
  for (const domain::Json& item : json) {
    if (!item.is_string()) {
      return Error(ErrorKind::Storage, "a list of texts has an item that is none");
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::optional<double> largestError(const std::vector<domain::OutputError>& errors) {
  std::optional<double> largest;
  for (const domain::OutputError& error : errors) {
    if (std::isfinite(error.relativeL2)) {
      largest = std::max(largest.value_or(0.0), error.relativeL2);
    }
  }
  return largest;
}

// PyTorch's own operators are eager, whatever the detour through a launch plan costs.
std::optional<domain::Speedup> overEagerOf(const domain::PairedTiming& timing, const domain::ProposerName& madeBy) {
  const domain::Speedup speedup = domain::againstEager(timing);
  const bool isUsable = std::isfinite(speedup.value) && std::isfinite(speedup.low) && std::isfinite(speedup.high);
  if (!isUsable || !speedup.isKnown()) {
    return std::nullopt;
  }
  return madeBy == domain::OperatorKind::Baseline ? domain::Speedup::exactly(1.0) : speedup;
}

Result<domain::CandidateStatus> statusFrom(SQLite::Statement& row, int column) {
  const std::string text = row.getColumn(column).getString();
  if (const auto status = domain::parseCandidateStatus(text)) {
    return *status;
  }
  return rowError("candidate status", fmt::format("'{}' is not known", text));
}

// Tags of a row as rowColumns() joins them.
std::vector<std::string> splitTags(const std::string& text) {
  constexpr char kUnitSeparator = 31;
  std::vector<std::string> tags;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kUnitSeparator, begin), text.size());
    tags.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return tags;
}

}  // namespace

std::string joinIds(const std::vector<domain::CandidateId>& ids) {
  std::string text;
  for (const domain::CandidateId id : ids) {
    text += text.empty() ? "" : ",";
    text += std::to_string(id.value());
  }
  return text;
}

Result<std::vector<domain::CandidateId>> splitIds(std::string_view text) {
  std::vector<domain::CandidateId> ids;
  const char* const end = text.data() + text.size();
  for (const char* begin = text.data(); begin < end;) {
    std::int64_t value = 0;
    const auto [stop, failure] = std::from_chars(begin, end, value);
    if (failure != std::errc() || (stop != end && *stop != ',')) {
      return rowError("list of parents", fmt::format("'{}'", text.substr(0, 64)));
    }
    ids.emplace_back(value);
    begin = stop == end ? end : stop + 1;
  }
  return ids;
}

domain::Speedup speedupFrom(SQLite::Statement& row, int first) {
  return {row.getColumn(first).getDouble(), row.getColumn(first + 1).getDouble(), row.getColumn(first + 2).getDouble()};
}

std::string_view selectRuns() {
  return "SELECT runs.id, runs.task_id, tasks.name, bundle_path, device_json, runs.status, seed, time_budget_s, "
         "max_evaluations, options_json, started_at_ms, runs.elapsed_s, evaluations, correct, winner, "
         "(SELECT id FROM candidates AS own WHERE own.id = (SELECT id FROM candidates WHERE run_id = runs.id "
         "ORDER BY id LIMIT 1) AND own.operator = 'baseline' AND own.time_ns > 0), best.id, "
         "best.time_ns, best.over_eager, best.over_eager_low, best.over_eager_high, baseline_ns, baseline_mode, "
         "eager_speedup, eager_speedup_low, eager_speedup_high FROM runs JOIN tasks ON tasks.id = task_id "
         "LEFT JOIN candidates AS best ON best.id = coalesce((SELECT id FROM candidates AS won "
         "WHERE won.id = winner AND won.operator <> 'baseline'), best_candidate)";
}

Result<RunRow> runFrom(SQLite::Statement& row) {
  RunRow run;
  int column = 0;
  run.id = domain::RunId(row.getColumn(column++).getInt64());
  run.taskId = row.getColumn(column++).getString();
  run.taskName = row.getColumn(column++).getString();
  run.bundlePath = row.getColumn(column++).getString();
  SWAGE_TRY_ASSIGN(run.device, parseColumn(row, column++, "device", domain::deviceInfoFromJson));
  run.deviceName = run.device.name;
  run.target = domain::name(run.device.kind);
  const std::string status = row.getColumn(column++).getString();
  const auto parsed = domain::parseRunStatus(status);
  if (!parsed) {
    return rowError("run status", fmt::format("'{}' is not known", status));
  }
  run.status = *parsed;
  run.seed = std::bit_cast<std::uint64_t>(std::int64_t{row.getColumn(column++).getInt64()});
  run.timeBudgetSeconds = row.getColumn(column++).getDouble();
  run.maxEvaluations = row.getColumn(column++).getInt64();
  run.optionsJson = row.getColumn(column++).getString();
  run.startedAtMs = row.getColumn(column++).getInt64();
  run.elapsedSeconds = row.getColumn(column++).getDouble();
  run.evaluations = row.getColumn(column++).getInt64();
  run.correct = row.getColumn(column++).getInt64();
  run.winner = optionalId(row, column++);
  run.own = optionalId(row, column++);
  run.best = optionalId(row, column++);
  run.bestTimeNs = row.getColumn(column++).getDouble();
  const domain::Speedup overEager = speedupFrom(row, column);
  column += kSpeedupColumns;
  run.baselineNs = row.getColumn(column++).getDouble();
  run.baselineMode = row.getColumn(column++).getString();
  run.eagerSpeedup = speedupFrom(row, column);
  run.bestSpeedup = overEager.times(run.eagerSpeedup);
  return run;
}

std::string_view rowColumns() {
  return "id, run_id, island, operator, cell, status, summary, time_ns, low_ns, high_ns, over_eager, over_eager_low, "
         "over_eager_high, relative_error, registers, elapsed_s, parents, algebraic, "
         "id IN (SELECT candidate_id FROM pins), id IN (SELECT candidate_id FROM trash), "
         "(SELECT group_concat(tag, char(31)) FROM (SELECT tag FROM tags WHERE candidate_id = candidates.id "
         "ORDER BY tag)), (SELECT note FROM notes WHERE candidate_id = candidates.id)";
}

Result<CandidateRow> rowFrom(SQLite::Statement& row, const domain::Speedup& eagerSpeedup) {
  CandidateRow found;
  int column = 0;
  found.id = domain::CandidateId(row.getColumn(column++).getInt64());
  found.run = domain::RunId(row.getColumn(column++).getInt64());
  found.island = row.getColumn(column++).getInt();
  SWAGE_TRY_ASSIGN(found.madeBy, proposerFrom(row, column++));
  SWAGE_TRY_ASSIGN(found.cell, cellFrom(row, column++));
  SWAGE_TRY_ASSIGN(found.status, statusFrom(row, column++));
  found.summary = row.getColumn(column++).getString();
  found.timeNs = row.getColumn(column++).getDouble();
  found.lowNs = row.getColumn(column++).getDouble();
  found.highNs = row.getColumn(column++).getDouble();
  found.speedup = speedupFrom(row, column).times(eagerSpeedup);
  column += kSpeedupColumns;
  found.relativeError = row.getColumn(column++).getDouble();
  found.registers = row.getColumn(column++).getInt();
  found.elapsedSeconds = row.getColumn(column++).getDouble();
  SWAGE_TRY_ASSIGN(found.parents, splitIds(row.getColumn(column++).getString()));
  found.isAlgebraic = row.getColumn(column++).getInt() != 0;
  found.annotation.pinned = row.getColumn(column++).getInt() != 0;
  found.annotation.trashed = row.getColumn(column++).getInt() != 0;
  found.annotation.tags = splitTags(row.getColumn(column++).getString());
  found.annotation.note = row.getColumn(column++).getString();
  return found;
}

std::string_view recordColumns() {
  return "candidates.id, run_id, proposal, island, operator, parents, cell, created_at_ms, elapsed_s, genome_json, "
         "language, flags_json, source_artifact, plan_artifact, source_hash, binary_hash, assembly_artifact, "
         "log_artifact, compile_s, kernels_json, evaluation_json";
}

Result<StoredCandidate> recordFrom(SQLite::Statement& row) {
  StoredCandidate stored;
  CandidateRecord& record = stored.record;
  int column = 0;
  record.id = domain::CandidateId(row.getColumn(column++).getInt64());
  record.run = domain::RunId(row.getColumn(column++).getInt64());
  record.proposal = row.getColumn(column++).getInt64();
  record.island = row.getColumn(column++).getInt();
  SWAGE_TRY_ASSIGN(record.madeBy, proposerFrom(row, column++));
  SWAGE_TRY_ASSIGN(record.parents, splitIds(row.getColumn(column++).getString()));
  SWAGE_TRY_ASSIGN(record.cell, cellFrom(row, column++));
  record.createdAtMs = row.getColumn(column++).getInt64();
  record.elapsedSeconds = row.getColumn(column++).getDouble();
  SWAGE_TRY_ASSIGN(record.genome, parseColumn(row, column++, "genome", genomeFrom));
  const std::string language = row.getColumn(column++).getString();
  const auto parsed = domain::parseLanguage(language);
  if (!parsed) {
    return rowError("language", fmt::format("'{}' is not known", language));
  }
  record.program.language = *parsed;
  SWAGE_TRY_ASSIGN(record.program.compileFlags, parseColumn(row, column++, "list of flags", textsFrom));
  stored.sourceArtifact = row.getColumn(column++).getInt64();
  stored.planArtifact = row.getColumn(column++).getInt64();
  record.sourceHash = row.getColumn(column++).getString();
  record.binaryHash = row.getColumn(column++).getString();
  stored.assemblyArtifact = optionalInteger(row, column++);
  stored.logArtifact = optionalInteger(row, column++);
  record.compileSeconds = row.getColumn(column++).getDouble();
  SWAGE_TRY_ASSIGN(record.kernels, parseColumn(row, column++, "list of kernels", kernelsFrom));
  if (!row.getColumn(column).isNull()) {
    SWAGE_TRY_ASSIGN(record.evaluation, parseColumn(row, column, "evaluation", domain::evaluationFromJson));
  }
  return stored;
}

EvaluationColumns columnsOf(const domain::Evaluation& evaluation, const domain::ProposerName& madeBy) {
  EvaluationColumns columns;
  columns.status = domain::statusOf(evaluation);
  columns.summary = domain::summary(evaluation);
  if (const auto* wrong = std::get_if<domain::Wrong>(&evaluation)) {
    columns.relativeError = largestError(wrong->errors);
  }
  const domain::Correct* correct = domain::asCorrect(evaluation);
  if (correct == nullptr) {
    return columns;
  }
  columns.relativeError = largestError(correct->errors);
  const domain::Timing& timing = correct->timing.candidate;
  if (timing.samples > 0 && std::isfinite(timing.medianNs) && timing.medianNs > 0.0) {
    columns.timeNs = timing.medianNs;
    columns.lowNs = timing.lowNs;
    columns.highNs = timing.highNs;
    columns.overEager = overEagerOf(correct->timing, madeBy);
  }
  if (columns.overEager && madeBy != domain::OperatorKind::Baseline) {
    columns.rank = columns.overEager->low;
  }
  return columns;
}

}  // namespace swage::store
