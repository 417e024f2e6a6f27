// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/domain/graph.h"

// Checks of values that come from disk or wire. Each returns an empty string or what is wrong, in words.
namespace swage::domain {

inline constexpr std::size_t kMaxRank = 64;                          // PyTorch's own limit
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;  // of one tensor, and of the span it strides over
inline constexpr int kMaxArgumentDepth = 16;

// Rank, non-negative sizes and strides, and an element count and span that cannot overflow.
[[nodiscard]] std::string findDefect(const TensorType& type);
// Ids in range, every value defined once and before it is used, outputs defined.
[[nodiscard]] std::string findDefect(const Graph& graph);

// [A-Za-z_][A-Za-z0-9_]*, at most 512 characters.
[[nodiscard]] bool isIdentifier(std::string_view text);
// "namespace.name.overload" of identifiers, as PyTorch prints operators.
[[nodiscard]] bool isOperatorName(std::string_view text);

}  // namespace swage::domain
