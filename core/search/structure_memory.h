// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/domain/candidate.h"
#include "core/search/genome_space.h"
#include "core/search/random_forest.h"
#include "core/search/tried_genomes.h"

namespace swage::search {

// A parameter set worth trying, and the candidate it was derived from.
struct Suggestion {
  domain::Genome genome;
  domain::CandidateId parent;
  int island = 0;  // where the parent was found
};

// What is known about the parameters of one structure, and what to try next in it. What it suggests depends only on
// what was added, in order, and on the generator it is given; caches never change an answer.
class StructureMemory {
 public:
  struct Sample {
    domain::Genome genome;
    domain::CandidateId candidate;
    int island = 0;
    double logTime = 0.0;
  };

  StructureMemory(const GenomeSpace& space, std::uint64_t seed) : m_space(&space), m_seed(seed) {}

  void addTimed(Sample sample);
  // A parameter set that does not work: the model learns to stay away from there.
  void addFailed(const domain::Genome& genome);

  [[nodiscard]] bool hasSamples() const { return !m_samples.empty(); }
  [[nodiscard]] double bestLogTime() const { return m_samples[m_byTime.front()].logTime; }
  // Timed samples since the best one: how long this structure has given nothing.
  [[nodiscard]] std::size_t staleness() const { return m_samples.size() - 1 - m_byTime.front(); }

  // Before kModelSamples timed samples: iterated one-exchange around the best, the tried set being the tabu list, and
  // first what the space estimates to be fast.
  // From then on: the most promising of the untried neighbours of the best few and of some kicks (several random
  // changes of one of them at once), by a random forest on log time.
  // No value: everything around is tried. Needs hasSamples().
  [[nodiscard]] std::optional<Suggestion> suggest(const TriedGenomes& tried, Random& random);

  // The one of `pool`, which is not empty, that the model finds most promising; any of them before there is a model.
  [[nodiscard]] Suggestion choose(std::vector<Suggestion> pool, Random& random);

  static constexpr std::size_t kModelSamples = 8;

 private:
  struct Observation {
    std::vector<double> features;
    std::optional<double> logTime;  // no value: failed
  };

  void observe(const domain::Genome& genome, std::optional<double> logTime);
  // Untried neighbours of the fastest samples that have any.
  [[nodiscard]] std::vector<Suggestion> openNeighbours(const TriedGenomes& tried, std::size_t bases);
  [[nodiscard]] std::vector<Suggestion> nearTheBest(std::vector<Suggestion> pool) const;
  [[nodiscard]] std::optional<Suggestion> kick(const TriedGenomes& tried, Random& random) const;
  [[nodiscard]] Suggestion mostPromising(std::vector<Suggestion> pool, Random& random);
  [[nodiscard]] const RandomForest& model();
  [[nodiscard]] std::vector<std::size_t> trainingRows(std::size_t count) const;

  const GenomeSpace* m_space;
  std::uint64_t m_seed;
  std::vector<Sample> m_samples;            // in the order of their reports
  std::vector<std::size_t> m_byTime;        // indices into m_samples, fastest first
  std::vector<Observation> m_observations;  // samples and failures, in the order of their reports
  std::vector<bool> m_closed;               // a cache: samples without an untried neighbour
  std::optional<RandomForest> m_model;      // a cache, of the first m_modelRows observations
  std::size_t m_modelRows = 0;
};

}  // namespace swage::search
