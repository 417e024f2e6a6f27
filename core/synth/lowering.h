// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/synth/node_view.h"
#include "core/synth/operations.h"

// From ATen operators to operations. One file for each family registers its operators here.
namespace swage::synth {

// Collects the operations of one node. Values between them are allocated here.
class OperationSink {
 public:
  OperationSink(OperationGraph& graph, int node) : m_graph(graph), m_node(node) {}

  [[nodiscard]] domain::ValueId newValue(domain::TensorType type);
  void add(Operation operation);
  [[nodiscard]] const std::vector<domain::TensorType>& values() const { return m_graph.values; }

 private:
  OperationGraph& m_graph;
  int m_node;
};

// Adds the operations of a node. Adds nothing when this call of the operator is not supported (then it stays ATen).
using LowerNode = std::function<void(const NodeView&, OperationSink&)>;
using LoweringTable = std::map<std::string, LowerNode, std::less<>>;

void registerPointwise(LoweringTable& table);
void registerSeveral(LoweringTable& table);
void registerReductions(LoweringTable& table);
void registerNormalisations(LoweringTable& table);
void registerLosses(LoweringTable& table);
void registerProducts(LoweringTable& table);
void registerAttention(LoweringTable& table);
void registerWindows(LoweringTable& table);
void registerOrder(LoweringTable& table);
void registerRecurrences(LoweringTable& table);

// Adds x weight^T + bias, as aten.linear has it. `values` has the types of all of them.
struct LinearParts {
  domain::ValueId x;
  domain::ValueId weight;
  std::optional<domain::ValueId> bias;
  domain::ValueId result;
  bool mayRound = false;  // see Region
};
void addLinear(const NodeView& values, OperationSink& sink, const LinearParts& parts);
// Puts tensors one after another along a dimension; at most so many.
inline constexpr std::size_t kMostConcatenated = 8;
void addConcatenation(OperationSink& sink, const std::vector<domain::ValueId>& inputs, domain::ValueId result, int dim);

// Non-negative dimension index, or -1 when out of range.
[[nodiscard]] int wrapDim(std::int64_t dim, std::size_t rank);

}  // namespace swage::synth
