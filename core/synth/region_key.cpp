// SPDX-License-Identifier: Apache-2.0
#include "core/synth/region_key.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swage::synth {
namespace {

using Places = std::map<domain::ValueId, std::size_t>;

void add(const Operand& operand, Places& places, std::string& key) {
  // A tensor that is read in two ways differs from two tensors.
  const std::size_t place = places.try_emplace(operand.value, places.size()).first->second;
  key += fmt::format("t{} {} [{}] {} {} {}", place, static_cast<int>(operand.dtype), fmt::join(operand.strides, ","),
                     operand.output, operand.offset, operand.fill);
  for (const Bound& bound : operand.bounds) {
    key += fmt::format("({};{};{};{};{})", fmt::join(bound.factors, ","), bound.offset, bound.divisor, bound.extent,
                       bound.stride);
  }
  key += '\n';
}

std::string textOf(const Placed& placed) {
  return fmt::format("{}[{}]{}", placed.operand, fmt::join(placed.steps, ","), placed.offset);
}

void add(const Recurrence& recurrence, std::string& key) {
  key += fmt::format("recurrence {} {} {} {}\n", static_cast<int>(recurrence.cell), recurrence.steps, recurrence.batch,
                     recurrence.units);
  for (const RecurrentLayer& layer : recurrence.layers) {
    key += fmt::format("layer {} {} {} {} {} {} {} {} {} {} {}\n", textOf(layer.products), layer.inputWeight,
                       layer.inputBias, layer.hiddenWeight, layer.hiddenBias, textOf(layer.initial),
                       textOf(layer.initialCell), textOf(layer.result), textOf(layer.last), textOf(layer.lastCell),
                       layer.isReversed);
  }
}

}  // namespace

std::string keyOf(const Region& region) {
  std::string key = fmt::format("{} {}\n", region.mayRound, region.roundsTiesAway);
  for (const Axis& axis : region.axes) {
    key += fmt::format("a{} {} {}\n", axis.extent, static_cast<int>(axis.role), axis.isFoldedLater);
  }
  Places places;
  for (const Operand& operand : region.operands) {
    add(operand, places, key);
  }
  for (const Prim& prim : region.prims) {
    key += fmt::format("p{} {} {} [{}] {} {} {} {} {}\n", static_cast<int>(prim.kind), static_cast<int>(prim.type),
                       prim.function, fmt::join(prim.args, ","), prim.operand, prim.fold, prim.slot, prim.axis,
                       prim.number);
  }
  for (const Fold& fold : region.folds) {
    key += fmt::format("f{} {} {} {} {} {} {}\n", static_cast<int>(fold.kind), fold.input, fold.stage, fold.count,
                       fold.running, fold.inner, fold.later);
  }
  for (const auto* stores : {&region.elementStores, &region.groupStores}) {
    for (const Store& store : *stores) {
      key += fmt::format("s{} {};", store.operand, store.prim);
    }
    key += '\n';
  }
  if (region.recurrence) {
    add(*region.recurrence, key);
  }
  return key;
}

}  // namespace swage::synth
