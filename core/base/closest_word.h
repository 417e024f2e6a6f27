// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swage {

// The word that was probably meant: the nearest one of `allowed`, if it takes few enough letters to get there.
[[nodiscard]] std::optional<std::string_view> closestWord(std::string_view typed,
                                                          std::span<const std::string_view> allowed);

// "did you mean 'speedup'?", or all that is allowed: "write cpu, cuda".
[[nodiscard]] std::string didYouMean(std::string_view typed, std::span<const std::string_view> allowed);

}  // namespace swage
