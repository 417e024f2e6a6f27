// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>

#include <vector>

#include "core/services/activity.h"
#include "ui/models/project_session.h"

namespace swage::ui {

// What the processes and the proposers of the shown run do, live or out of the record. Gathers the engine's events and
// passes them on at most once a frame; keeps a timeline of bounded length, however long a search takes. GUI thread
// only.
class SearchActivity final : public QObject {
  Q_OBJECT

 public:
  SearchActivity(ProjectSession& session, services::RunService& run, const services::RecordService& record,
                 QObject* parent = nullptr);

  [[nodiscard]] const std::vector<services::LaneStatus>& lanes() const { return m_lanes; }
  [[nodiscard]] const services::ProposerReport& report() const { return m_report; }
  [[nodiscard]] const std::vector<services::ActivitySample>& timeline() const { return m_timeline; }
  [[nodiscard]] bool isLive() const;  // the shown run is going on

 Q_SIGNALS:
  void lanesChanged();
  void proposersChanged();  // and the timeline

 private:
  void clear();
  void ask();
  void take(const Result<services::RunActivity>& recorded);
  void takeReport(const services::ProposerReport& report);
  void startFrame();
  void showFrame();

  ProjectSession& m_session;
  services::RunService& m_run;
  const services::RecordService& m_record;
  QTimer m_frame;
  QFutureWatcher<Result<services::RunActivity>> m_answer;
  std::vector<services::LaneStatus> m_lanes;
  services::ProposerReport m_report;
  std::vector<services::ActivitySample> m_timeline;
  bool m_lanesDirty = false;
  bool m_reportDirty = false;
};

}  // namespace swage::ui
