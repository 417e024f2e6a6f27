// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/loop_estimates.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/cuda_loops.h"

namespace swage::synth::cuda {
namespace {

constexpr double kReached = 0.9;   // of the rate of a copy, with wide vectors
constexpr double kSector = 32.0;   // bytes that come from memory at least
constexpr double kLatency = 7e-7;  // seconds until memory answers
constexpr double kAgain = 2.5e-7;  // and a cache
constexpr double kOfBlock = 4e-7;  // that a block takes to begin and to end
// Until a multiprocessor may get another block: 4.2 million blocks of one warp took 1.28 ms longer than half as many of
// two on an H200.
constexpr double kStart = 8e-8;
constexpr double kCacheRate = 2.0;  // of the second-level cache, against memory
constexpr double kCacheUsed = 0.5;  // of it, before what was read is gone

struct Traffic {
  double read = 0.0;  // bytes, each element once
  double written = 0.0;
};

// Elements that are read at all; windows that overlap read theirs once.
double elementsOf(const Region& region, const Operand& operand) {
  double elements = 1.0;
  double span = 1.0;
  for (std::size_t axis = 0; axis < operand.strides.size(); ++axis) {
    if (operand.strides[axis] != 0) {
      elements *= static_cast<double>(region.axes[axis].extent);
      span += static_cast<double>(std::abs(operand.strides[axis]) * (region.axes[axis].extent - 1));
    }
  }
  elements = std::min(elements, span);
  for (const Bound& bound : operand.bounds) {
    elements *= static_cast<double>(bound.extent);
  }
  return elements;
}

// Elements that are far apart along the axis of neighbouring threads come with what lies between them.
double sectorShare(const Operand& operand, std::size_t axis) {
  std::int64_t apart = axis < operand.strides.size() ? std::abs(operand.strides[axis]) : 0;
  for (const Bound& bound : operand.bounds) {
    const std::int64_t factor = axis < bound.factors.size() ? bound.factors[axis] : 0;
    apart = std::max(apart, std::abs(factor * bound.stride) / std::max<std::int64_t>(1, bound.divisor));
  }
  return std::clamp(static_cast<double>(apart), 1.0, kSector / static_cast<double>(domain::byteSize(operand.dtype)));
}

// The innermost axis; of results alone where threads have one each.
std::size_t innermost(const Region& region, bool ofResults) {
  std::size_t axis = region.axes.size();
  while (axis > 0 && ofResults && region.axes[axis - 1].isFolded()) {
    --axis;
  }
  return axis > 0 ? axis - 1 : 0;
}

Traffic trafficOf(const Region& region, bool ofResults = false) {
  Traffic traffic;
  const std::size_t axis = innermost(region, ofResults);
  for (const Operand& operand : region.operands) {
    const double bytes =
        elementsOf(region, operand) * static_cast<double>(domain::byteSize(operand.dtype)) * sectorShare(operand, axis);
    (operand.output ? traffic.written : traffic.read) += bytes;
  }
  return traffic;
}

double positionsOf(const Region& region) {
  return static_cast<double>(region.groupCount()) * static_cast<double>(region.reducedCount());
}

// Short vectors leave more instructions and fewer bytes under way.
double reachedWith(std::int64_t bytes) {
  return kReached * (bytes >= 16 ? 1.0 : bytes >= 8 ? 0.95 : 0.85);
}

// A cluster that keeps its group on the chip waits for all of it before it stores any of it: only other clusters use
// the memory meanwhile. Narrow loads need more threads to keep as much on its way. Fitted to rows of 0.25 to 1.5 MB on
// an H200.
double stretchOfClusters(const GroupWork& work, std::int64_t places, std::int64_t vectorBytes) {
  if (!work.isKept || work.isPersistent || work.blocksOfGroup == 1) {
    return 1.0;
  }
  const double blocks = std::min(static_cast<double>(places), 8.0);
  const double threads = std::min(1.0, blocks * static_cast<double>(work.threads) / 2048.0);
  return (1.0 + 0.45 / blocks) * (vectorBytes < 16 ? 1.0 + 0.6 * (1.0 - threads) : 1.0);
}

// The larger of what is waited for at the same time, and a part of the other: they are never quite beside each other.
double together(double a, double b) {
  return std::max(a, b) + 0.15 * std::min(a, b);
}

}  // namespace

std::int64_t narrowestBytes(const Region& region) {
  std::int64_t narrowest = 16;
  for (const Operand& operand : region.operands) {
    narrowest = std::min(narrowest, static_cast<std::int64_t>(domain::byteSize(operand.dtype)));
  }
  return narrowest;
}

double secondsOfGroups(const Instance& instance, const GroupWork& work) {
  const Region& region = instance.region;
  const DeviceRates device = DeviceRates::of(instance.device);
  const Traffic traffic = trafficOf(region);
  const int stages = std::max(1, region.stageCount() - (instance.value("fused") != 0 ? 1 : 0));
  const double passes = work.isKept ? 1.0 : static_cast<double>(stages) + (region.elementStores.empty() ? 0.0 : 1.0);
  const std::int64_t places =
      std::max<std::int64_t>(1, blocksAtOnce(device, work.threads, work.registers, work.sharedBytes));
  const double running = static_cast<double>(
      std::min(work.blocks * std::max<std::int64_t>(1, work.blocksOfGroup), places * device.multiprocessors));
  const double ofGroup = traffic.read / static_cast<double>(std::max<std::int64_t>(1, region.groupCount()));
  const double underWork = running / static_cast<double>(std::max<std::int64_t>(1, work.blocksOfGroup)) * ofGroup;
  const bool isCached = underWork < kCacheUsed * static_cast<double>(instance.device.cacheBytes);
  const double again = (passes - 1.0) * (isCached ? 1.0 / kCacheRate : 1.0);
  const std::int64_t vectorBytes = instance.value("vector_width", 1) * narrowestBytes(region);
  const double memory = (traffic.read * (1.0 + again) + traffic.written) /
                        (device.bytesPerSecond * reachedWith(vectorBytes)) * work.stretch *
                        stretchOfClusters(work, places, vectorBytes);
  const auto trips = static_cast<double>(divideUp(work.steps, std::max<std::int64_t>(1, work.atOnce)));
  const double ofBlock = kOfBlock + static_cast<double>(stages) * work.meeting +
                         trips * (kLatency + (passes - 1.0) * (isCached ? kAgain : kLatency));
  const double rounds = std::ceil(static_cast<double>(work.blocks * std::max<std::int64_t>(1, work.blocksOfGroup)) /
                                  static_cast<double>(places * device.multiprocessors));
  const double starts =  // one after another
      kStart * static_cast<double>(work.blocks) /
      static_cast<double>(std::max<std::int64_t>(1, device.multiprocessors));
  const double waits = work.isPersistent ? 0.0 : std::max(rounds * ofBlock, starts);
  return device.launchSeconds + together(std::max(memory, secondsOfPrims(region, device) * passes), waits) + work.idle;
}

double secondsOfMap(const Instance& instance) {
  const Region& region = instance.region;
  const DeviceRates device = DeviceRates::of(instance.device);
  const Traffic traffic = trafficOf(region);
  const std::int64_t vectorBytes = instance.value("vector_width", 1) * narrowestBytes(region);
  const double memory = (traffic.read + traffic.written) / (device.bytesPerSecond * reachedWith(vectorBytes));
  // Long ways to addresses that are not those of neighbours.
  constexpr double kPlacing = 20.0;
  const double places =
      region.hasBounds()
          ? kPlacing * positionsOf(region) / static_cast<double>(instance.value("vector_width", 1)) /
                (device.each.floatAdds * static_cast<double>(device.multiprocessors) * device.cyclesPerSecond)
          : 0.0;
  return device.launchSeconds + together(memory, secondsOfPrims(region, device) + places);
}

double secondsOfPlainFolds(const Instance& instance, std::int64_t results, double shared) {
  constexpr double kPerElement = 10.0;  // instructions: address, edges, load, fold
  const Region& region = instance.region;
  const DeviceRates device = DeviceRates::of(instance.device);
  const Traffic traffic = trafficOf(region, true);
  const double elements = static_cast<double>(results) * static_cast<double>(region.reducedCount());
  double lines = 0.0;  // of the first-level cache, that warps ask for
  for (const Operand& operand : region.operands) {
    lines += operand.output
                 ? 0.0
                 : elements / static_cast<double>(kWarp) * shared * sectorShare(operand, innermost(region, true));
  }
  const double rate = static_cast<double>(device.multiprocessors) * device.cyclesPerSecond;
  const double issue = elements * kPerElement * (0.5 + 0.5 * shared) / (device.each.floatAdds * rate);
  const double memory = (traffic.read + traffic.written) / (device.bytesPerSecond * reachedWith(4));
  return device.launchSeconds + together(memory, std::max(issue, lines / rate) + secondsOfPrims(region, device));
}

}  // namespace swage::synth::cuda
