// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/device_info.h"

namespace swage::services {

// One device of this machine, as a search would find it.
struct DeviceStatus {
  enum class State : std::uint8_t { Usable, InUse, Unusable };
  domain::DeviceInfo info;  // copyBytesPerSecond is not measured
  State state = State::Usable;
  bool isSeenByTorch = false;
  std::string detail;  // why it is not usable, or who uses it
  std::string hint;    // what to do about it
};
[[nodiscard]] std::string_view name(DeviceStatus::State state);  // "usable", "in use"

// "0,2" or "GPU-8e3c…": GPUs by their numbers or UUIDs, one word each. Kind Usage for anything else.
[[nodiscard]] Result<std::vector<std::string>> parseDevices(std::string_view text);
// The number in such a word; no value: it is a UUID.
[[nodiscard]] std::optional<int> deviceNumber(std::string_view word);

struct DeviceReport {
  std::vector<DeviceStatus> devices;  // the CPU, then the GPUs by their numbers
  std::string torchVersion;           // empty: there is none, see torchDetail
  std::string torchCuda;              // version of CUDA it is built for; empty: none
  std::string torchDetail;
  std::string cudaDetail;  // why no GPU can be asked; empty: they were
  std::string cudaHint;
};

// Finds out what devices there are, without using one of them. Asynchronous: Python alone takes seconds to start.
class DevicesService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  // Ends with exactly one finished(). Again when that has come.
  virtual void start() = 0;

 Q_SIGNALS:
  void finished(const swage::Result<swage::services::DeviceReport>& report);
};

}  // namespace swage::services
