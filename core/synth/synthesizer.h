// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/domain/graph.h"
#include "core/patterns/catalogue.h"
#include "core/search/genome_space.h"
#include "core/search/parent_selection.h"
#include "core/synth/strategy.h"

namespace swage::synth {

// Turns genomes into programs for one graph on one device, in its standard language. Immutable after create(), so any
// thread may use it.
class Synthesizer : public search::GenomeSpace {
 public:
  // A graph in which nothing can be synthesised is no error: its only genome is the empty one (every node an ATen
  // step).
  // `strategies` must outlive the synthesiser.
  [[nodiscard]] static Result<std::unique_ptr<Synthesizer>> create(
      const domain::Graph& graph, const domain::DeviceInfo& device, const patterns::Catalogue& catalogue,
      const StrategyTable& strategies = StrategyTable::builtIn());

  // The source and launch plan of a genome. An Error of kind InvalidInput when the genome does not fit the graph
  // (a parameter out of range, a pattern that cannot compute its region).
  [[nodiscard]] virtual Result<domain::Program> realise(const domain::Genome& genome) const = 0;

  // Graph nodes that some pattern can compute, for `swage import` and reports.
  [[nodiscard]] virtual std::vector<int> coveredNodes() const = 0;

  // The cells that some strategy of the catalogue aims at with a region of this graph, on this device. The others may
  // be filled by somebody else's program, but not by a genome.
  [[nodiscard]] virtual search::ReachableCells reachableCells() const = 0;
};

// GenomeSpace::features() of every synthesiser: the logarithms of the parameters, in order.
[[nodiscard]] std::vector<double> featuresOf(const domain::Genome& genome);

}  // namespace swage::synth
