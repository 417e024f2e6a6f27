// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/patterns/catalogue.h"
#include "core/search/parent_selection.h"
#include "core/synth/fusion.h"
#include "core/synth/parameter_ranking.h"
#include "core/synth/strategy.h"

namespace swage::synth {

// A pattern that can compute a region with some parameters.
struct Fit {
  const patterns::Pattern* pattern = nullptr;
  std::vector<RankedParameters> best;  // to start with, by the cost model; empty: nothing is known of it
  bool isFarBehind = false;            // the fastest pattern is expected to take less than half of its time
};

// What fits regions, by their keys, found out once for all twins. The graphs that a task is rewritten to share one:
// most of their regions are the same. Any thread may use it.
class KnownFits {
 public:
  // What stays where it is. `findOut` is called where the key is new, by several threads at once if several ask.
  template <class Find>
  [[nodiscard]] const std::vector<Fit>& of(const std::string& key, const Find& findOut) {
    if (const std::vector<Fit>* known = find(key)) {
      return *known;
    }
    std::vector<Fit> found = findOut();
    const std::lock_guard lock(m_mutex);
    return m_fits.try_emplace(key, std::move(found)).first->second;
  }

 private:
  [[nodiscard]] const std::vector<Fit>* find(const std::string& key) {
    const std::lock_guard lock(m_mutex);
    const auto known = m_fits.find(key);
    return known == m_fits.end() ? nullptr : &known->second;
  }

  std::mutex m_mutex;
  std::map<std::string, std::vector<Fit>> m_fits;
};

// Legal genomes and the steps between them. Any thread may use it.
class GenomeMoves {
 public:
  // Patterns without a strategy in the table are left alone. Everything passed by reference must outlive this.
  // `known` belongs to this catalogue, table and device. `rewrites`: those that the graph was made by, which all of its
  // genomes have.
  GenomeMoves(const Fusion& fusion, const OperationGraph& operations, const patterns::Catalogue& catalogue,
              const StrategyTable& strategies, const domain::DeviceInfo& device, KnownFits& known,
              std::vector<domain::Rewrite> rewrites = {});

  // The fastest first, as far as that is known.
  [[nodiscard]] const std::vector<Fit>& patternsFor(const std::vector<int>& operations) const;
  // About how long the regions take of which something is known, in seconds, and what is left to PyTorch. No value:
  // nothing is known.
  [[nodiscard]] std::optional<double> estimate(const domain::Genome& genome) const;
  // The same of one region, and of what a genome leaves to PyTorch.
  [[nodiscard]] std::optional<double> estimate(const domain::RegionGene& gene) const;
  [[nodiscard]] double libraryEstimate(const domain::Genome& genome) const;
  // Whether a gene is legal by itself.
  [[nodiscard]] bool isLegal(const domain::RegionGene& gene) const;
  // Whether a genome is: legal genes, no overlap, nodes covered wholly or not at all, no cycle.
  [[nodiscard]] bool isLegal(const domain::Genome& genome) const;

  // In no particular order but where nothing is known of times: see orderSeeds().
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
  static constexpr double kFarBehindFactor = 2.0;  // times the estimate of the fastest pattern
  // Sets of parameters among the seeds, for each pattern whose time can be estimated.
  static constexpr std::size_t kFirstSets = 3;

  [[nodiscard]] bool namesOperations(const domain::RegionGene& gene) const;

  enum class Choice { Standard, Random };
  [[nodiscard]] std::optional<domain::RegionGene> makeGene(const std::vector<int>& operations,
                                                           const patterns::Pattern& pattern, Choice choice,
                                                           Random& random) const;
  [[nodiscard]] std::optional<domain::RegionGene> drawGene(domain::RegionGene gene, const patterns::Pattern& pattern,
                                                           Random& random) const;
  // With the parameters number `set` of the best, where they are known.
  [[nodiscard]] std::optional<domain::RegionGene> startGene(const std::vector<int>& operations, const Fit& fit,
                                                            std::size_t set, Random& random) const;
  // With the best parameters of the fastest pattern, as far as that is known. No value: nothing fits.
  [[nodiscard]] std::optional<domain::RegionGene> fastestGene(const std::vector<int>& operations, Random& random) const;
  [[nodiscard]] const Fit& pick(const std::vector<Fit>& fitting, Random& random) const;
  // The key of the region of these operations; empty: they cannot be one.
  [[nodiscard]] const std::string& keyOfRegion(const std::vector<int>& operations) const;
  // The regions of a genome that are twins and are computed in the same way, and the one asked for, as indices.
  [[nodiscard]] std::vector<std::size_t> twinsOf(const domain::Genome& genome, std::size_t region) const;
  // All regions of a genome in groups of twins, the group that takes the most time first.
  [[nodiscard]] std::vector<std::vector<std::size_t>> twinGroups(const domain::Genome& genome) const;
  // One region to change, sooner one that takes much of the time; and most of the time with its twins, so that a step
  // is worth it where each layer takes little, and no second kernel has to be compiled for them.
  [[nodiscard]] std::vector<std::size_t> pickRegions(const domain::Genome& genome, Random& random) const;
  // Computes these regions as the gene does.
  static void computeAs(domain::Genome& genome, const std::vector<std::size_t>& regions,
                        const domain::RegionGene& gene);
  // Both must be legal by themselves.
  void normalise(domain::RegionGene& gene) const;
  [[nodiscard]] bool areAlike(domain::RegionGene a, domain::RegionGene b) const;
  [[nodiscard]] std::vector<Fit> findPatternsFor(const std::vector<int>& operations) const;
  bool settleStandard(domain::RegionGene& gene) const;
  [[nodiscard]] std::optional<domain::RegionGene> anyGene(const std::vector<int>& operations, Random& random) const;
  enum class Speed { Near, FarBehind };
  // Every pattern of this speed takes its turn as the choice for all regions, the most promising first; and where the
  // best parameters are known, several of them.
  [[nodiscard]] std::optional<domain::Genome> seed(const std::vector<std::vector<int>>& partition, std::size_t rank,
                                                   Speed speed) const;
  // patternsFor() of all regions of the partitions, by several threads.
  void findFits(const std::vector<std::vector<std::vector<int>>>& partitions) const;
  // How many such turns there are before the first is the choice again.
  [[nodiscard]] std::size_t mostChoices(const std::vector<std::vector<int>>& partition, Speed speed) const;
  [[nodiscard]] std::optional<domain::Genome> exactSeed() const;
  // Only what computes element by element, where that may be all that a task permits.
  [[nodiscard]] std::optional<domain::Genome> elementSeed() const;
  [[nodiscard]] std::optional<domain::Genome> checked(domain::Genome genome) const;
  class SeedList;
  // The fastest of every region, as far as that is known.
  [[nodiscard]] std::optional<domain::Genome> bestOf(const std::vector<std::vector<int>>& partition) const;
  // This with the regions of one group of twins in another way.
  void addVariants(const domain::Genome& best, SeedList& found) const;
  // The coarsest cut with one more cut, the same one in all twins, or with one of its borders elsewhere; what takes the
  // most time is cut first.
  [[nodiscard]] std::vector<std::vector<std::vector<int>>> finerPartitions() const;
  [[nodiscard]] std::vector<std::vector<std::size_t>> twinsIn(const std::vector<std::vector<int>>& partition) const;
  [[nodiscard]] std::optional<std::vector<std::vector<int>>> cutTwins(const std::vector<std::vector<int>>& coarsest,
                                                                      const std::vector<std::size_t>& twins,
                                                                      std::size_t cut) const;
  void addMovedBorders(const std::vector<std::vector<int>>& coarsest, std::size_t which, const std::vector<int>& head,
                       const std::vector<int>& tail, std::vector<std::vector<std::vector<int>>>& found) const;

  const Fusion& m_fusion;
  const OperationGraph& m_operations;
  const patterns::Catalogue& m_catalogue;
  const StrategyTable& m_strategies;
  const domain::DeviceInfo& m_device;
  KnownFits& m_known;
  domain::Language m_language;
  std::vector<domain::Rewrite> m_rewrites;
  mutable std::mutex m_mutex;
  mutable std::map<std::vector<int>, std::string> m_keys;  // of regions, by operations
};

}  // namespace swage::synth
