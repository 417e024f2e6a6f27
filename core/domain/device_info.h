// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/domain/cell.h"
#include "core/domain/device_kind.h"

namespace swage::domain {

// One device as its worker sees it. Named by (host, uuid) so that records of several machines do not mix.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::Cpu;
  std::string host;
  std::string uuid;
  std::string name;          // "NVIDIA H200", "AMD EPYC …"
  std::string architecture;  // "sm_90a", "x86-64-v4"
  std::string driverVersion;
  int ordinal = 0;
  int multiprocessors = 0;  // SMs, or cores
  int threads = 1;          // OpenMP threads of a cpu device
  std::int64_t memoryBytes = 0;
  std::int64_t cacheBytes = 0;           // L2 of a GPU, last level of a CPU
  std::int64_t sharedBytesPerBlock = 0;  // opt-in limit
  int computeCapability = 0;             // 90 for sm_90; 0 on a CPU
  double copyBytesPerSecond = 0.0;       // measured, read plus written; 0 = not measured
};

// The cells this device can reach at all; the others are drawn as unavailable.
[[nodiscard]] bool isReachable(const Cell& cell, const DeviceInfo& device);

}  // namespace swage::domain
