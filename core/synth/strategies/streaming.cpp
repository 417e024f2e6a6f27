// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/streaming.h"

#include <algorithm>

#include "core/synth/cost_model.h"

namespace swage::synth {

double bytesMoved(const Region& region) {
  double bytes = 0.0;
  for (const Operand& operand : region.operands) {
    double elements = 1.0;
    for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
      elements *= operand.walksAlong(axis) ? static_cast<double>(region.axes[axis].extent) : 1.0;
    }
    bytes += elements * static_cast<double>(domain::byteSize(operand.dtype));
  }
  return bytes;
}

double secondsOfStream(const domain::DeviceInfo& device, const Stream& stream) {
  constexpr double kLatency = 9e-7;  // seconds that a load takes while memory is busy
  constexpr double kLoading = 0.5;   // of the time of a block
  const DeviceRates rates = DeviceRates::of(device);
  const std::int64_t places = std::max<std::int64_t>(1, blocksAtOnce(rates, stream.threads, stream.registers, 4096));
  const auto running = static_cast<double>(std::min(stream.blocks, places * rates.multiprocessors));
  const double underWay = running * static_cast<double>(stream.threads * stream.bytes) * kLoading;
  const double reached = std::min(0.92, underWay / kLatency / rates.bytesPerSecond);
  // Threads that wait for each other more often, or in greater numbers, leave more gaps.
  const double gaps = 1.0 + 0.01 * static_cast<double>(stream.threads) / 256.0;
  return secondsOfPass(rates, stream.moved * gaps, reached);
}

}  // namespace swage::synth
