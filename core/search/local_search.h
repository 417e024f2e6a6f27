// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/search/genome_space.h"
#include "core/search/guidance.h"
#include "core/search/proposal.h"
#include "core/search/structure_memory.h"
#include "core/search/tried_genomes.h"

namespace swage::search {

// Tunes parameters inside structures (ARCHITECTURE.md, "Structures") and decides which of them is worth it in the way
// of successive halving: most goes to the structure of the fastest candidate and to its contenders, a little to
// whatever holds a cell, hardly anything to the rest. Times are facts about genomes, so the memory is shared by all
// islands.
class LocalSearch {
 public:
  LocalSearch(const GenomeSpace& space, std::uint64_t seed) : m_space(&space), m_seed(seed) {}

  void countProposed(const domain::Genome& genome) { ++m_proposed[domain::structureText(genome)]; }
  void record(const domain::Genome& genome, const Outcome& outcome, int island);

  // A structure that had its first few candidates: only its parameters are left to tune.
  [[nodiscard]] bool isExplored(const domain::Genome& genome) const;

  // `holders`: the structures that hold a cell. No value: nothing untried is near any sample.
  [[nodiscard]] std::optional<Suggestion> suggest(const TriedGenomes& tried, const std::set<std::string>& holders,
                                                  Random& random);
  // A change of one or two parameters of the guidance's genome, each by one step in its direction; where it names no
  // parameter, any one step. The most promising by what is known of the structure. No value: all of them are tried.
  [[nodiscard]] std::optional<domain::Genome> follow(const Guidance& guidance, const TriedGenomes& tried,
                                                     Random& random);
  // The first untried neighbour of anything that was ever reported, working or not. No value: there is none.
  [[nodiscard]] std::optional<Suggestion> sweep(const TriedGenomes& tried);

 private:
  struct Reported {
    domain::Genome genome;
    domain::CandidateId candidate;
    int island = 0;
  };

  [[nodiscard]] std::vector<double> weights(const std::vector<StructureMemory*>& memories,
                                            const std::vector<bool>& holdsCell) const;

  const GenomeSpace* m_space;
  std::uint64_t m_seed;
  std::map<std::string, int> m_proposed;              // by structure
  std::map<std::string, StructureMemory> m_memories;  // by structure; ordered, so that the same seed draws the same
  std::vector<Reported> m_reported;                   // in order
  std::size_t m_swept = 0;                            // before it, every neighbour is tried
};

}  // namespace swage::search
