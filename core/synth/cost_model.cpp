// SPDX-License-Identifier: Apache-2.0
#include "core/synth/cost_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace swage::synth {
namespace {

constexpr std::int64_t kRegisters = 65536;  // of a multiprocessor
constexpr std::int64_t kThreads = 2048;
constexpr double kGuessedBytes = 2e10;  // a second, for each multiprocessor of a device that was not measured

// As nvcc writes them for floats, about.
double instructionsOf(const Prim& prim) {
  static const std::map<std::string_view, double> many{
      {"exp", 8.0},  {"log", 14.0},   {"tanh", 16.0},    {"erf", 18.0},   {"sin", 25.0},
      {"cos", 25.0}, {"log1p", 16.0}, {"expm1", 16.0},   {"sqrt", 8.0},   {"pow", 45.0},
      {"div", 10.0}, {"rsqrt", 5.0},  {"sigmoid", 14.0}, {"inverse", 2.0}};
  const auto found = many.find(prim.function);
  return (found == many.end() ? 1.0 : found->second) * (prim.type == Compute::F64 ? 32.0 : 1.0);
}

}  // namespace

// The rates are those of NVIDIA's tuning guides and of the throughput table of the CUDA C++ programming guide.
DeviceRates DeviceRates::of(const domain::DeviceInfo& device) {
  DeviceRates rates;
  rates.multiprocessors = std::max(1, device.multiprocessors);
  rates.bytesPerSecond = device.copyBytesPerSecond > 0.0 ? device.copyBytesPerSecond
                                                         : kGuessedBytes * static_cast<double>(rates.multiprocessors);
  rates.each.sharedSize = device.sharedBytesPerBlock + 1024;
  switch (device.computeCapability) {
    case 80: rates.each.floatAdds = 64.0; [[fallthrough]];
    case 100:
    case 103: rates.each.halfAdds = 1024.0; break;
    case 90:
      rates.each.halfAdds = 1270.0;  // mma.sync reaches 62 % of what wgmma does
      rates.each.warpGroupAdds = 2048.0;
      break;
    default: rates.each.halfAdds = device.computeCapability >= 80 ? 512.0 : 0.0;
  }
  return rates;
}

double secondsOfPrims(const Region& region, const DeviceRates& device) {
  const auto results = static_cast<double>(region.groupCount());
  const double elements = results * static_cast<double>(region.reducedCount());
  const bool isProduct = region.kind() == NestKind::Contract;
  double instructions = 0.0;
  for (const Prim& prim : region.prims) {
    if (prim.kind == Prim::Kind::Call && !(isProduct && prim.perElement)) {
      instructions += instructionsOf(prim) * (prim.perElement ? elements : results);
    }
  }
  return instructions / (device.each.floatAdds * static_cast<double>(device.multiprocessors) * device.cyclesPerSecond);
}

double DeviceRates::memoryBytes() const {
  return bytesPerSecond / cyclesPerSecond / static_cast<double>(multiprocessors);
}

std::int64_t blocksAtOnce(const DeviceRates& device, std::int64_t threads, std::int64_t registers,
                          std::int64_t sharedBytes) {
  std::int64_t most = kThreads / std::max<std::int64_t>(threads, 1);
  most = std::min(most, kRegisters / std::max<std::int64_t>(threads * registers, 1));
  constexpr std::int64_t kReserved = 1024;  // of shared memory, for each block
  return std::min(most, device.each.sharedSize / (sharedBytes + kReserved));
}

double secondsOf(const DeviceRates& device, const BlockWork& work) {
  const auto count = static_cast<double>(work.count);
  const auto places = static_cast<double>(device.multiprocessors);
  const double rounds = work.isSharedEvenly ? count / places : std::ceil(count / places);
  const double memory = work.bytes / device.memoryBytes();
  const double cycles = work.hidesMemory ? std::max(work.cycles, memory) : work.cycles + memory;
  return rounds * cycles / device.cyclesPerSecond;
}

double secondsOfPass(const DeviceRates& device, double bytes, double reached) {
  return device.launchSeconds + bytes / (device.bytesPerSecond * reached);
}

}  // namespace swage::synth
