// SPDX-License-Identifier: Apache-2.0
#include "core/domain/device_info.h"

namespace swage::domain {
namespace {

constexpr int kTensorCores = 70;       // first compute capability with matrix instructions
constexpr int kAsynchronousCopy = 80;  // first compute capability with cp.async

}  // namespace

// What the axes mean on a CPU. Data movement: A0 scalar loads, A1 SIMD loads, A2 blocking through a tile on the stack
// or in scratch memory, A3 software prefetch or non-temporal stores. Arithmetic: B0 scalar, B1 SIMD or packed FMA,
// B2 a matrix unit (AMX). Decomposition: C0 several launches, C1 one launch of independent chunks, C2 threads that
// meet in a reduction, a barrier or atomics. Only the matrix unit is missing on some CPUs.
bool isReachable(const Cell& cell, const DeviceInfo& device) {
  const bool needsMatrixUnit = cell.arithmetic == Arithmetic::TensorCore;
  if (device.kind == DeviceKind::Cpu) {
    return !needsMatrixUnit || device.architecture.find("amx") != std::string::npos;
  }
  if (needsMatrixUnit && device.computeCapability < kTensorCores) {
    return false;
  }
  return cell.movement != DataMovement::Pipelined || device.computeCapability >= kAsynchronousCopy;
}

}  // namespace swage::domain
