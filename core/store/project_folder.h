// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/result.h"

// The folder of a project, also before anything is recorded in it. Errors are of kind Storage and name the folder.
namespace swage::store {

// With the folders above it. Nothing happens to one that is there.
[[nodiscard]] Result<> makeProjectFolder(const std::filesystem::path& project);

enum class IgnoreRules : std::uint8_t { Written, Kept };
// `<project>/.gitignore`, so that what is recorded stays out of version control. A file that is there is the user's
// own, and is kept as it is.
[[nodiscard]] Result<IgnoreRules> writeIgnoreRules(const std::filesystem::path& project);

}  // namespace swage::store
