// SPDX-License-Identifier: Apache-2.0
#include "core/engine/recorded_activity.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/run/proposer_board.h"

namespace swage::engine {
namespace {

using services::LaneStatus;

// The workers of a run, out of what was written down about them.
class LaneReader {
 public:
  LaneReader(const store::RunRow& run, const store::StageTotals& totals) : m_done(totals.evaluated) {
    LaneStatus first = laneOf(run.device.name);
    first.busySeconds = totals.verifySeconds + totals.timingSeconds;
    // What a killed search did since it last wrote down its time was done all the same.
    first.lifeSeconds = std::max(run.elapsedSeconds, first.busySeconds);
    m_lanes.push_back({run.device.uuid, std::move(first)});
  }

  // What cannot be read was written by another version, and is left out.
  void take(const domain::RunEvent& event) {
    const Result<domain::Json> parsed = domain::parseJson(event.json);
    if (!parsed || !parsed->is_object()) {
      return;
    }
    const auto text = [&parsed](const char* key) {
      const auto found = parsed->find(key);
      return found != parsed->end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    if (event.kind == domain::EventKind::DeviceJoined) {
      m_lanes.push_back({text("uuid"), laneOf(text("name"))});
    } else if (event.kind == domain::EventKind::EvaluatedOn) {
      ++laneAt(text("device")).done;
    } else if (event.kind == domain::EventKind::WorkerReplaced) {
      LaneStatus& lane = laneAt(text("device"));
      ++lane.replaced;
      lane.lastEnd = text("why");
    } else if (event.kind == domain::EventKind::DeviceLost) {
      LaneStatus& lane = laneAt(text("uuid"));
      lane.isLost = true;
      lane.doing = "lost";
      lane.lastEnd = text("why");
    }
  }

  [[nodiscard]] std::vector<LaneStatus> lanes() && {
    std::vector<LaneStatus> lanes;
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
      lanes.push_back(std::move(m_lanes[i].status));
      if (i > 0) {
        m_done -= lanes.back().done;
      }
    }
    lanes.front().done = m_done;
    if (lanes.size() > 1) {
      lanes.front().lifeSeconds = 0.0;  // the seconds are those of all devices together
    }
    return lanes;
  }

 private:
  struct Lane {
    std::string uuid;
    LaneStatus status;
  };

  static LaneStatus laneOf(std::string name) {
    LaneStatus lane;
    lane.name = name.empty() ? std::string("worker") : std::move(name);
    lane.doing = "ended";
    return lane;
  }
  // Of a device that never joined, the first stands in: runs of one device did not write it down once.
  LaneStatus& laneAt(const std::string& uuid) {
    const auto found =
        std::find_if(m_lanes.begin(), m_lanes.end(), [&](const Lane& lane) { return lane.uuid == uuid; });
    return found == m_lanes.end() ? m_lanes.front().status : found->status;
  }

  std::int64_t m_done;
  std::vector<Lane> m_lanes;
};

LaneStatus compilersOf(const store::StageTotals& totals) {
  LaneStatus lane;
  lane.kind = LaneStatus::Kind::Compiler;
  lane.name = "compilers";
  lane.doing = "ended";
  lane.done = totals.compiled;
  lane.busySeconds = totals.compileSeconds;
  return lane;
}

std::vector<services::ActivitySample> fillingOf(const std::vector<double>& cellsFilledAt) {
  std::vector<services::ActivitySample> timeline;
  for (const double seconds : cellsFilledAt) {
    const int filled = static_cast<int>(timeline.size()) + 1;
    timeline.push_back(
        {.elapsedSeconds = seconds, .filledCells = filled, .improvements = 0, .proposers = {}, .exchange = {}});
  }
  return timeline;
}

void addTallies(services::ProposerReport& report, const std::vector<store::ProposerLine>& lines) {
  for (const store::ProposerLine& line : lines) {
    report.tallies.push_back({.proposer = std::string(domain::name(line.madeBy)),
                              .island = line.island,
                              .proposed = line.proposed,
                              .correct = line.correct,
                              .improved = 0,
                              .elites = line.elites,
                              .last = line.last,
                              .lastStatus = line.lastStatus});
  }
}

}  // namespace

Result<services::RunActivity> recordedActivity(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const store::RunRow row, record.run(run));
  SWAGE_TRY_ASSIGN(const store::StageTotals totals, record.stageTotals(run));
  SWAGE_TRY_ASSIGN(const std::vector<store::ProposerLine> lines, record.proposers(run));
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  SWAGE_TRY_ASSIGN(const std::vector<double> cellsFilledAt, record.cellsFilledAt(run));
  services::RunActivity activity;
  LaneReader lanes(row, totals);
  for (const domain::RunEvent& event : events) {
    lanes.take(event);
    if (event.kind == domain::EventKind::Proposers) {
      if (Result<services::ActivitySample> sample = run::parseSample(event.json)) {
        activity.timeline.push_back(std::move(*sample));
      }
    }
  }
  activity.lanes = std::move(lanes).lanes();
  activity.lanes.push_back(compilersOf(totals));
  services::ProposerReport& report = activity.report;
  report.elapsedSeconds = row.elapsedSeconds;
  report.filledCells = static_cast<int>(cellsFilledAt.size());
  if (!activity.timeline.empty()) {
    report.proposers = activity.timeline.back().proposers;
    report.improvements = activity.timeline.back().improvements;
    report.exchange = activity.timeline.back().exchange;
  } else {
    activity.timeline = fillingOf(cellsFilledAt);
  }
  addTallies(report, lines);
  return activity;
}

}  // namespace swage::engine
