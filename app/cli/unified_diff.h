// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace swage::cli {

// What differs between two texts, by lines, as `diff -u` writes it; empty: nothing. In colours where there are any.
[[nodiscard]] std::string unifiedDiff(std::string_view left, std::string_view right, std::string_view leftName,
                                      std::string_view rightName);
[[nodiscard]] std::string paintedDiff(std::string_view diff);

}  // namespace swage::cli
