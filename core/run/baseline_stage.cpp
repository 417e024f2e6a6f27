// SPDX-License-Identifier: Apache-2.0
#include "core/run/baseline_stage.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/stats/agreement.h"

namespace swage::run {

using services::Notice;

void BaselineStage::start() {
  std::vector<std::string> modes = baselineModes(m_context.spec);
  const bool needsBridge = std::any_of(modes.begin(), modes.end(), [](const auto& mode) { return mode != "eager"; });
  Result<> known = knowAgain();
  if (known && m_context.baselines.empty() && needsBridge && !m_context.spec.remeasureBaselines) {
    known = reuse(modes);
  }
  if (!known || !m_context.baselines.empty()) {
    finish(known);
  } else if (needsBridge) {
    measure(std::move(modes));
  } else {
    handleMeasured(std::vector<domain::Baseline>{});
  }
}

void BaselineStage::cancel() {
  if (m_measurement) {
    m_measurement->disconnect(this);
    m_measurement->cancel();
  }
}

// Of an earlier sitting of the run.
Result<> BaselineStage::knowAgain() {
  if (!m_context.resumed) {
    return {};
  }
  SWAGE_TRY_ASSIGN(m_context.baselines, m_context.record->baselines(m_context.run));
  for (const domain::Baseline& baseline : m_context.baselines) {
    Q_EMIT measured(baseline);
  }
  return {};
}

// Of an earlier run.
Result<> BaselineStage::reuse(const std::vector<std::string>& modes) {
  const domain::Task& task = m_context.bundle->task;
  const std::string taskId = task.id.empty() ? domain::taskId(task) : task.id;
  SWAGE_TRY_ASSIGN(const auto known,
                   m_context.record->knownBaselines(taskId, m_context.device.uuid, m_context.torchVersion));
  std::vector<domain::Baseline> usable;
  std::int64_t oldestMs = std::numeric_limits<std::int64_t>::max();
  nlohmann::json sources = nlohmann::json::array();
  for (const store::Record::KnownBaseline& one : known) {
    const bool isWanted = std::find(modes.begin(), modes.end(), one.baseline.mode) != modes.end();
    if (isWanted && !stats::isDoubtful(one.baseline.timing) && !one.baseline.eagerSpeedup.isUncertain()) {
      usable.push_back(one.baseline);
      oldestMs = std::min(oldestMs, one.startedAtMs);
      sources.push_back({{"mode", one.baseline.mode}, {"run", one.run.value()}, {"started_at_ms", one.startedAtMs}});
    }
  }
  if (usable.size() < modes.size()) {
    return {};
  }
  SWAGE_TRY(m_context.record->addEvent(m_context.run, domain::EventKind::BaselinesReused, sources.dump()));
  notice(Notice::Severity::Info,
         fmt::format("the baselines ({}) are those that an earlier run measured on {:%Y-%m-%d %H:%M} UTC",
                     fmt::join(modes, ", "), fmt::gmtime(static_cast<std::time_t>(oldestMs / 1000))),
         "--remeasure measures them again.");
  return add(merged(eagerBaseline(m_context.task, task.graph, m_context.torchVersion), std::move(usable)));
}

void BaselineStage::measure(std::vector<std::string> modes) {
  Q_EMIT doing("measuring PyTorch: " + fmt::format("{}", fmt::join(modes, ", ")));
  BaselineMeasurement::Options options;
  options.environment = m_context.parts.programs.bridge;
  options.bundle = m_context.bundle->directory;
  options.device = m_context.device;
  options.budgetSeconds = std::clamp(60.0 * m_context.task.eager.medianNs * 1e-9, 4.0, 20.0);
  options.modes = std::move(modes);
  m_measurement = std::make_unique<BaselineMeasurement>(std::move(options));
  connect(m_measurement.get(), &BaselineMeasurement::finished, this, &BaselineStage::handleMeasured);
  m_measurement->start();
}

void BaselineStage::handleMeasured(const Result<std::vector<domain::Baseline>>& found) {
  if (!found) {
    notice(Notice::Severity::Warning, "torch.compile was not measured: " + found.error().message(),
           found.error().hint());
  }
  finish(add(merged(eagerBaseline(m_context.task, m_context.bundle->task.graph, m_context.torchVersion),
                    found ? *found : std::vector<domain::Baseline>{})));
}

Result<> BaselineStage::add(const std::vector<domain::Baseline>& baselines) {
  for (const domain::Baseline& baseline : baselines) {
    SWAGE_TRY(m_context.record->addBaseline(m_context.run, baseline));
    m_context.baselines.push_back(baseline);
    noticeDoubts(baseline);
    Q_EMIT measured(baseline);
  }
  return {};
}

void BaselineStage::noticeDoubts(const domain::Baseline& baseline) {
  if (!baseline.failure.empty()) {
    notice(Notice::Severity::Info, fmt::format("the baseline '{}' does not {}: {}", baseline.mode,
                                               domain::isRejected(baseline) ? "count" : "work", baseline.failure));
  } else if (stats::isDoubtful(baseline.timing)) {
    notice(
        Notice::Severity::Warning,
        fmt::format("the baseline '{}' was measured while the device was throttled or busy ({}); speedups against it "
                    "are uncertain",
                    baseline.mode, fmt::join(baseline.timing.conditions.throttleReasons, ", ")),
        "search again when nothing else uses the device; a later run measures the baseline again");
  }
}

}  // namespace swage::run
