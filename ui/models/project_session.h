// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <optional>
#include <vector>

#include "core/services/activity.h"
#include "core/services/record_service.h"
#include "core/services/run_service.h"
#include "core/services/types.h"

namespace swage::ui {

// What every page of the window shows: one run, its cells, and one selected candidate. Sits between the services and
// the widgets: gathers the engine's events and passes them on at most once a frame, so that ten thousand a second cost
// as much as twenty. GUI thread only. Failures of the record come out as noticed().
class ProjectSession final : public QObject {
  Q_OBJECT

 public:
  // Whose candidate is shown: the best of all until the user chooses a cell or a candidate.
  enum class Follow : std::uint8_t { Best, Cell, Candidate };

  ProjectSession(services::RunService& run, services::RecordService& record, QObject* parent = nullptr);

  // Opens the record of a project, if it has one, and shows its newest run.
  void openProject(const std::filesystem::path& project);
  void showRun(domain::RunId run);
  void start(const services::RunSpec& spec);
  void togglePause();
  void stop();
  void kill();

  void selectCell(int index);
  void selectCandidate(domain::CandidateId id);
  void followBest();

  // Of the search that goes on, or of the last one while its run is shown; else Idle.
  [[nodiscard]] services::RunState state() const { return m_state; }
  [[nodiscard]] bool isActive() const { return m_active; }  // from start() to finished()
  [[nodiscard]] bool canStart() const { return !isActive(); }
  [[nodiscard]] bool canPause() const;
  [[nodiscard]] bool canStop() const;
  [[nodiscard]] bool canResumeRecorded() const;  // the shown run did not reach the end of its budget

  [[nodiscard]] const std::filesystem::path& project() const { return m_project; }
  [[nodiscard]] bool hasRecord() const { return m_hasRecord; }  // the project's record is open
  [[nodiscard]] domain::RunId shownRun() const { return m_shownRun; }
  [[nodiscard]] const std::optional<services::RunSummary>& summary() const { return m_summary; }
  [[nodiscard]] const services::Progress& progress() const { return m_progress; }
  [[nodiscard]] const std::vector<services::CellSummary>& cells() const { return m_cells; }
  [[nodiscard]] const std::vector<services::HistoryPoint>& history() const { return m_history; }
  [[nodiscard]] const std::vector<domain::Baseline>& baselines() const { return m_baselines; }
  [[nodiscard]] const std::vector<services::LaneStatus>& lanes() const { return m_lanes; }
  [[nodiscard]] Follow follow() const { return m_follow; }
  [[nodiscard]] int selectedCell() const { return m_selectedCell; }  // -1: none
  [[nodiscard]] domain::CandidateId selectedCandidate() const { return m_selected; }
  [[nodiscard]] const std::optional<services::CandidateDetail>& detail() const { return m_detail; }
  // Of the best candidate of a cell, for its tooltip. Null when it has none.
  [[nodiscard]] const services::CandidateDetail* bestOf(int cell);

  // Shows a failure of Swage itself as a notice.
  void report(const Error& error);

 Q_SIGNALS:
  void stateChanged(swage::services::RunState state);
  void runShown(swage::domain::RunId run);
  void progressChanged();
  void cellsChanged();
  void candidatesChanged();
  void historyChanged();
  void lanesChanged();
  void selectionChanged();
  void noticed(const swage::services::Notice& notice);
  void finished(const swage::services::RunOutcome& outcome);

 private:
  [[nodiscard]] bool openRecord();
  void handleState(services::RunState state);
  void handleRunCreated(domain::RunId run);
  void handleProgress(const services::Progress& progress);
  void handleCells(const std::vector<services::CellSummary>& cells);
  void handleFinished(const services::RunOutcome& outcome);
  void showFrame();
  void showRows();
  void reloadHistory();
  void reloadRun();
  void forgetEnd();
  void clearRun();
  void applySelection(domain::CandidateId id);
  void updateFollowed();
  [[nodiscard]] bool showsLiveRun() const;

  services::RunService& m_run;
  services::RecordService& m_record;
  QTimer m_frame;
  QTimer m_rows;
  services::RunState m_state = services::RunState::Idle;
  bool m_active = false;
  std::filesystem::path m_project;
  bool m_hasRecord = false;
  domain::RunId m_shownRun;
  std::optional<services::RunSummary> m_summary;
  services::Progress m_progress;
  std::vector<services::CellSummary> m_cells;
  std::vector<services::HistoryPoint> m_history;
  std::vector<domain::Baseline> m_baselines;
  std::vector<services::LaneStatus> m_lanes;
  Follow m_follow = Follow::Best;
  int m_selectedCell = -1;
  domain::CandidateId m_selected;
  std::optional<services::CandidateDetail> m_detail;
  std::optional<services::CandidateDetail> m_hovered;
  bool m_cellsDirty = false;
  bool m_progressDirty = false;
  bool m_historyDirty = false;
};

}  // namespace swage::ui
