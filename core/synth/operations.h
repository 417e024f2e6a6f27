// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/graph.h"
#include "core/synth/region_builder.h"

namespace swage::synth {

// One fusible operation: a graph node, or a part of a node that needs several passes of different shape
// (a cross entropy is a row-wise part and a mean).
struct Operation {
  int node = -1;                        // Graph::nodes index it stems from
  std::vector<domain::ValueId> inputs;  // tensors it reads
  std::vector<domain::ValueId> outputs;
  RegionBuilder::Layout layout;               // the axes that it needs
  std::function<bool(RegionBuilder&)> lower;  // writes the scalar program; false: does not fit this region after all
  bool isAlone = false;                       // nothing joins its region

  // Whether it reduces, multiplies or scans; else it is pointwise.
  [[nodiscard]] bool folds() const;
};

// The node that stands for a concatenation whose parts are written in place: its arguments are those of aten.cat, and
// it does nothing itself.
inline constexpr std::string_view kInPlaceConcatenation = "swage.concatenation_in_place.default";

// A graph seen as operations. Values made between the parts of one node have ids after the graph's own.
struct OperationGraph {
  std::vector<domain::TensorType> values;          // the graph's, then internal ones
  std::vector<Operation> operations;               // in execution order
  std::vector<std::optional<int>> firstOperation;  // for each node: index of its first operation, none: ATen only
  std::vector<int> operationCount;                 // for each node
  PartPlaces places;                               // of values that are parts of others
  // Nodes that make or read such a part, beside the concatenations: they must be computed by kernels of ours.
  std::vector<int> nodesOfParts;
};

[[nodiscard]] OperationGraph findOperations(const domain::Graph& graph);
// The operators of which it finds some, by their names in graphs. core/domain/aten.h knows all of them.
[[nodiscard]] std::vector<std::string> loweredOperators();
[[nodiscard]] bool isLowered(const std::string& op);

}  // namespace swage::synth
