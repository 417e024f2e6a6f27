// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <vector>

#include "core/services/export_service.h"
#include "core/services/record_service.h"
#include "core/services/run_service.h"

namespace swage::workbench {

// A record with as many candidates as it is told, made up as they are asked for: it takes no memory of its own, so that
// what a measurement sees is the window's.
class SyntheticRecord final : public services::RecordService {
 public:
  void setCount(std::int64_t count) { m_count = count; }
  [[nodiscard]] std::int64_t count() const { return m_count; }
  [[nodiscard]] static services::CandidateRow row(std::int64_t id);

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
  // Refused: nothing here is kept.
  [[nodiscard]] QFuture<Result<domain::AnnotationEdit>> annotate(const domain::AnnotationEdit& edit) override;
  [[nodiscard]] Result<std::optional<domain::Profile>> profile(domain::CandidateId id) const override;
  [[nodiscard]] Result<services::CandidateDetail> candidate(domain::CandidateId id) const override;
  [[nodiscard]] Result<std::vector<services::CellSummary>> cells(domain::RunId run,
                                                                 std::optional<int> island) const override;
  [[nodiscard]] Result<std::vector<services::CellSummary>> cellsAt(domain::RunId run, std::optional<int> island,
                                                                   double seconds) const override;
  [[nodiscard]] Result<int> islandCount(domain::RunId run) const override;
  [[nodiscard]] Result<std::vector<services::HistoryPoint>> history(domain::RunId run) const override;
  [[nodiscard]] Result<std::vector<domain::Baseline>> baselines(domain::RunId run) const override;
  [[nodiscard]] QFuture<Result<services::RunActivity>> activity(domain::RunId run) const override;
  // Of the synthetic operators on each island.
  [[nodiscard]] static services::ProposerReport report(std::int64_t count, double elapsedSeconds);

 private:
  std::int64_t m_count = 0;
};

// Refuses everything: of a made-up candidate there is nothing to write.
class SyntheticExporter final : public services::ExportService {
 public:
  [[nodiscard]] QFuture<Result<services::ExportFacts>> facts(const std::filesystem::path& project,
                                                             domain::CandidateId candidate) const override;
  [[nodiscard]] QFuture<Result<services::ExportFiles>> files(const std::filesystem::path& project,
                                                             domain::CandidateId candidate,
                                                             services::ExportFormat format) const override;
  [[nodiscard]] QFuture<Result<>> write(const services::ExportFiles& files, const std::filesystem::path& target,
                                        services::ExistingFiles existing) const override;
};

// A run that reports so many candidates a second, with everything else an engine says meanwhile.
class SyntheticRun final : public services::RunService {
  Q_OBJECT

 public:
  SyntheticRun(SyntheticRecord& record, int eventsPerSecond, QObject* parent = nullptr);
  void start(const services::RunSpec& spec) override;
  void pause() override {}
  void resume() override {}
  void stop() override;
  void kill() override { stop(); }
  [[nodiscard]] services::RunState state() const override { return m_state; }
  [[nodiscard]] domain::RunId currentRun() const override;
  [[nodiscard]] std::int64_t events() const { return m_events; }

 private:
  void tick();
  void reportRest();

  SyntheticRecord& m_record;
  int m_eventsPerSecond;
  double m_budgetSeconds = 0.0;
  QTimer m_tick;
  QElapsedTimer m_clock;
  services::RunState m_state = services::RunState::Idle;
  std::int64_t m_events = 0;
  std::int64_t m_ticks = 0;
};

}  // namespace swage::workbench
