// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/engine/record_queue.h"
#include "core/judge/judge.h"
#include "core/services/compare_service.h"
#include "core/services/profile_service.h"
#include "core/services/record_service.h"
#include "core/stats/diagnose.h"
#include "core/store/record.h"

namespace swage::engine {

// RecordService over connections of its own, so it works beside a run that writes. One thread only; what takes longer
// goes to a RecordQueue.
class RecordServiceImpl final : public services::RecordService, public services::CompareService {
 public:
  [[nodiscard]] Result<> open(const std::filesystem::path& project) override;
  [[nodiscard]] Result<std::vector<services::RunSummary>> runs() const override;
  [[nodiscard]] Result<services::RunSummary> run(domain::RunId id) const override;
  [[nodiscard]] Result<std::int64_t> candidateCount(const services::CandidateQuery& page) const override;
  [[nodiscard]] Result<std::vector<services::CandidateRow>> candidates(
      const services::CandidateQuery& page) const override;
  [[nodiscard]] QFuture<Result<services::CandidateIds>> candidateIds(
      const services::CandidateQuery& page) const override;
  [[nodiscard]] Result<std::vector<services::CandidateRow>> candidates(
      std::span<const domain::CandidateId> ids) const override;
  [[nodiscard]] Result<services::Lineage> lineage(domain::CandidateId id,
                                                  const services::LineageReach& reach) const override;
  [[nodiscard]] QFuture<Result<domain::AnnotationEdit>> annotate(const domain::AnnotationEdit& edit) override;
  [[nodiscard]] Result<services::CandidateDetail> candidate(domain::CandidateId id) const override;
  [[nodiscard]] Result<std::vector<services::CellSummary>> cells(domain::RunId run,
                                                                 std::optional<int> island) const override;
  [[nodiscard]] Result<std::vector<services::CellSummary>> cellsAt(domain::RunId run, std::optional<int> island,
                                                                   double seconds) const override;
  [[nodiscard]] Result<int> islandCount(domain::RunId run) const override;
  [[nodiscard]] Result<std::vector<services::HistoryPoint>> history(domain::RunId run) const override;
  [[nodiscard]] Result<std::vector<domain::Baseline>> baselines(domain::RunId run) const override;
  [[nodiscard]] QFuture<Result<services::RunActivity>> activity(domain::RunId run) const override;
  [[nodiscard]] Result<std::optional<domain::Profile>> profile(domain::CandidateId id) const override;
  // The same with what it means.
  [[nodiscard]] Result<std::optional<services::ProfileReport>> profileReport(domain::CandidateId id) const;
  // What the rules say about it now.
  [[nodiscard]] Result<std::vector<domain::Advice>> advice(domain::CandidateId id, const judge::RuleBook& rules) const;
  [[nodiscard]] Result<std::optional<domain::CandidateId>> commonAncestor(domain::CandidateId first,
                                                                          domain::CandidateId second) const override;
  // What was checked of a candidate beyond its evaluation, and why a speedup on a run's task may say little.
  [[nodiscard]] Result<std::vector<domain::Assurance>> assurances(domain::CandidateId candidate) const;
  [[nodiscard]] Result<std::vector<services::ExportGate>> gates(domain::CandidateId candidate) const;
  [[nodiscard]] Result<std::vector<std::string>> doubts(domain::RunId run) const;
  [[nodiscard]] Result<bool> skippedSelfTest(domain::RunId run) const;

 private:
  [[nodiscard]] Result<const store::Record*> record() const;
  // stats::Roofline::roofNs of a run. Tasks are long documents, so it is kept.
  [[nodiscard]] Result<std::vector<services::CellSummary>> summarise(domain::RunId run,
                                                                     const std::vector<domain::CellSummary>& lines,
                                                                     bool isNow) const;
  [[nodiscard]] Result<double> roofNs(const store::RunRow& run) const;
  [[nodiscard]] Result<double> roofNs(domain::RunId run) const;
  [[nodiscard]] Result<> addRoofs(std::vector<services::CandidateRow>& rows) const;

  [[nodiscard]] Result<stats::DiagnosisContext> diagnosisContext(domain::RunId run) const;

  std::optional<store::Record> m_record;
  std::unique_ptr<RecordQueue> m_queue;
  mutable std::map<domain::RunId, stats::DiagnosisContext> m_contexts;  // without the candidate's time
  mutable std::map<domain::RunId, double> m_roofs;
  // Written before the record is opened for the run, and read at every selection.
  mutable std::map<domain::RunId, bool> m_skippedSelfTest;
};

}  // namespace swage::engine
