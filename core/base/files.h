// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace swage {

// Whole-file reading and crash-safe writing. Every error names the path and the system's reason.
inline constexpr std::size_t kDefaultMaxFileBytes = std::size_t{1} << 30U;

[[nodiscard]] Result<std::string> readTextFile(const std::filesystem::path& path,
                                               std::size_t maxBytes = kDefaultMaxFileBytes);
[[nodiscard]] Result<std::vector<std::byte>> readBinaryFile(const std::filesystem::path& path,
                                                            std::size_t maxBytes = kDefaultMaxFileBytes);

// Writes to a temporary file in the same directory, syncs it and renames it over `path`:
// after a crash either the old or the new content is there, never a part.
[[nodiscard]] Result<> writeFileAtomically(const std::filesystem::path& path, std::string_view content);

}  // namespace swage
