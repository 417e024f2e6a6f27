// SPDX-License-Identifier: Apache-2.0
#include "core/domain/pattern_entry.h"

#include <array>
#include <utility>

namespace swage::domain {
namespace {

constexpr std::array<std::pair<PatternOrigin, std::string_view>, 6> kOrigins{
    {{PatternOrigin::Catalogue, "catalogue"},
     {PatternOrigin::Record, "record"},
     {PatternOrigin::Triton, "triton"},
     {PatternOrigin::Inductor, "inductor"},
     {PatternOrigin::Cutlass, "cutlass"},
     {PatternOrigin::DataSheet, "data sheet"}}};

}  // namespace

std::string_view name(PatternOrigin origin) {
  for (const auto& [known, text] : kOrigins) {
    if (known == origin) {
      return text;
    }
  }
  return "unknown";
}

std::optional<PatternOrigin> parsePatternOrigin(std::string_view text) {
  for (const auto& [origin, known] : kOrigins) {
    if (known == text) {
      return origin;
    }
  }
  return std::nullopt;
}

}  // namespace swage::domain
