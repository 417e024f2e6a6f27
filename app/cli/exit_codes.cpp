// SPDX-License-Identifier: Apache-2.0
#include "app/cli/exit_codes.h"

#include <array>

namespace swage::cli {

std::span<const ExitCodeFact> exitCodeFacts() {
  static constexpr std::array<ExitCodeFact, 15> kCodes{{
      {"0", "Done"},
      {"1", "Internal error"},
      {"2", "Wrong usage"},
      {"3", "Invalid configuration"},
      {"4", "The task or another input cannot be used"},
      {"5", "Unusable environment: driver, compiler or Python, or a device that fails the self-test"},
      {"6", "No correct kernel found"},
      {"7", "Target not reached"},
      {"8", "Verification failed"},
      {"9", "Language model unavailable"},
      {"10", "Storage error"},
      {"11", "Budget exhausted, partial result saved"},
      {"12", "The sandbox is required but unavailable"},
      {"13", "Already running on this project, or another run measures on this GPU"},
      {"130, 143", "Stopped by Ctrl-C, by SIGTERM"},
  }};
  return kCodes;
}

}  // namespace swage::cli
