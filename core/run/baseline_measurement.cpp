// SPDX-License-Identifier: Apache-2.0
#include "core/run/baseline_measurement.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/domain/json_reader.h"

namespace swage::run {
namespace {

constexpr std::chrono::minutes kBaselineLimit{20};  // torch.compile of a large model compiles for minutes
constexpr double kAutotuneBudgetSeconds = 300.0;    // of search, from which on its minutes are worth it
// Between the errors of float32 and of TF32 products: 1e-6 and 3e-4; and above those of TF32.
constexpr double kLargestFp32Error = 2e-5;
constexpr double kLargestTf32Error = 1e-3;

std::vector<std::string> argumentsFor(const BaselineMeasurement::Options& options,
                                      const std::vector<std::string>& modes) {
  std::vector<std::string> arguments = {"baseline", options.bundle.string(), "--device"};
  if (options.device.kind == domain::DeviceKind::Cuda) {
    arguments.push_back(fmt::format("cuda:{}", options.device.ordinal));
  } else {
    arguments.insert(arguments.end(), {"cpu", "--threads", std::to_string(std::max(1, options.device.threads))});
  }
  arguments.insert(arguments.end(), {"--modes", fmt::format("{}", fmt::join(modes, ",")), "--time-budget",
                                     fmt::format("{:.1f}", options.budgetSeconds)});
  return arguments;
}

double number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

std::string text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

domain::Baseline baselineOf(const std::string& mode, const nlohmann::json& object) {
  domain::Baseline baseline;
  baseline.mode = mode;
  baseline.timing.medianNs = number(object, "median_ns");
  baseline.timing.lowNs = number(object, "low_ns");
  baseline.timing.highNs = number(object, "high_ns");
  baseline.timing.minNs = number(object, "min_ns");
  baseline.timing.clock = text(object, "clock");
  baseline.timing.stopReason = text(object, "stop_reason");
  baseline.accuracy = domain::parseAccuracyClass(text(object, "accuracy")).value_or(domain::AccuracyClass::Fp32);
  baseline.timing.samples = static_cast<int>(number(object, "samples"));
  baseline.timing.repeated = static_cast<int>(number(object, "repeated"));
  if (const auto conditions = object.find("conditions"); conditions != object.end()) {
    baseline.timing.conditions =
        domain::readJson(*conditions, "conditions", domain::readDeviceConditions).value_or(domain::DeviceConditions());
  }
  baseline.eagerSpeedup = {number(object, "eager_speedup"), number(object, "eager_speedup_low"),
                           number(object, "eager_speedup_high")};
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

BaselineMeasurement::BaselineMeasurement(Options options, QObject* parent)
    : QObject(parent), m_options(std::move(options)) {}

void BaselineMeasurement::call(const std::vector<std::string>& modes, std::chrono::milliseconds limit,
                               void (BaselineMeasurement::*handle)(const Result<nlohmann::json>&)) {
  m_call = std::make_unique<process::BridgeCall>(m_options.environment, argumentsFor(m_options, modes), limit);
  connect(m_call.get(), &process::BridgeCall::finished, this, [this, handle](const Result<nlohmann::json>& document) {
    m_call.release()->deleteLater();
    (this->*handle)(document);
  });
  m_call->start();
}

void BaselineMeasurement::start() {
  std::vector<std::string> modes = m_options.modes;
  std::erase(modes, kAutotuneMode);
  if (modes.empty()) {
    tune();
  } else {
    call(modes, kBaselineLimit, &BaselineMeasurement::handleModes);
  }
}

void BaselineMeasurement::cancel() {
  if (m_call) {
    m_call->cancel();
  }
}

void BaselineMeasurement::handleModes(const Result<nlohmann::json>& document) {
  auto measured = document ? baselinesFromJson(*document) : Result<std::vector<domain::Baseline>>(document.error());
  const bool tunes = std::find(m_options.modes.begin(), m_options.modes.end(), kAutotuneMode) != m_options.modes.end();
  if (!measured || !tunes) {
    Q_EMIT finished(measured);
    return;
  }
  m_measured = std::move(*measured);
  tune();
}

// Beside eager, so that it is measured in turns with something here as well.
void BaselineMeasurement::tune() {
  call({"eager", std::string(kAutotuneMode)}, m_options.autotuneLimit, &BaselineMeasurement::handleTuned);
}

void BaselineMeasurement::handleTuned(const Result<nlohmann::json>& document) {
  const auto tuned = document ? baselinesFromJson(*document) : Result<std::vector<domain::Baseline>>(document.error());
  if (!tuned) {
    domain::Baseline failed;
    failed.mode = kAutotuneMode;
    failed.failure = tuned.error().message();
    m_measured.push_back(std::move(failed));
  } else {
    for (const domain::Baseline& baseline : *tuned) {
      const bool isKnown = std::any_of(m_measured.begin(), m_measured.end(),
                                       [&](const domain::Baseline& known) { return known.mode == baseline.mode; });
      if (!isKnown) {
        m_measured.push_back(baseline);
      }
    }
  }
  Q_EMIT finished(std::move(m_measured));
}

std::vector<std::string> baselineModes(const services::RunSpec& spec) {
  if (!spec.baselines.empty()) {
    return spec.baselines;
  }
  if (!spec.compileBaselines) {
    return {"eager"};
  }
  std::vector<std::string> modes = {"eager", "compile"};
  if (spec.timeBudgetSeconds >= kAutotuneBudgetSeconds) {
    modes.emplace_back(kAutotuneMode);
  }
  return modes;
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
    baselines.back().torchVersion = plainVersion(text(document, "torch_version"));
  }
  return baselines;
}

std::string plainVersion(std::string_view torchVersion) {
  return std::string(torchVersion.substr(0, torchVersion.find('+')));
}

domain::Baseline eagerBaseline(const wire::TaskReady& task, const domain::Graph& graph, std::string_view torchVersion) {
  domain::Baseline baseline;
  baseline.mode = "eager";
  baseline.timing = task.eager;
  baseline.torchVersion = plainVersion(torchVersion);
  for (const domain::OutputError& error : task.eagerErrors) {
    baseline.relativeL2 = std::max(baseline.relativeL2, error.relativeL2);
    baseline.maxAbsolute = std::max(baseline.maxAbsolute, error.maxAbsolute);
  }
  const bool isHalf = std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](const domain::GraphOutput& output) {
    const domain::ScalarType type = graph.type(output.value).dtype;
    return type == domain::ScalarType::Float16 || type == domain::ScalarType::BFloat16;
  });
  if (isHalf || baseline.relativeL2 > kLargestTf32Error) {
    baseline.accuracy = domain::AccuracyClass::Half;
  } else if (baseline.relativeL2 > kLargestFp32Error) {
    baseline.accuracy = domain::AccuracyClass::Tf32;
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
  } else if (!python->failure.empty() && eager.failure.empty()) {
    *python = eager;
  }
  return measured;
}

}  // namespace swage::run
