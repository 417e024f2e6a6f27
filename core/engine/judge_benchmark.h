// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/judge/rules.h"
#include "core/store/record.h"

namespace swage::engine {

struct JudgeBenchmarkOptions {
  int seeds = 10;
  int pairs = 32;
  double goal = 0.95;  // of the best speedup in the record
};

// What one seed took, with a judge and without.
struct JudgeComparison {
  std::uint64_t seed = 0;
  int withJudge = 0;  // evaluations to the goal
  int without = 0;
};
struct JudgeBenchmarkResult {
  domain::RunId run;
  std::string task;
  std::string device;
  std::size_t genomes = 0;   // of the space
  std::size_t reaching = 0;  // of them, that reach the goal
  std::vector<JudgeComparison> seeds;
  std::int64_t followed = 0;  // advice, over all seeds
  std::int64_t paid = 0;      // of it, that gave a faster candidate
  // Geometric mean of evaluations without a judge over those with one: above 1 the judge helps.
  [[nodiscard]] double ratio() const;
};

// Searches the space of the genomes that a run has recorded, whose evaluations are looked up, with a judge and without
// one, with several seeds. Nothing is compiled or timed, so both see the same evaluations. InvalidInput: the run has
// too few candidates to search among.
[[nodiscard]] Result<JudgeBenchmarkResult> compareJudge(const store::Record& record, domain::RunId run,
                                                        const judge::RuleBook& rules,
                                                        const JudgeBenchmarkOptions& options);

}  // namespace swage::engine
