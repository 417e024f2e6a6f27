// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/cell.h"
#include "core/domain/compilation.h"
#include "core/domain/diagnosis.h"
#include "core/domain/profile.h"
#include "core/judge/facts.h"
#include "core/stats/roofline.h"

namespace swage::judge {

// What a judge is shown of one candidate. It borrows; what is null or zero is not known.
struct Case {
  const domain::Program* program = nullptr;
  const std::vector<domain::KernelFacts>* kernels = nullptr;  // what the compiler said
  const domain::Evaluation* evaluation = nullptr;
  const domain::Profile* profile = nullptr;
  const domain::DeviceInfo* device = nullptr;
  stats::Roofline task;
  domain::ScalarType type = domain::ScalarType::Float32;  // of the task's arithmetic
};

// The facts of a kernel are those of the candidate and its own.
struct KernelCase {
  std::string entry;
  int line = 0;  // the hottest of the source, or where it waits most; 0: not known
  Facts facts;
  std::vector<domain::HotLine> lines{};  // most samples first
};
struct CaseFacts {
  Facts candidate;
  int line = 0;                     // where the compiler found a mistake; 0: none
  std::vector<KernelCase> kernels;  // those that the plan launches, each entry once, in order
};

// All that conditions and texts of rules can be about; the names stand in resources/rules/README.md. What bounds a
// kernel and what it loses comes from stats::diagnose; without a profile, of what the compiler said alone.
[[nodiscard]] CaseFacts factsOf(const Case& what);

// The names of all facts that a case may have, numbers and words.
[[nodiscard]] std::span<const std::string_view> factNames();

}  // namespace swage::judge
