// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace swage {

// The text without the characters of `space` at its ends; a view of the same memory.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, std::string_view space = " \t\r\n") {
  const std::size_t begin = text.find_first_not_of(space);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace swage
