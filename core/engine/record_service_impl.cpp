// SPDX-License-Identifier: Apache-2.0
#include "core/engine/record_service_impl.h"

#include <span>

#include "core/engine/export_facts.h"
#include "core/run/snapshots.h"
#include "core/stats/roofline.h"
#include "core/trust/trust.h"

namespace swage::engine {
namespace {

domain::CandidateId bestOf(const std::vector<domain::CellSummary>& lines) {
  const domain::CellSummary* best = nullptr;
  for (const domain::CellSummary& line : lines) {
    if (line.best.isValid() && (best == nullptr || domain::ranksBefore(line.speedup, best->speedup))) {
      best = &line;
    }
  }
  return best != nullptr ? best->best : domain::CandidateId();
}

// What was measured again at the end stands for its cell, also where a shorter measurement of another one was faster.
void putFirst(std::vector<domain::CellSummary>& lines, const domain::CandidateRow& winner) {
  for (domain::CellSummary& line : lines) {
    if (winner.cell && line.cell == *winner.cell) {
      line.best = winner.id;
      line.bestTimeNs = winner.timeNs;
      line.speedup = winner.speedup;
      line.relativeError = winner.relativeError;
      line.registers = winner.registers;
      line.foundSeconds = winner.elapsedSeconds;
    }
  }
}

Error noProject() {
  return Error(ErrorKind::NotFound, "no project is open", "open a project, or start a run");
}

}  // namespace

Result<> RecordServiceImpl::open(const std::filesystem::path& project) {
  m_record.reset();
  m_queue.reset();
  m_roofs.clear();
  m_contexts.clear();
  m_skippedSelfTest.clear();
  SWAGE_TRY(store::Record::bringUpToDate(project));
  SWAGE_TRY_ASSIGN(store::Record record, store::Record::open(project, store::Record::Mode::ReadOnly));
  m_record.emplace(std::move(record));
  m_queue = std::make_unique<RecordQueue>(project);
  return {};
}

Result<const store::Record*> RecordServiceImpl::record() const {
  if (!m_record) {
    return noProject();
  }
  return &*m_record;
}

Result<double> RecordServiceImpl::roofNs(const store::RunRow& run) const {
  if (const auto known = m_roofs.find(run.id); known != m_roofs.end()) {
    return known->second;
  }
  SWAGE_TRY_ASSIGN(const domain::Task task, m_record->task(run.taskId));
  return m_roofs[run.id] = stats::roofline(task.graph, run.device).roofNs;
}

Result<double> RecordServiceImpl::roofNs(domain::RunId run) const {
  if (const auto known = m_roofs.find(run); known != m_roofs.end()) {
    return known->second;
  }
  SWAGE_TRY_ASSIGN(const store::RunRow row, m_record->run(run));
  return roofNs(row);
}

Result<std::vector<services::RunSummary>> RecordServiceImpl::runs() const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(const std::vector<store::RunRow> rows, record->runs());
  std::vector<services::RunSummary> result;
  result.reserve(rows.size());
  for (const store::RunRow& row : rows) {
    SWAGE_TRY_ASSIGN(const double roof, roofNs(row));
    result.push_back(run::summaryOf(row, roof));
  }
  return result;
}

Result<services::RunSummary> RecordServiceImpl::run(domain::RunId id) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(const store::RunRow row, record->run(id));
  SWAGE_TRY_ASSIGN(const double roof, roofNs(row));
  return run::summaryOf(row, roof);
}

Result<std::int64_t> RecordServiceImpl::candidateCount(const services::CandidateQuery& query) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->candidateCount(query);
}

Result<std::vector<services::CandidateRow>> RecordServiceImpl::candidates(const services::CandidateQuery& query) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(std::vector<services::CandidateRow> rows, record->candidates(query));
  SWAGE_TRY(addRoofs(rows));
  return rows;
}

Result<std::vector<services::CandidateRow>> RecordServiceImpl::candidates(
    std::span<const domain::CandidateId> ids) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(std::vector<services::CandidateRow> rows, record->candidates(ids));
  SWAGE_TRY(addRoofs(rows));
  return rows;
}

Result<> RecordServiceImpl::addRoofs(std::vector<services::CandidateRow>& rows) const {
  for (services::CandidateRow& row : rows) {
    SWAGE_TRY_ASSIGN(const double roof, roofNs(row.run));
    row.roofShare = run::roofShareOf(row.timeNs, roof);
  }
  return {};
}

QFuture<Result<services::CandidateIds>> RecordServiceImpl::candidateIds(const services::CandidateQuery& query) const {
  if (!m_queue) {
    return QtFuture::makeReadyFuture(Result<services::CandidateIds>(noProject()));
  }
  return m_queue->candidateIds(query);
}

QFuture<Result<domain::AnnotationEdit>> RecordServiceImpl::annotate(const domain::AnnotationEdit& edit) {
  if (!m_queue) {
    return QtFuture::makeReadyFuture(Result<domain::AnnotationEdit>(noProject()));
  }
  return m_queue->annotate(edit);
}

QFuture<Result<services::RunActivity>> RecordServiceImpl::activity(domain::RunId run) const {
  if (!m_queue) {
    return QtFuture::makeReadyFuture(Result<services::RunActivity>(noProject()));
  }
  return m_queue->activity(run);
}

Result<services::Lineage> RecordServiceImpl::lineage(domain::CandidateId id,
                                                     const services::LineageReach& reach) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(services::Lineage family, record->lineage(id, reach));
  SWAGE_TRY(addRoofs(family.rows));
  return family;
}

Result<services::CandidateDetail> RecordServiceImpl::candidate(domain::CandidateId id) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(store::CandidateRecord candidate, record->candidate(id));
  SWAGE_TRY_ASSIGN(const store::RunRow run, record->run(candidate.run));
  SWAGE_TRY_ASSIGN(const double roof, roofNs(run));
  return run::detailOf(std::move(candidate), run.eagerSpeedup, roof);
}

Result<std::vector<services::CellSummary>> RecordServiceImpl::cells(domain::RunId run,
                                                                    std::optional<int> island) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(std::vector<domain::CellSummary> lines, record->cells(run, island));
  SWAGE_TRY_ASSIGN(const store::RunRow row, record->run(run));
  if (row.best.isValid() && !island) {
    SWAGE_TRY_ASSIGN(const std::vector<domain::CandidateRow> winner, record->candidates(std::span(&row.best, 1)));
    putFirst(lines, winner.front());
  }
  return summarise(run, lines, true);
}

Result<std::vector<services::CellSummary>> RecordServiceImpl::cellsAt(domain::RunId run, std::optional<int> island,
                                                                      double seconds) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(const std::vector<domain::CellSummary> lines, record->cellsAt(run, island, seconds));
  return summarise(run, lines, false);
}

Result<int> RecordServiceImpl::islandCount(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->islandCount(run);
}

// What is best now was measured again at the end; what was best at another moment ranks first of the lines.
Result<std::vector<services::CellSummary>> RecordServiceImpl::summarise(domain::RunId run,
                                                                        const std::vector<domain::CellSummary>& lines,
                                                                        bool isNow) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(const store::RunRow row, record->run(run));
  SWAGE_TRY_ASSIGN(const double roof, roofNs(row));
  return run::cellsOf(lines, row, roof, isNow ? row.best : bestOf(lines));
}

Result<std::vector<services::HistoryPoint>> RecordServiceImpl::history(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->improvements(run);
}

Result<std::vector<domain::Baseline>> RecordServiceImpl::baselines(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->baselines(run);
}

Result<std::optional<domain::Profile>> RecordServiceImpl::profile(domain::CandidateId id) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->profile(id);
}

Result<stats::DiagnosisContext> RecordServiceImpl::diagnosisContext(domain::RunId run) const {
  if (const auto known = m_contexts.find(run); known != m_contexts.end()) {
    return known->second;
  }
  SWAGE_TRY_ASSIGN(const store::RunRow row, m_record->run(run));
  SWAGE_TRY_ASSIGN(const domain::Task task, m_record->task(row.taskId));
  stats::DiagnosisContext context;
  context.task = stats::roofline(task.graph, row.device);
  context.device = row.device;
  if (!task.graph.outputs.empty()) {
    context.type = task.graph.type(task.graph.outputs.front().value).dtype;
  }
  return m_contexts[run] = context;
}

Result<std::optional<services::ProfileReport>> RecordServiceImpl::profileReport(domain::CandidateId id) const {
  using Report = std::optional<services::ProfileReport>;
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(std::optional<domain::Profile> profile, record->profile(id));
  if (!profile) {
    return Report();
  }
  SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, record->candidate(id));
  SWAGE_TRY_ASSIGN(stats::DiagnosisContext context, diagnosisContext(candidate.run));
  if (const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr) {
    context.candidateNs = correct->timing.candidate.medianNs;
  }
  context.kernels = candidate.kernels;
  domain::Diagnosis diagnosis = stats::diagnose(*profile, context);
  return Report({id, std::move(*profile), std::move(diagnosis)});
}

Result<std::vector<domain::Advice>> RecordServiceImpl::advice(domain::CandidateId id,
                                                              const judge::RuleBook& rules) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, record->candidate(id));
  SWAGE_TRY_ASSIGN(const std::optional<domain::Profile> profile, record->profile(id));
  SWAGE_TRY_ASSIGN(const stats::DiagnosisContext context, diagnosisContext(candidate.run));
  return judge::judge(rules, {.program = &candidate.program,
                              .kernels = &candidate.kernels,
                              .evaluation = candidate.evaluation ? &*candidate.evaluation : nullptr,
                              .profile = profile ? &*profile : nullptr,
                              .device = &context.device,
                              .task = context.task,
                              .type = context.type});
}

Result<std::optional<domain::CandidateId>> RecordServiceImpl::commonAncestor(domain::CandidateId first,
                                                                             domain::CandidateId second) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->commonAncestor(first, second);
}

Result<std::vector<domain::Assurance>> RecordServiceImpl::assurances(domain::CandidateId candidate) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return record->assurances(candidate);
}

Result<std::vector<services::ExportGate>> RecordServiceImpl::gates(domain::CandidateId candidate) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return recordedGates(*record, candidate);
}

Result<std::vector<std::string>> RecordServiceImpl::doubts(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  return trust::doubtsOf(*record, run);
}

Result<bool> RecordServiceImpl::skippedSelfTest(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const store::Record* record, this->record());
  if (const auto known = m_skippedSelfTest.find(run); known != m_skippedSelfTest.end()) {
    return known->second;
  }
  SWAGE_TRY_ASSIGN(const bool skipped, trust::skippedSelfTest(*record, run));
  return m_skippedSelfTest[run] = skipped;
}

}  // namespace swage::engine
