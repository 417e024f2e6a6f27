// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace swage::cli {

// What an exit code says (core/wire/exit_code.h has the numbers).
struct ExitCodeFact {
  std::string_view code;  // "0"; those of signals together
  std::string_view meaning;
};
[[nodiscard]] std::span<const ExitCodeFact> exitCodeFacts();

}  // namespace swage::cli
