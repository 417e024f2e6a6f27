// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace swage::testing {

// The bytes of a shared object that the system's C++ compiler makes of `source`. Ends the test program on failure.
[[nodiscard]] std::string compileSharedObject(std::string_view source);

}  // namespace swage::testing
