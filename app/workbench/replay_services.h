// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <set>
#include <vector>

#include "core/services/record_service.h"
#include "core/services/run_service.h"

namespace swage::workbench {

// One recorded run as its record was at some moment: what had not happened yet is not there. Small runs only; all of
// it is held in memory.
class ReplayRecord final : public services::RecordService {
 public:
  explicit ReplayRecord(const services::RecordService& source) : m_source(source) {}
  // Fails where the source has no run, or cannot be read.
  [[nodiscard]] Result<> load();
  void setNow(double elapsedSeconds);
  [[nodiscard]] double now() const { return m_now; }
  [[nodiscard]] double end() const;  // when the last candidate was evaluated
  [[nodiscard]] domain::RunId runId() const { return m_run.id; }
  [[nodiscard]] const std::string& taskName() const { return m_run.taskName; }
  [[nodiscard]] const std::vector<services::CandidateRow>& visible() const { return m_visible; }

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
  // Refused: a recording stays as it is.
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
  // Who proposed what of the visible ones; the timeline as it was recorded up to now.
  [[nodiscard]] QFuture<Result<services::RunActivity>> activity(domain::RunId run) const override;
  [[nodiscard]] services::ProposerReport report() const;

 private:
  [[nodiscard]] std::vector<services::CandidateRow> select(const services::CandidateQuery& page) const;
  [[nodiscard]] std::set<domain::CandidateId> visibleIds() const;

  const services::RecordService& m_source;
  services::RunSummary m_run;
  std::vector<services::CandidateRow> m_rows;  // by the time of their evaluation
  std::vector<services::CandidateRow> m_visible;
  std::vector<services::CellSummary> m_cells;  // at the end
  double m_now = 0.0;
};

// Plays a recorded run as if it were going on: no worker, no compiler, no Python. GUI thread only.
class ReplayRun final : public services::RunService {
  Q_OBJECT

 public:
  // `speed`: recorded seconds in one real second.
  ReplayRun(ReplayRecord& record, double speed, QObject* parent = nullptr);
  void start(const services::RunSpec& spec) override;
  void pause() override;
  void resume() override;
  void stop() override;
  void kill() override { stop(); }
  [[nodiscard]] services::RunState state() const override { return m_state; }
  [[nodiscard]] domain::RunId currentRun() const override { return m_record.runId(); }

 private:
  void enter(services::RunState state);
  void tick();
  void report();
  void finish(bool interrupted);

  ReplayRecord& m_record;
  double m_speed;
  QTimer m_tick;
  QElapsedTimer m_clock;
  std::size_t m_told = 0;
  services::RunState m_state = services::RunState::Idle;
};

}  // namespace swage::workbench
