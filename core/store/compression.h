// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace swage::store {

// zstd frames with a checksum.
[[nodiscard]] Result<std::string> compress(std::string_view content);
// `size` is what must come out; anything else is an error.
[[nodiscard]] Result<std::string> decompress(std::string_view frame, std::size_t size);

}  // namespace swage::store
