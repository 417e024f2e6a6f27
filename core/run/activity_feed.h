// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <vector>

#include "core/run/run_context.h"
#include "core/run/run_rigs.h"
#include "core/run/search_stage.h"
#include "core/services/activity.h"
#include "core/services/swarm_service.h"

namespace swage::run {

// Says how far a run is, what its processes do and who proposes what, a few times a second, and keeps samples of that
// in the record. One thread only.
class ActivityFeed : public QObject {
  Q_OBJECT

 public:
  // All of them outlive this.
  ActivityFeed(const RunContext& context, const RunRigs& rigs, const SearchStage& search, QObject* parent = nullptr);

  // At every tick of the session.
  void tick();
  // A sample, when it is time for one.
  [[nodiscard]] Result<> keepDue(store::Record& record);
  void tellProgress();
  // For the last time, with how the search stands now.
  void tellAll();
  // The last sample, unless it is there.
  [[nodiscard]] Result<> keepLast(store::Record& record);
  // The archive has changed.
  void touch() { m_archiveDirty = true; }

 Q_SIGNALS:
  void progressed(const swage::services::Progress& progress);
  void archiveChanged(const std::vector<swage::services::CellSummary>& cells);
  void lanesChanged(const std::vector<swage::services::LaneStatus>& lanes);
  void proposersChanged(const swage::services::ProposerReport& report);
  void pairsChanged(const swage::services::SwarmSnapshot& report);

 private:
  void tellLanes();
  void tellArchive();
  [[nodiscard]] Result<> keep(store::Record& record);

  const RunContext& m_context;
  const RunRigs& m_rigs;
  const SearchStage& m_search;
  bool m_archiveDirty = false;
  int m_ticks = 0;
  double m_sampledAt = 0.0;
};

}  // namespace swage::run
