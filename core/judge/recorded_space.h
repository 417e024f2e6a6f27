// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/search/genome_space.h"

namespace swage::judge {

// The genomes that a record has, as a space: a search over it costs nothing, and its best is known. What it varies to
// is another of these genomes, so that it is smaller than the space that the record comes from, and has the choice of
// whoever searched then.
class RecordedSpace final : public search::GenomeSpace {
 public:
  // Each genome once, not empty; the first `seedCount` are the seeds.
  RecordedSpace(std::vector<domain::Genome> genomes, std::size_t seedCount);

  [[nodiscard]] domain::Genome fresh(Random& random) const override;
  [[nodiscard]] std::vector<domain::Genome> seeds() const override;
  // Another parameter set of the structure, another pattern for one region, a coarser or finer cut, or what has each
  // region of one of both parents.
  [[nodiscard]] std::optional<domain::Genome> vary(domain::OperatorKind kind, const domain::Genome& genome,
                                                   const domain::Genome* other, const domain::Cell* aim,
                                                   Random& random) const override;
  // Those that differ in one parameter: of each parameter the nearest value in either direction.
  [[nodiscard]] std::vector<domain::Genome> neighbours(const domain::Genome& genome) const override;
  [[nodiscard]] std::vector<double> features(const domain::Genome& genome) const override;

  [[nodiscard]] const std::vector<domain::Genome>& all() const { return m_genomes; }

 private:
  std::vector<domain::Genome> m_genomes;
  std::size_t m_seedCount = 0;
  std::map<std::string, std::vector<std::size_t>> m_byStructure;
};

}  // namespace swage::judge
