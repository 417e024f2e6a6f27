// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/domain/device_kind.h"
#include "core/process/bridge_call.h"

namespace swage::process {

enum class DriverState : std::uint8_t { Absent, Loaded };
// Whether the kernel module of NVIDIA's driver is there. Says nothing about whether a device works.
[[nodiscard]] DriverState nvidiaDriver();

// "auto" becomes cuda when PyTorch sees a device, else cpu. Emits finished() exactly once.
class TargetChoice : public QObject {
  Q_OBJECT

 public:
  TargetChoice(BridgeEnvironment environment, std::string wanted, DriverState driver, QObject* parent = nullptr);

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<swage::domain::DeviceKind>& target);

 private:
  void handleProbe(const Result<nlohmann::json>& document);

  BridgeEnvironment m_environment;
  std::string m_wanted;
  DriverState m_driver;
  std::unique_ptr<BridgeCall> m_call;
};

}  // namespace swage::process
