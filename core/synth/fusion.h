// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/synth/operations.h"
#include "core/synth/region.h"

namespace swage::synth {

// Which sets of operations can be one region, and what such a region computes. Answers are remembered.
class Fusion {
 public:
  // `computes`: whether some kernel can compute such a region at all.
  using Computes = std::function<bool(const Region&)>;
  Fusion(const domain::Graph& graph, const OperationGraph& operations, Computes computes);

  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }
  // The scalar program of these operations (ascending), or no value when they cannot be one kernel.
  [[nodiscard]] const Region* region(const std::vector<int>& operations) const;

  // Values made by `operations` that something outside reads.
  [[nodiscard]] std::vector<domain::ValueId> outputsOf(const std::vector<int>& operations) const;
  // Whether some value flows between the two sets, or they read a common one.
  [[nodiscard]] bool areRelated(const std::vector<int>& a, const std::vector<int>& b) const;

  // A legal partition that joins each operation with those before it as far as possible; with or without folds of what
  // a product has made, or of those operations alone whose node folds nothing. Found once.
  enum class Joins : std::uint8_t { All, NoLaterFolds, Elements };
  [[nodiscard]] const std::vector<std::vector<int>>& greedyPartition(Joins joins = Joins::All) const;
  // Every operation alone.
  [[nodiscard]] std::vector<std::vector<int>> singlePartition() const;

  // Execution order of a partition together with the nodes that no set covers: each item is an index into
  // `partition`, or ~node for an ATen node. No value: the partition has a cycle.
  [[nodiscard]] std::optional<std::vector<int>> schedule(const std::vector<std::vector<int>>& partition) const;

 private:
  // Whether a partition can run when one of its sets is replaced.
  [[nodiscard]] bool isSchedulable(std::vector<std::vector<int>> partition, std::size_t which,
                                   const std::vector<int>& operations) const;
  [[nodiscard]] std::optional<Region> build(const std::vector<int>& operations) const;
  [[nodiscard]] bool folds(int node) const;
  [[nodiscard]] std::vector<std::vector<int>> findGreedyPartition(Joins joins) const;
  // Joins the regions whose results the last operation of region `which` reads with it, where all are maps or
  // reductions: branches that meet are one pass then.
  void joinBranches(std::vector<std::vector<int>>& partition, std::size_t which) const;

  const domain::Graph& m_graph;
  const OperationGraph& m_operations;
  Computes m_computes;
  std::map<domain::ValueId, std::vector<int>> m_readers;      // operations that read a value
  std::map<domain::ValueId, std::vector<int>> m_atenReaders;  // nodes without operations that read it
  std::vector<domain::ValueId> m_graphOutputs;
  mutable std::mutex m_mutex;
  mutable std::map<std::vector<int>, std::optional<Region>> m_known;
  mutable std::mutex m_greedyMutex;  // taken before the other
  mutable std::map<Joins, std::vector<std::vector<int>>> m_greedy;
};

}  // namespace swage::synth
