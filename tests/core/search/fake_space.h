// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/search/genome_space.h"
#include "core/search/searcher.h"

namespace swage::search::testing {

// A chain of nodes cut into regions; each region has one of a few patterns and a few parameters on a grid 0..levels-1.
class FakeSpace final : public GenomeSpace {
 public:
  struct Shape {
    int nodes = 3;
    int patterns = 2;
    int parameters = 2;
    int levels = 4;
    int seeds = 2;  // one region over everything with pattern 0, 1, …, parameters in the middle
  };
  explicit FakeSpace(Shape shape) : m_shape(shape) {}

  // What estimate() says; without it, that nothing is known.
  std::function<double(const domain::Genome& genome)> seconds;
  [[nodiscard]] std::optional<double> estimate(const domain::Genome& genome) const override {
    return seconds ? std::optional(seconds(genome)) : std::nullopt;
  }

  [[nodiscard]] domain::Genome fresh(Random& random) const override;
  [[nodiscard]] std::vector<domain::Genome> seeds() const override;
  [[nodiscard]] std::optional<domain::Genome> vary(domain::OperatorKind kind, const domain::Genome& genome,
                                                   const domain::Genome* other, const domain::Cell* aim,
                                                   Random& random) const override;
  [[nodiscard]] std::vector<domain::Genome> neighbours(const domain::Genome& genome) const override;
  [[nodiscard]] std::vector<double> features(const domain::Genome& genome) const override;

  // Every genome of one region over all nodes: patterns * levels ^ parameters.
  [[nodiscard]] std::vector<domain::Genome> wholeRegionGenomes() const;
  // The cells that vary() was asked to aim at, in order.
  [[nodiscard]] const std::vector<domain::Cell>& aims() const { return m_aims; }

 private:
  [[nodiscard]] domain::RegionGene region(std::vector<int> nodes, int pattern, Random* random) const;
  [[nodiscard]] std::optional<domain::Genome> split(domain::Genome genome, Random& random) const;
  [[nodiscard]] std::optional<domain::Genome> merge(domain::Genome genome, Random& random) const;
  [[nodiscard]] std::optional<domain::Genome> crossover(domain::Genome genome, const domain::Genome& other,
                                                        Random& random) const;

  Shape m_shape;
  mutable std::vector<domain::Cell> m_aims;
};

// "0,1:p0(a=1,b=2) 2:p1(a=0,b=0)"
[[nodiscard]] std::string text(const domain::Genome& genome);
// "3 Parameter @1 0,1,2:p0(a=1,b=2) <7>"
[[nodiscard]] std::string text(const Proposal& proposal);

// One region over node 0 with pattern "p0" and these parameters.
[[nodiscard]] domain::Genome point(const std::vector<std::int64_t>& parameters);
[[nodiscard]] std::vector<std::int64_t> coordinates(const domain::Genome& genome);
[[nodiscard]] domain::Cell cell(int index);

// A made-up device: what it answers depends only on the genome. Regions cost by pattern and by the distance of their
// parameters from the middle, launches cost extra, and the cell follows from cut and patterns.
[[nodiscard]] Outcome measure(const domain::Genome& genome, domain::CandidateId candidate);

// Asks and reports one by one, at most `count` times; gives back what happened.
struct Step {
  Proposal proposal;
  Outcome outcome;
};
using Device = std::function<Outcome(const domain::Genome&, domain::CandidateId)>;
std::vector<Step> drive(Searcher& searcher, int count, const Device& device = measure);

}  // namespace swage::search::testing
