// SPDX-License-Identifier: Apache-2.0
#include "core/run/run_context.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::run {
namespace {

constexpr double kMaxLimitSeconds = 600.0;
// Up to sixteen checks, each with a float64 reference and eager in its own type, then the timing: generous on purpose,
// because this limit only has to end what never ends.
constexpr double kLimitPerEagerSecond = 600.0;

Result<> takeUp(RunContext& context, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const store::RunRow row, context.record->run(run));
  SWAGE_TRY_ASSIGN(store::TaskBundle bundle, store::readTaskBundle(row.bundlePath));
  if (bundle.task.id != row.taskId) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("the bundle '{}' is not the task of run {} any more", row.bundlePath, run.value()),
                 "import the task again and start a new run");
  }
  context.bundle = std::move(bundle);
  context.run = run;
  context.resumed = true;
  context.device = row.device;
  services::RunSpec& spec = context.spec;
  spec.seed = row.seed;
  spec.target = domain::name(row.device.kind);
  if (spec.timeBudgetSeconds <= 0.0) {
    spec.timeBudgetSeconds = row.timeBudgetSeconds;
  }
  if (spec.maxEvaluations <= 0) {
    spec.maxEvaluations = row.maxEvaluations;
  }
  context.clock.reset(row.elapsedSeconds);
  return {};
}

}  // namespace

Result<> RunContext::keepStatus(store::RunStatus status) {
  return record->setRunStatus(run, status, clock.elapsedSeconds());
}

Result<> openRecord(RunContext& context) {
  SWAGE_TRY_ASSIGN(store::Record record, store::Record::open(context.spec.project, store::Record::Mode::ReadWrite));
  context.record.emplace(std::move(record));
  if (context.spec.resume) {
    SWAGE_TRY(takeUp(context, *context.spec.resume));
  }
  return {};
}

double evaluationLimit(double leastSeconds, double eagerMedianNs) {
  return std::min(leastSeconds + kLimitPerEagerSecond * eagerMedianNs * 1e-9, kMaxLimitSeconds);
}

std::string optionsJson(const services::RunSpec& spec, const std::string& sandbox) {
  nlohmann::json overrides = nlohmann::json::object();
  for (const auto& [name, value] : spec.overrides) {
    overrides[name] = value;
  }
  const nlohmann::json json = {{"task", spec.task},
                               {"inputs", spec.inputs},
                               {"set", std::move(overrides)},
                               {"eval", spec.eval},
                               {"target", spec.target},
                               {"time_budget_s", spec.timeBudgetSeconds},
                               {"max_evaluations", spec.maxEvaluations},
                               {"seed", spec.seed},
                               {"compile_baselines", spec.compileBaselines},
                               {"baselines", spec.baselines},
                               {"remeasure_baselines", spec.remeasureBaselines},
                               {"target_speedup", spec.targetSpeedup},
                               {"required_speedup", spec.requiredSpeedup},
                               {"pairs", spec.pairs},
                               {"judge", spec.judge},
                               {"budget_usd", spec.budgetUsd},
                               {"budget_tokens", spec.budgetTokens},
                               {"sandbox", sandbox}};
  return json.dump();
}

}  // namespace swage::run
