// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace swage::toolchain {

// Whether PTX may write to a module-scope variable: an address made from its name reaches a store, an atomic or a call,
// or another variable holds it. What is only loaded from is a table. Errs towards yes; follows registers, not branches.
[[nodiscard]] bool mayWrite(std::string_view ptx, std::string_view variable);

}  // namespace swage::toolchain
