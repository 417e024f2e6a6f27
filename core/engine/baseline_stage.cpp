// SPDX-License-Identifier: Apache-2.0
#include "core/engine/baseline_stage.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::engine {
namespace {

constexpr std::chrono::minutes kBaselineLimit{20};  // max-autotune of a large model compiles for minutes

std::vector<std::string> argumentsFor(const std::filesystem::path& bundle, const domain::DeviceInfo& device,
                                      double budgetSeconds) {
  std::vector<std::string> arguments = {"baseline", bundle.string(), "--device"};
  if (device.target == domain::Target::Cuda) {
    arguments.push_back(fmt::format("cuda:{}", device.ordinal));
  } else {
    arguments.insert(arguments.end(), {"cpu", "--threads", std::to_string(std::max(1, device.threads))});
  }
  arguments.insert(arguments.end(),
                   {"--modes", "eager,compile", "--time-budget", fmt::format("{:.1f}", budgetSeconds)});
  return arguments;
}

double number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

domain::Baseline baselineOf(const std::string& mode, const nlohmann::json& object) {
  domain::Baseline baseline;
  baseline.mode = mode;
  baseline.timing.medianNs = number(object, "median_ns");
  baseline.timing.lowNs = number(object, "low_ns");
  baseline.timing.highNs = number(object, "high_ns");
  baseline.timing.minNs = baseline.timing.lowNs;
  baseline.timing.samples = static_cast<int>(number(object, "samples"));
  baseline.relativeL2 = number(object, "error_vs_fp64");
  baseline.maxAbsolute = number(object, "max_abs_error");
  baseline.compileSeconds = number(object, "compile_seconds");
  if (const auto error = object.find("error"); error != object.end() && error->is_string()) {
    baseline.failure = error->get<std::string>();
  } else if (baseline.timing.medianNs <= 0.0) {
    baseline.failure = "no time was measured";
  }
  return baseline;
}

}  // namespace

BaselineStage::BaselineStage(const BridgeEnvironment& environment, const std::filesystem::path& bundle,
                             const domain::DeviceInfo& device, double budgetSeconds, QObject* parent)
    : QObject(parent), m_call(environment, argumentsFor(bundle, device, budgetSeconds), kBaselineLimit) {
  connect(&m_call, &BridgeCall::finished, this, [this](const Result<nlohmann::json>& document) {
    Q_EMIT finished(document ? baselinesFromJson(*document) : Result<std::vector<domain::Baseline>>(document.error()));
  });
}

Result<std::vector<domain::Baseline>> baselinesFromJson(const nlohmann::json& document) {
  const auto modes = document.find("modes");
  if (modes == document.end() || !modes->is_object()) {
    return Error(ErrorKind::Protocol, "the bridge's baseline document has no 'modes'");
  }
  std::vector<domain::Baseline> baselines;
  for (const auto& [mode, value] : modes->items()) {
    if (!value.is_object()) {
      return Error(ErrorKind::Protocol, fmt::format("the bridge's baseline '{}' is not an object", mode));
    }
    baselines.push_back(baselineOf(mode, value));
  }
  return baselines;
}

domain::Baseline eagerBaseline(const wire::TaskReady& task) {
  domain::Baseline baseline;
  baseline.mode = "eager";
  baseline.timing = task.eager;
  for (const domain::OutputError& error : task.eagerErrors) {
    baseline.relativeL2 = std::max(baseline.relativeL2, error.relativeL2);
    baseline.maxAbsolute = std::max(baseline.maxAbsolute, error.maxAbsolute);
  }
  if (baseline.timing.medianNs <= 0.0) {
    baseline.failure = "no time was measured";
  }
  return baseline;
}

std::vector<domain::Baseline> merged(const domain::Baseline& eager, std::vector<domain::Baseline> measured) {
  const auto python =
      std::find_if(measured.begin(), measured.end(), [](const domain::Baseline& b) { return b.mode == "eager"; });
  if (python == measured.end()) {
    measured.insert(measured.begin(), eager);
  } else if (eager.failure.empty() && (!python->failure.empty() || eager.timing.medianNs < python->timing.medianNs)) {
    *python = eager;
  }
  return measured;
}

}  // namespace swage::engine
