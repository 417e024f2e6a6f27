// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/strong_id.h"
#include "core/domain/language.h"
#include "core/domain/launch_plan.h"

namespace swage::domain {

using RunId = StrongId<struct RunIdTag>;
using CandidateId = StrongId<struct CandidateIdTag>;

// A set of operations computed by one kernel. `nodes` are indices of the synthesizer's operations, ascending: for most
// graphs those are the node indices, but a node of several passes (a cross entropy) is several operations.
struct RegionGene {
  std::vector<int> nodes;
  std::string pattern;  // "row_block"; catalogue id, without the language
  std::map<std::string, std::int64_t> parameters;
  friend bool operator==(const RegionGene&, const RegionGene&) = default;
};

// How the graph is cut, which pattern each region has, and its parameters. Nodes in no region are ATen steps.
struct Genome {
  std::vector<RegionGene> regions;  // ordered by their first node
  friend bool operator==(const Genome&, const Genome&) = default;
};

// Text that is equal exactly when the genomes are equal.
[[nodiscard]] std::string canonicalText(const Genome& genome);
// The genome without its parameters, but with numeric modes: what the archive searches
// (ARCHITECTURE.md, "Structures").
[[nodiscard]] std::string structureText(const Genome& genome);

// One program for a task: device source and the plan that launches it.
struct Program {
  Language language = Language::Cpp;
  std::string source;  // empty when every step is an ATen call
  LaunchPlan plan;
  std::vector<std::string> compileFlags;  // from an allow-list, beyond the language's defaults

  [[nodiscard]] std::vector<std::string> entries() const;
};

// The operators that make candidates.
enum class OperatorKind : std::uint8_t {
  Baseline,     // the graph as it is, every node an ATen step
  Synthesis,    // a fresh genome
  Parameter,    // local search inside a structure
  Split,        // one region becomes two
  Merge,        // two regions become one
  PatternSwap,  // another pattern for a region
  Crossover,    // regions of two parents
  Aimed,        // a change meant to land in an empty neighbour cell
  Migration,    // an elite of another island, not evaluated again
  Human,
  Coder,  // an LLM
};
[[nodiscard]] std::string_view name(OperatorKind kind);
[[nodiscard]] std::optional<OperatorKind> parseOperatorKind(std::string_view text);

}  // namespace swage::domain
