// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/compilation.h"

namespace swage::toolchain {

// What one language's compiler is told.
struct FlagRules {
  // What every candidate is compiled with for an architecture; its own flags follow.
  std::vector<std::string> (*defaults)(std::string_view architecture);
  // Whether a candidate may have the flag. Those that lower accuracy (fast math), that reach files or that make a
  // plugin run are not on the list.
  bool (*isAllowed)(std::string_view flag);
  // Whether the name is one that the compiler may be given.
  bool (*isArchitecture)(std::string_view name);
};
[[nodiscard]] const FlagRules& cppFlags();   // for "native" or "x86-64-v3"
[[nodiscard]] const FlagRules& cudaFlags();  // for "sm_90a"

// What of the architecture and the flags of a request is not allowed, if something is.
[[nodiscard]] std::optional<std::string> findFlagDefect(const FlagRules& rules, const domain::CompileRequest& request);

}  // namespace swage::toolchain
