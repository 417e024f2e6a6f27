// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "core/synth/genome_moves.h"
#include "core/synth/parameter_ranking.h"

namespace swage::synth {
namespace {

// Kernels that are asked at which cell they aim, of all regions together. Large graphs have more; their regions are
// much alike, and those that come after it are only asked about their standard parameters.
constexpr int kKernels = 100'000;

// A program is in the cell of what its kernels do together: for each pair of cells, the one with the greater of both
// movements and of both arithmetics.
void closeUnderJoining(std::set<int>& cells) {
  for (std::size_t before = 0; before != cells.size();) {
    before = cells.size();
    const std::set<int> known = cells;
    for (const int a : known) {
      for (const int b : known) {
        const domain::Cell left = domain::Cell::fromIndex(a);
        const domain::Cell right = domain::Cell::fromIndex(b);
        cells.insert(domain::Cell{std::max(left.movement, right.movement), std::max(left.arithmetic, right.arithmetic),
                                  std::max(left.decomposition, right.decomposition)}
                         .index());
      }
    }
  }
}

// The cells that kernels aim at, by index.
class Aims {
 public:
  Aims(const StrategyTable& strategies, const domain::DeviceInfo& device)
      : m_strategies(strategies), m_device(device) {}

  // With the parameters of a legal gene, and with all others that fit.
  void add(const patterns::Pattern& pattern, const Region& region, const Parameters& known) {
    const Strategy& strategy = *m_strategies.find(pattern.language, pattern.id);
    m_cells.insert(strategy.aims({pattern, region, known, m_device}).index());
    std::optional<Parameters> parameters = firstParameters(pattern);
    for (; m_asked < kKernels && parameters; ++m_asked) {
      const Instance instance{pattern, region, *parameters, m_device};
      if (strategy.checkAccepted(instance)) {
        m_cells.insert(strategy.aims(instance).index());
      }
      parameters = parametersAfter(pattern, std::move(*parameters));
    }
  }

  [[nodiscard]] std::set<int>& cells() { return m_cells; }

 private:
  const StrategyTable& m_strategies;
  const domain::DeviceInfo& m_device;
  std::set<int> m_cells;
  int m_asked = 0;
};

}  // namespace

search::ReachableCells GenomeMoves::reachableCells() const {
  Aims aims(m_strategies, m_device);
  std::set<std::string> seen;  // keys of regions
  std::set<std::vector<std::vector<int>>> seenPartitions;
  bool inOneLaunch = false;
  bool inSeveral = false;
  for (const domain::Genome& genome : seeds()) {
    std::vector<std::vector<int>> partition;
    for (const domain::RegionGene& gene : genome.regions) {
      partition.push_back(gene.nodes);
      if (!seen.insert(keyOfRegion(gene.nodes)).second) {
        continue;
      }
      for (const Fit& fit : patternsFor(gene.nodes)) {
        Random random(1);
        const auto known = fit.best.empty()
                               ? makeGene(gene.nodes, *fit.pattern, Choice::Standard, random)
                               : domain::RegionGene{gene.nodes, fit.pattern->id, fit.best.front().parameters};
        if (known) {
          aims.add(*fit.pattern, *m_fusion.region(gene.nodes), known->parameters);
        }
      }
    }
    if (!seenPartitions.insert(partition).second) {
      continue;
    }
    const auto schedule = m_fusion.schedule(partition);
    (schedule && schedule->size() == 1 ? inOneLaunch : inSeveral) = true;
  }
  if (inSeveral) {
    closeUnderJoining(aims.cells());
  }
  search::ReachableCells cells{};
  const auto add = [&](const domain::Cell& cell) {
    cells[static_cast<std::size_t>(cell.index())] = domain::isReachable(cell, m_device);
  };
  for (const int index : aims.cells()) {
    const domain::Cell cell = domain::Cell::fromIndex(index);
    if (cell.decomposition == domain::Decomposition::InterBlock) {
      add(cell);
      continue;
    }
    if (inOneLaunch) {
      add({cell.movement, cell.arithmetic, domain::Decomposition::OneLaunch});
    }
    if (inSeveral) {
      add({cell.movement, cell.arithmetic, domain::Decomposition::SeveralLaunches});
    }
  }
  return cells;
}

}  // namespace swage::synth
