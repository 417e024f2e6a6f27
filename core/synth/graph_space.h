// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/synth/fusion.h"
#include "core/synth/genome_moves.h"

namespace swage::synth {

// What the synthesiser needs beside a graph. All of it outlives the spaces made with it.
struct SpaceParts {
  const domain::DeviceInfo& device;
  const patterns::Catalogue& catalogue;
  const StrategyTable& strategies;
  KnownFits& known;
};

// A graph, its operations, and the genomes of it: the task's own, or one of its rewrites. Any thread may use it.
class GraphSpace {
 public:
  GraphSpace(domain::Graph graph, std::vector<domain::Rewrite> rewrites, const SpaceParts& parts);
  GraphSpace(const GraphSpace&) = delete;
  GraphSpace& operator=(const GraphSpace&) = delete;

  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }
  [[nodiscard]] const std::vector<domain::Rewrite>& rewrites() const { return m_rewrites; }
  [[nodiscard]] const OperationGraph& operations() const { return m_operations; }
  [[nodiscard]] const Fusion& fusion() const { return m_fusion; }
  [[nodiscard]] const GenomeMoves& moves() const { return m_moves; }
  [[nodiscard]] const ModelText& model() const { return m_model; }
  // What can be rewritten in this graph.
  [[nodiscard]] const std::vector<domain::Rewrite>& next() const { return m_next; }

 private:
  domain::Graph m_graph;
  std::vector<domain::Rewrite> m_rewrites;
  OperationGraph m_operations;
  Fusion m_fusion;
  ModelText m_model;
  GenomeMoves m_moves;
  std::vector<domain::Rewrite> m_next;
};

// The spaces of one task: its own graph and the rewritten ones, which are made when they are first asked for. Any
// thread may use it.
class GraphSpaces {
 public:
  GraphSpaces(const domain::Graph& graph, const SpaceParts& parts);

  [[nodiscard]] const GraphSpace& original() const { return m_original; }
  // Null: the graph cannot be rewritten so.
  [[nodiscard]] const GraphSpace* find(const std::vector<domain::Rewrite>& rewrites) const;
  // The rewrites worth trying first: all that save work, then all of each rule, and where that is a choice, this with
  // all that save work beside it. None: nothing can be rewritten.
  [[nodiscard]] const std::vector<std::vector<domain::Rewrite>>& choices() const { return m_choices; }

  // The genome with one more rewrite, or without one of its own; what it says of the kernels that are left is kept.
  [[nodiscard]] std::optional<domain::Genome> rewrite(const domain::Genome& genome, Random& random) const;

 private:
  [[nodiscard]] std::optional<std::vector<domain::Rewrite>> changed(const GraphSpace& from, Random& random) const;

  SpaceParts m_parts;
  GraphSpace m_original;
  std::vector<std::vector<domain::Rewrite>> m_choices;
  mutable std::mutex m_mutex;
  mutable std::map<std::string, std::unique_ptr<GraphSpace>> m_known;  // by their rewrites; null: not possible
};

}  // namespace swage::synth
