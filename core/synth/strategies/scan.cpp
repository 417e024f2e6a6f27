// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/scan.h"

#include <algorithm>

#include "core/synth/emit/cuda_elements.h"
#include "core/synth/emit/frame.h"

namespace swage::synth {
namespace {

// What these are made of, without what is folded.
std::vector<int> wholeLoads(const Region& region, const std::vector<int>& roots, std::int64_t width) {
  std::vector<bool> needed(region.prims.size(), false);
  for (const int root : roots) {
    cuda::markNeeded(region, root, needed);
  }
  std::vector<int> loads;
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    const Prim& self = region.prims[prim];
    if (needed[prim] && self.kind == Prim::Kind::Load && self.perElement &&
        cuda::comesTogether(region.operands[static_cast<std::size_t>(self.operand)], width)) {
      loads.push_back(static_cast<int>(prim));
    }
  }
  return loads;
}

}  // namespace

bool isScan(const Region& region) {
  if (region.kind() != NestKind::Scan || region.folds.size() != 1 || axesOf(region, AxisRole::Scan).size() != 1 ||
      !region.groupStores.empty() || region.elementStores.empty()) {
    return false;
  }
  const FoldKind kind = scanOf(region).kind;
  return kind == FoldKind::Sum || kind == FoldKind::Product || kind == FoldKind::Maximum || kind == FoldKind::Minimum;
}

std::size_t scanAxis(const Region& region) {
  return axesOf(region, AxisRole::Scan).front();
}

std::int64_t scanLength(const Region& region) {
  return region.axes[scanAxis(region)].extent;
}

std::int64_t sequencesOf(const Region& region) {
  return positions(region, axesOf(region, AxisRole::Batch));
}

Laid laidOut(Region region) {
  const std::size_t axis = scanAxis(region);
  const Operand& stored = region.operands[static_cast<std::size_t>(region.elementStores.front().operand)];
  if (stored.strides[axis] >= 0 || isAxisNamed(region, axis)) {
    return {std::move(region), Way::Forwards};
  }
  turnAxis(region, axis);
  return {std::move(region), Way::Backwards};
}

void bindRunning(KernelWriter& writer, const Region& region, const std::string& value) {
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    if (region.prims[prim].kind == Prim::Kind::Folded) {
      writer.bind(static_cast<int>(prim), {value});
    }
  }
}

std::vector<int> sharedLoads(const Region& region) {
  std::vector<int> loads;
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    if (region.prims[prim].kind == Prim::Kind::Load && !region.prims[prim].perElement) {
      loads.push_back(static_cast<int>(prim));
    }
  }
  return loads;
}

std::vector<int> scannedLoads(const Region& region, std::int64_t width) {
  return wholeLoads(region, {scanOf(region).input}, width);
}

std::vector<int> storedLoads(const Region& region, std::int64_t width) {
  return wholeLoads(region, storedPrims(region.elementStores), width);
}

std::string Registers::declared(const std::string& name) const {
  return width > 1 ? fmt::format("{}[{}][{}]", name, items, width) : fmt::format("{}[{}]", name, items);
}

std::string Registers::at(const std::string& name, const std::string& item, const std::string& lane) const {
  return width > 1 ? fmt::format("{}[{}][{}]", name, item, lane) : fmt::format("{}[{}]", name, item);
}

}  // namespace swage::synth
