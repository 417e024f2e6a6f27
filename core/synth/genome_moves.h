// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/patterns/catalogue.h"
#include "core/search/parent_selection.h"
#include "core/synth/fusion.h"
#include "core/synth/strategy.h"

namespace swage::synth {

// Legal genomes and the steps between them. Any thread may use it.
class GenomeMoves {
 public:
  // Patterns without a strategy in the table are left alone. Everything passed by reference must outlive this.
  // `rewrites`: those that the graph was made by, which all of its genomes have.
  GenomeMoves(const Fusion& fusion, const OperationGraph& operations, const patterns::Catalogue& catalogue,
              const StrategyTable& strategies, const domain::DeviceInfo& device,
              std::vector<domain::Rewrite> rewrites = {});

  // Patterns that can compute the region with some parameters. Found out once for each region.
  [[nodiscard]] const std::vector<const patterns::Pattern*>& patternsFor(const std::vector<int>& operations) const;
  // Whether a gene is legal by itself.
  [[nodiscard]] bool isLegal(const domain::RegionGene& gene) const;
  // Whether a genome is: legal genes, no overlap, nodes covered wholly or not at all, no cycle.
  [[nodiscard]] bool isLegal(const domain::Genome& genome) const;

  [[nodiscard]] std::vector<domain::Genome> seeds() const;
  [[nodiscard]] domain::Genome fresh(Random& random) const;
  [[nodiscard]] std::vector<domain::Genome> neighbours(const domain::Genome& genome) const;
  [[nodiscard]] std::optional<domain::Genome> changeParameter(const domain::Genome& genome, Random& random) const;
  [[nodiscard]] std::optional<domain::Genome> split(const domain::Genome& genome, Random& random) const;
  [[nodiscard]] std::optional<domain::Genome> merge(const domain::Genome& genome, Random& random) const;
  [[nodiscard]] std::optional<domain::Genome> swapPattern(const domain::Genome& genome, Random& random) const;
  [[nodiscard]] std::optional<domain::Genome> cross(const domain::Genome& genome, const domain::Genome& other,
                                                    Random& random) const;
  // A genome that has these genes, and beside them regions of the coarsest cut as far as they fit. No value: it would
  // have no region.
  [[nodiscard]] std::optional<domain::Genome> around(std::vector<domain::RegionGene> genes, Random& random) const;
  // The cell a genome will probably compile to; only used to aim.
  [[nodiscard]] domain::Cell predictCell(const domain::Genome& genome) const;
  // The cells that predictCell() can say of some genome.
  [[nodiscard]] search::ReachableCells reachableCells() const;

 private:
  [[nodiscard]] bool namesOperations(const domain::RegionGene& gene) const;

  enum class Choice { Standard, Random };
  [[nodiscard]] std::optional<domain::RegionGene> makeGene(const std::vector<int>& operations,
                                                           const patterns::Pattern& pattern, Choice choice,
                                                           Random& random) const;
  [[nodiscard]] std::vector<const patterns::Pattern*> findPatternsFor(const std::vector<int>& operations) const;
  bool settleStandard(domain::RegionGene& gene) const;
  bool settleVectors(domain::RegionGene& gene) const;
  bool settleProduct(domain::RegionGene& gene) const;
  [[nodiscard]] std::optional<domain::RegionGene> anyGene(const std::vector<int>& operations, Random& random) const;
  // Every pattern that fits takes its turn as the first choice of all regions: rank 0 is the first fitting pattern.
  [[nodiscard]] std::optional<domain::Genome> seed(const std::vector<std::vector<int>>& partition,
                                                   std::size_t rank) const;
  [[nodiscard]] std::optional<domain::Genome> checked(domain::Genome genome) const;

  const Fusion& m_fusion;
  const OperationGraph& m_operations;
  const patterns::Catalogue& m_catalogue;
  const StrategyTable& m_strategies;
  const domain::DeviceInfo& m_device;
  domain::Language m_language;
  std::vector<domain::Rewrite> m_rewrites;
  mutable std::mutex m_mutex;
  mutable std::map<std::vector<int>, std::vector<const patterns::Pattern*>> m_fitting;  // by region
};

}  // namespace swage::synth
