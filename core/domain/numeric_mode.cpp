// SPDX-License-Identifier: Apache-2.0
#include "core/domain/numeric_mode.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/assert.h"

namespace swage::domain {
namespace {

constexpr std::array<std::string_view, 7> kNames{
    "native", "fp16x3", "bf16x6", "fp16 scaled", "tf32 inputs", "tf32", "fp16 scaled (ties away)"};

}  // namespace

std::string_view name(NumericMode mode) {
  const auto index = static_cast<std::size_t>(mode);
  SWAGE_ASSERT(index < kNames.size());
  return kNames[index];
}

std::optional<NumericMode> numericMode(const RegionGene& gene) {
  const auto found = gene.parameters.find("mode");
  const bool isKnown =
      found != gene.parameters.end() && found->second >= 0 && found->second < static_cast<std::int64_t>(kNames.size());
  return isKnown ? std::optional(static_cast<NumericMode>(found->second)) : std::nullopt;
}

std::string numericModes(const Genome& genome) {
  std::set<std::string_view> names;
  for (const RegionGene& gene : genome.regions) {
    if (const auto mode = numericMode(gene); mode && *mode != NumericMode::Native) {
      names.insert(name(*mode));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace swage::domain
