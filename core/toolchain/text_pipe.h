// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace swage::toolchain {

// What swage-compiler and its helper inside the sandbox say to each other: a list of byte strings.
// A message is its length (u32, little endian), then for each string its length (u32) and its bytes.
using TextList = std::vector<std::string>;

inline constexpr std::size_t kMaxTextListBytes = std::size_t{128} << 20U;

[[nodiscard]] std::string encodeTextList(const TextList& list);

// No value while the message is not complete; an error for one that no honest sender makes.
[[nodiscard]] Result<std::optional<TextList>> decodeTextList(std::string_view bytes);

// Blocking; No when the other side is gone.
enum class Sent : bool { No, Yes };
[[nodiscard]] Sent writeAll(int fd, std::string_view bytes);

}  // namespace swage::toolchain
