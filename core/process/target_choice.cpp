// SPDX-License-Identifier: Apache-2.0
#include "core/process/target_choice.h"

#include <QTimer>

#include <filesystem>

#include <fmt/format.h>

namespace swage::process {
namespace {

constexpr std::chrono::minutes kProbeLimit{2};

Result<domain::DeviceKind> targetFrom(const Result<nlohmann::json>& document) {
  if (!document) {
    return document.error();
  }
  const auto torch = document->find("torch");
  if (torch == document->end() || !torch->is_object()) {
    return Error(ErrorKind::Protocol, "the bridge's probe document has no 'torch'");
  }
  const auto devices = torch->find("devices");
  return devices != torch->end() && devices->is_array() && !devices->empty() ? domain::DeviceKind::Cuda
                                                                             : domain::DeviceKind::Cpu;
}

}  // namespace

DriverState nvidiaDriver() {
  std::error_code ignored;
  const bool present = std::filesystem::exists("/proc/driver/nvidia/version", ignored) ||
                       std::filesystem::exists("/dev/nvidiactl", ignored);
  return present ? DriverState::Loaded : DriverState::Absent;
}

TargetChoice::TargetChoice(BridgeEnvironment environment, std::string wanted, DriverState driver, QObject* parent)
    : QObject(parent), m_environment(std::move(environment)), m_wanted(std::move(wanted)), m_driver(driver) {}

void TargetChoice::start() {
  Result<domain::DeviceKind> known = domain::DeviceKind::Cpu;
  if (m_wanted == "auto") {
    if (m_driver == DriverState::Loaded) {
      m_call = std::make_unique<BridgeCall>(m_environment, std::vector<std::string>{"probe"}, kProbeLimit);
      connect(m_call.get(), &BridgeCall::finished, this, &TargetChoice::handleProbe);
      m_call->start();
      return;
    }
  } else if (const auto target = domain::parseDeviceKind(m_wanted)) {
    known = *target;
    if (*target == domain::DeviceKind::Cuda && m_driver == DriverState::Absent) {
      known = Error(ErrorKind::Environment, "the target cuda needs an NVIDIA driver, and none is loaded",
                    "use --target cpu, or install the driver");
    }
  } else {
    known = Error(ErrorKind::Usage, fmt::format("'{}' is not a target", m_wanted), "use cpu, cuda or auto");
  }
  QTimer::singleShot(0, this, [this, known] { Q_EMIT finished(known); });
}

void TargetChoice::cancel() {
  if (m_call) {
    m_call->cancel();
  }
}

void TargetChoice::handleProbe(const Result<nlohmann::json>& document) {
  Q_EMIT finished(targetFrom(document));
}

}  // namespace swage::process
