// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace swage {

// What an errno means, from any thread (std::strerror shares one buffer among them).
[[nodiscard]] inline std::string systemMessage(int errorNumber) {
  return std::generic_category().message(errorNumber);
}

}  // namespace swage
