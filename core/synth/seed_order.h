// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/domain/candidate.h"

namespace swage::synth {

// A genome to begin with, and what it is expected to take: of each region and of what is left to PyTorch, in seconds.
struct Seed {
  domain::Genome genome;
  std::vector<double> regions;
  double library = 0.0;

  [[nodiscard]] double seconds() const;
};

// The fastest first, but that one way to compute what takes most of the time does not take all of the first places: it
// may be wrong, or estimated wrongly. How often it has been chosen before counts as time.
// The first few are with rewrites and without, where there are both. At most `most` of them, and the
// fastest of the other kind.
[[nodiscard]] std::vector<domain::Genome> orderSeeds(std::vector<Seed> seeds,
                                                     std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace swage::synth
