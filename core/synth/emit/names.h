// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/synth/region.h"

// What values are called in kernels.
namespace swage::synth {

// Words that a name must not be: of the language, of the device, of the helpers, and those that a source may not have
// (core/toolchain/source_check.cpp).
[[nodiscard]] const std::set<std::string>& reservedWords();

// A name of the model as one of C: "encoder.0.weight" -> "encoder_0_weight".
[[nodiscard]] std::string identifier(std::string_view name);

// What a result is called that the model has no name for.
[[nodiscard]] std::string_view resultName(const Prim& prim, FoldKind fold);

}  // namespace swage::synth
