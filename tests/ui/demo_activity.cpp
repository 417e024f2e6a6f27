// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_activity.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace swage::testing {
namespace {

constexpr std::array kOperators = {domain::OperatorKind::Synthesis,   domain::OperatorKind::Parameter,
                                   domain::OperatorKind::Split,       domain::OperatorKind::Merge,
                                   domain::OperatorKind::PatternSwap, domain::OperatorKind::Crossover,
                                   domain::OperatorKind::Aimed};
constexpr double kSampleSeconds = 0.5;

services::LaneStatus worker(std::string name, double seconds) {
  services::LaneStatus lane;
  lane.name = std::move(name);
  lane.doing = "timing";
  lane.isBusy = true;
  lane.candidate = domain::CandidateId(741);
  lane.sinceSeconds = 1.4;
  lane.busySeconds = 0.81 * seconds;
  lane.lifeSeconds = seconds;
  lane.done = 489;
  return lane;
}

services::LaneStatus compiler(int number, double seconds) {
  services::LaneStatus lane;
  lane.kind = services::LaneStatus::Kind::Compiler;
  lane.name = "compiler " + std::to_string(number);
  lane.doing = number == 3 ? "idle" : "compiling";
  lane.isBusy = number != 3;
  lane.candidate = number == 3 ? domain::CandidateId() : domain::CandidateId(741 + number);
  lane.sinceSeconds = 0.6 * number;
  lane.busySeconds = (0.9 - 0.12 * number) * seconds;
  lane.lifeSeconds = seconds;
  lane.done = 260 - 11 * number;
  if (number == 2) {
    lane.replaced = 1;
    lane.lastEnd = "compiler 2 was killed by signal 9 (Killed)";
  }
  return lane;
}

double creditOf(std::size_t index, double seconds) {
  const double start = 0.5;
  const double end = 0.05 + 0.09 * static_cast<double>((index * 3) % kOperators.size());
  const double wave = 0.06 * std::sin(seconds / 2.5 + static_cast<double>(index) * 1.7);
  return std::max(0.01, end + (start - end) * std::exp(-seconds / 14.0) + wave * (1.0 - std::exp(-seconds / 6.0)));
}

}  // namespace

std::vector<services::LaneStatus> demoLanes(double seconds) {
  services::LaneStatus lost = worker("GPU 1, Example GPU", seconds);
  lost.doing = "lost";
  lost.isBusy = false;
  lost.isLost = true;
  lost.candidate = {};
  lost.sinceSeconds = 21.0;
  lost.busySeconds = 0.4 * seconds;
  lost.done = 252;
  lost.replaced = 2;
  lost.lastEnd = "the device is given up, because after a fault new workers cannot use it: exited with code 4";
  return {worker("GPU 0, Example GPU", seconds),
          lost,
          compiler(1, seconds),
          compiler(2, seconds),
          compiler(3, seconds),
          compiler(4, seconds)};
}

services::ProposerReport demoReport(const FakeRecordService& record, double seconds) {
  services::ProposerReport report;
  report.elapsedSeconds = seconds;
  report.exchange = {static_cast<std::int64_t>(seconds / 9.0), static_cast<std::int64_t>(seconds / 6.0),
                     static_cast<std::int64_t>(seconds)};
  double sum = 0.0;
  for (std::size_t i = 0; i < kOperators.size(); ++i) {
    const double credit = creditOf(i, seconds);
    report.proposers.push_back({std::string(domain::name(kOperators[i])), credit, credit});
    sum += credit;
  }
  for (services::ProposerStanding& proposer : report.proposers) {
    proposer.share /= sum;
  }
  std::map<std::pair<std::string, int>, services::ProposerTally> tallies;
  std::map<int, double> best;
  for (const services::CandidateRow& row : record.rows) {
    if (row.elapsedSeconds > seconds) {
      break;
    }
    services::ProposerTally& tally = tallies[{std::string(domain::name(row.madeBy)), row.island}];
    tally.proposer = domain::name(row.madeBy);
    tally.island = row.island;
    ++tally.proposed;
    tally.correct += row.status == domain::CandidateStatus::Correct ? 1 : 0;
    tally.last = row.id;
    tally.lastStatus = domain::name(row.status);
    if (row.cell && row.speedup.value > best[row.cell->index()]) {
      best[row.cell->index()] = row.speedup.value;
      ++report.improvements;
      ++tally.improved;
      tally.elites = std::min(tally.elites + 1, 4);
    }
  }
  for (const auto& [cell, speedup] : best) {
    report.filledCells += speedup > 0.0 ? 1 : 0;
  }
  for (auto& [key, tally] : tallies) {
    report.tallies.push_back(std::move(tally));
  }
  return report;
}

void fillDemoActivity(FakeRecordService& record) {
  const double end = record.rows.back().elapsedSeconds;
  services::RunActivity& activity = record.runActivity;
  activity.lanes = demoLanes(end);
  for (services::LaneStatus& lane : activity.lanes) {
    lane.doing = lane.isLost ? "lost" : "ended";
    lane.isBusy = false;
    lane.sinceSeconds = 0.0;
    lane.candidate = {};
  }
  activity.timeline.clear();
  for (double seconds = kSampleSeconds; seconds <= end; seconds += kSampleSeconds) {
    const services::ProposerReport report = demoReport(record, seconds);
    activity.timeline.push_back({seconds, report.filledCells, report.improvements, report.proposers, report.exchange});
  }
  activity.report = demoReport(record, end);
}

}  // namespace swage::testing
