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
#include "core/domain/program_lines.h"
#include "core/domain/proposer_name.h"
#include "core/domain/rewrite.h"

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

// What of the graph is computed in another way, how the rest is cut, which pattern each region has, and its parameters.
// Nodes in no region are ATen steps. Regions count the operations of the rewritten graph.
struct Genome {
  std::vector<RegionGene> regions;  // ordered by their first node
  std::vector<Rewrite> rewrites = {};
  friend bool operator==(const Genome&, const Genome&) = default;
};

// Text that is equal exactly when the genomes are equal.
[[nodiscard]] std::string canonicalText(const Genome& genome);
// The genome without its parameters, but with numeric modes: what the archive searches
// (ARCHITECTURE.md, "Structures").
[[nodiscard]] std::string structureText(const Genome& genome);
// Whether it computes something else than the task's graph that is equal by algebra.
[[nodiscard]] bool isAlgebraic(const Genome& genome);

// A part of a program that can be compiled separately: some of its kernels, and the functions that they call.
struct SourcePart {
  std::string source;
  std::vector<std::string> entries;  // extern "C" names of its kernels
  std::vector<ProgramLines> lines;   // where its lines stand in the program's source
  friend bool operator==(const SourcePart&, const SourcePart&) = default;
};

// One program for a task: device source and the plan that launches it.
struct Program {
  Language language = Language::Cpp;
  std::string source;  // empty when every step is an ATen call
  LaunchPlan plan;
  std::vector<std::string> compileFlags;  // from an allow-list, beyond the language's defaults
  std::vector<SourcePart> parts = {};     // all of its kernels, where they can be compiled one by one

  [[nodiscard]] std::vector<std::string> entries() const;
};

}  // namespace swage::domain
