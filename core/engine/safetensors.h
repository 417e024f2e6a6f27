// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace swage::engine {

// The raw bytes of some tensors of a safetensors file. Every offset is checked: the file may come from anywhere.
[[nodiscard]] Result<std::map<std::string, std::string>> readSafetensors(const std::filesystem::path& file,
                                                                         const std::vector<std::string>& names);

}  // namespace swage::engine
