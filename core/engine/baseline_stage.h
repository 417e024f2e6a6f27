// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/domain/baseline.h"
#include "core/domain/device_info.h"
#include "core/engine/bridge_call.h"
#include "core/wire/messages.h"

namespace swage::engine {

// Measures how fast PyTorch itself runs a task, before anything else is timed on that device. Emits finished() exactly
// once. A mode that does not work is a Baseline with a failure; an Error means that nothing was measured.
class BaselineStage : public QObject {
  Q_OBJECT

 public:
  BaselineStage(const BridgeEnvironment& environment, const std::filesystem::path& bundle,
                const domain::DeviceInfo& device, double budgetSeconds, QObject* parent = nullptr);

  void start() { m_call.start(); }
  void cancel() { m_call.cancel(); }

 Q_SIGNALS:
  void finished(const swage::Result<std::vector<swage::domain::Baseline>>& baselines);

 private:
  BridgeCall m_call;
};

[[nodiscard]] Result<std::vector<domain::Baseline>> baselinesFromJson(const nlohmann::json& document);
// Eager as the worker measured it, through libtorch.
[[nodiscard]] domain::Baseline eagerBaseline(const wire::TaskReady& task);
// Eager was measured twice, by the worker without Python and by Python: the faster one stands.
[[nodiscard]] std::vector<domain::Baseline> merged(const domain::Baseline& eager,
                                                   std::vector<domain::Baseline> measured);

}  // namespace swage::engine
