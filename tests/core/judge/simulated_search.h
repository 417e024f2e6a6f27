// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/judge/swarm.h"
#include "core/search/searcher.h"
#include "tests/core/search/fake_space.h"

namespace swage::judge::testing {

// A made-up GPU and a space of programs for it: three operations that can be cut into kernels, of two patterns, with
// four parameters of eight levels. What the compiler, the plan and the clock say follows from the genome, and so does
// what is wrong with it: `a` is how much a thread has in registers (spills above 5, too few loads in flight below), `b`
// the blocks, `c` the width of loads, `d` means nothing, and every further kernel moves all data again.
struct SimulatedCandidate {
  domain::Program program;
  std::vector<domain::KernelFacts> kernels;
  domain::Evaluation evaluation;
  search::Outcome outcome;
};
[[nodiscard]] const search::testing::FakeSpace& simulatedSpace();
[[nodiscard]] domain::DeviceInfo simulatedDevice();
[[nodiscard]] stats::Roofline simulatedTask();
[[nodiscard]] SimulatedCandidate simulate(const domain::Genome& genome, domain::CandidateId candidate);
// Of all programs of one kernel, which the best is one of.
[[nodiscard]] double bestSpeedup();

// One search of so many evaluations. Without `rules` no pair has a judge.
struct SimulatedRun {
  std::vector<double> speedups;        // of each evaluation, in order; 0: it failed
  std::vector<std::string> proposals;  // as text
  std::vector<ScoredAdvice> scored;
  std::vector<PairState> pairs;
  double guidedShare = 0.0;
};
[[nodiscard]] SimulatedRun simulateRun(const RuleBook* rules, std::uint64_t seed, int evaluations, int pairs = 32);
// The first evaluation at which `share` of the best is reached, from 1; one more than there were where none does.
[[nodiscard]] int evaluationsTo(const SimulatedRun& run, double share);

}  // namespace swage::judge::testing
