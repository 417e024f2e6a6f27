// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/domain/candidate.h"
#include "core/search/proposal.h"

namespace swage::search {

// Whether it multiplies floats as one half each. Recurrent layers that round are not meant: they do what PyTorch does.
[[nodiscard]] bool multipliesHalves(const domain::Genome& genome);

// Which ways to round a task permits, by what became of candidates: its modes that multiply halves, or, where a genome
// has none, its rewrites of the graph. Pure.
class RoundingWays {
 public:
  // It has one of which nothing has been right so far, and several were wrong.
  [[nodiscard]] bool areHopeless(const domain::Genome& genome) const;
  void count(const domain::Genome& genome, const Outcome& outcome);

 private:
  struct Reports {
    int right = 0;
    int wrong = 0;
  };
  std::map<std::string, Reports> m_reports;
};

}  // namespace swage::search
