// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/domain/assurance.h"
#include "core/domain/evaluation.h"

namespace swage::trust {

inline constexpr std::array kSanitizerTools = {domain::AssuranceKind::Memcheck, domain::AssuranceKind::Racecheck,
                                               domain::AssuranceKind::Initcheck};
inline constexpr std::string_view kNoSanitizer = "compute-sanitizer is not installed; the CUDA toolkit brings it";

// How one run of compute-sanitizer came to its end.
struct SanitizerRun {
  int exitCode = 0;         // of the tool, which passes on that of the program it watches
  bool crashed = false;     // ended by a signal that was not ours
  bool overdue = false;     // we ended it
  double limitSeconds = 0;  // which it had
  std::string output;       // both streams
};

// What it found, from its text: "ERROR SUMMARY: N errors" of memcheck and initcheck, "RACECHECK SUMMARY: N hazards
// displayed (E errors, W warnings)" of racecheck, whose warnings are no failure. Without a summary, or when the program
// itself could not do its work, the verdict is Unavailable with the reason. Format: NVIDIA, Compute Sanitizer manual,
// "Understanding Memcheck Errors" and "Understanding Racecheck Reports".
[[nodiscard]] domain::Assurance readSanitizerRun(domain::AssuranceKind tool, const SanitizerRun& run);

// What a candidate is that a tool objects to.
[[nodiscard]] domain::Evaluation evaluationAfter(const domain::Assurance& failed);

// "memcheck", "racecheck", "initcheck".
[[nodiscard]] std::string_view sanitizerTool(domain::AssuranceKind kind);

}  // namespace swage::trust
