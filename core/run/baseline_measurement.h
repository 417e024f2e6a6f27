// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/baseline.h"
#include "core/domain/device_info.h"
#include "core/domain/graph.h"
#include "core/process/bridge_call.h"
#include "core/services/types.h"
#include "core/wire/messages.h"

namespace swage::run {

// Measures how fast PyTorch itself runs a task, before anything else is timed on that device. max-autotune compiles for
// minutes, so it has a call and a limit of its own and cannot take the other modes with it. Emits finished() exactly
// once. A mode that does not work is a Baseline with a failure; an Error means that nothing was measured.
class BaselineMeasurement : public QObject {
  Q_OBJECT

 public:
  struct Options {
    process::BridgeEnvironment environment;
    std::filesystem::path bundle;
    domain::DeviceInfo device;
    double budgetSeconds = 10.0;     // of timing, for each call
    std::vector<std::string> modes;  // "eager", "compile", "max-autotune"
    std::chrono::seconds autotuneLimit{600};
  };
  explicit BaselineMeasurement(Options options, QObject* parent = nullptr);

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<std::vector<swage::domain::Baseline>>& baselines);

 private:
  void call(const std::vector<std::string>& modes, std::chrono::milliseconds limit,
            void (BaselineMeasurement::*handle)(const Result<nlohmann::json>&));
  void handleModes(const Result<nlohmann::json>& document);
  void tune();
  void handleTuned(const Result<nlohmann::json>& document);

  Options m_options;
  std::vector<domain::Baseline> m_measured;
  std::unique_ptr<process::BridgeCall> m_call;
};

inline constexpr std::string_view kAutotuneMode = "max-autotune";

// What a run measures when nothing was chosen: see services::RunSpec::baselines.
[[nodiscard]] std::vector<std::string> baselineModes(const services::RunSpec& spec);

[[nodiscard]] Result<std::vector<domain::Baseline>> baselinesFromJson(const nlohmann::json& document);
// Eager as the worker measured it, through libtorch. Its accuracy class is only a guess from its error: what eager does
// without TF32, which the class is defined by, is known to the bridge.
[[nodiscard]] domain::Baseline eagerBaseline(const wire::TaskReady& task, const domain::Graph& graph,
                                             std::string_view torchVersion);
// "2.11.0" of "2.11.0+cu130": the build for a device does not make it another version.
[[nodiscard]] std::string plainVersion(std::string_view torchVersion);
// Eager was measured twice, by the worker without Python and by Python. The others were measured in turns with
// Python's, so that one stands where there is one.
[[nodiscard]] std::vector<domain::Baseline> merged(const domain::Baseline& eager,
                                                   std::vector<domain::Baseline> measured);

}  // namespace swage::run
