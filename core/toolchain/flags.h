// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/target.h"

namespace swage::toolchain {

// What every candidate of a target is compiled with; a candidate's own flags follow.
// `architecture` is "sm_90a" for cuda, "native" or "x86-64-v3" for cpu.
[[nodiscard]] std::vector<std::string> defaultFlags(domain::Target target, std::string_view architecture);

// The first flag that a candidate may not have, if there is one. Flags that lower accuracy (fast math), that reach
// files or that make a plugin run are not on the list.
[[nodiscard]] std::optional<std::string> refusedFlag(domain::Target target, const std::vector<std::string>& flags);

// Whether the name is one a compiler may be given: "sm_90a" for cuda; "native" or "x86-64-v3" for cpu.
[[nodiscard]] bool isArchitectureName(domain::Target target, std::string_view architecture);

}  // namespace swage::toolchain
