// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/domain/candidate.h"

namespace swage::domain {

// As what a product multiplies its operands: the parameter `mode` of patterns. It is no accuracy class, which is what
// was measured.
enum class NumericMode : std::uint8_t {
  Native,      // as they are; on tensor cores: float16 and bfloat16
  Fp16x3,      // float as two halves; three products, that of the two low parts is left out
  Bf16x6,      // float as three bfloat16; six products
  Fp16,        // float rounded to one half, with a scale for each row and column: as accurate as TF32
  Tf32Inputs,  // recurrent layers: inputs and their weights rounded to TF32, states and theirs as they are
  Tf32,        // float rounded to TF32
  Fp16Away,    // as Fp16, but ties are rounded away from zero and not to even, as some of cuDNN's kernels do
};
[[nodiscard]] std::string_view name(NumericMode mode);
// Whether floats lose places that no other part of the product has.
[[nodiscard]] constexpr bool isRounding(NumericMode mode) {
  return mode >= NumericMode::Fp16;
}

// Whether floats are multiplied as one half each, which many tasks do not permit.
[[nodiscard]] constexpr bool isOneHalf(NumericMode mode) {
  return mode == NumericMode::Fp16 || mode == NumericMode::Fp16Away;
}

// No value: the region's pattern has no modes.
[[nodiscard]] std::optional<NumericMode> numericMode(const RegionGene& gene);
// The modes of all regions that do not multiply operands as they are, each once: "fp16x3". Empty for most genomes.
[[nodiscard]] std::string numericModes(const Genome& genome);

}  // namespace swage::domain
