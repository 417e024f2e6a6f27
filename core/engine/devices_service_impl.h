// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/process/bridge_call.h"
#include "core/process/child_process.h"
#include "core/process/locations.h"
#include "core/services/devices_service.h"

namespace swage::engine {

// Asks the worker program which devices there are, Python which of them PyTorch sees, and the locks which are in use.
class DevicesServiceImpl final : public services::DevicesService {
  Q_OBJECT

 public:
  explicit DevicesServiceImpl(process::Locations locations, QObject* parent = nullptr);
  ~DevicesServiceImpl() override;
  void start() override;

 private:
  void handleList(const process::ChildEnd& end);
  void handleProbe(const Result<nlohmann::json>& document);

  process::Locations m_locations;
  QByteArray m_output;
  services::DeviceReport m_report;
  std::unique_ptr<process::ChildProcess> m_child;
  std::unique_ptr<process::BridgeCall> m_probe;
};

// What `swage-worker --list` printed.
[[nodiscard]] Result<services::DeviceReport> reportFromList(std::string_view text);
// The numbers of GPUs given by number or by UUID, of which the beginning is enough. NotFound: no GPU has it.
[[nodiscard]] Result<std::vector<int>> numbersOf(const std::vector<std::string>& devices,
                                                 const services::DeviceReport& report);
// The same; asks swage-worker for the list, and waits for it, only if there is a UUID among them.
[[nodiscard]] Result<std::vector<int>> findDevices(const process::Locations& locations,
                                                   const std::vector<std::string>& devices);
// Adds what the bridge's probe said.
void addTorch(services::DeviceReport& report, const Result<nlohmann::json>& document);

}  // namespace swage::engine
