// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

namespace swage::services {

// What --set names: a constant of the task's file and its new value. Only the bridge says whether the file has such a
// constant and whether the value is a literal, and only it puts the value in (resources/bridge/swage_bridge/source.py).
// Usage error when `text` is not NAME=VALUE.
[[nodiscard]] Result<std::pair<std::string, std::string>> parseOverride(std::string_view text);

}  // namespace swage::services
