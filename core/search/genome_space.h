// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"

namespace swage::search {

// What the search may do to genomes, without knowing what they mean. core/synth implements it; tests fake it.
// All functions are pure: the same arguments, generator state included, give the same answer.
class GenomeSpace {
 public:
  virtual ~GenomeSpace() = default;

  // A random legal genome.
  [[nodiscard]] virtual domain::Genome fresh(Random& random) const = 0;
  // The genomes worth trying first, best guess first: heuristic schedules for every pattern that fits. May be empty.
  // Some are of a rewritten graph exactly when something can be rewritten.
  [[nodiscard]] virtual std::vector<domain::Genome> seeds() const = 0;
  // One structural change (Split, Merge, PatternSwap, Rewrite), Crossover with `other`, or a random single Parameter
  // change.
  // `aim`, when given, asks for a change likely to land in that cell. No value: not applicable here.
  [[nodiscard]] virtual std::optional<domain::Genome> vary(domain::OperatorKind kind, const domain::Genome& genome,
                                                           const domain::Genome* other, const domain::Cell* aim,
                                                           Random& random) const = 0;
  // Every genome that differs in one parameter by one step: the neighbourhood of local search.
  [[nodiscard]] virtual std::vector<domain::Genome> neighbours(const domain::Genome& genome) const = 0;
  // About how long the genome's program takes, in seconds, said without running it; good enough to put off what is far
  // behind. No value: nobody can say.
  [[nodiscard]] virtual std::optional<double> estimate(const domain::Genome& /*genome*/) const { return std::nullopt; }
  // Numeric description for a surrogate model; equal length for genomes of equal structure.
  [[nodiscard]] virtual std::vector<double> features(const domain::Genome& genome) const = 0;
};

}  // namespace swage::search
