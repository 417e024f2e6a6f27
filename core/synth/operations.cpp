// SPDX-License-Identifier: Apache-2.0
#include "core/synth/operations.h"

#include <algorithm>

#include "core/synth/lowering.h"

namespace swage::synth {
namespace {

const LoweringTable& loweringTable() {
  static const LoweringTable table = [] {
    LoweringTable built;
    registerPointwise(built);
    registerSeveral(built);
    registerReductions(built);
    registerNormalisations(built);
    registerLosses(built);
    registerProducts(built);
    registerAttention(built);
    registerWindows(built);
    registerOrder(built);
    registerRecurrences(built);
    return built;
  }();
  return table;
}

// A node that concatenates in place, and where its parts lie.
void placeParts(const domain::Graph& graph, const domain::Node& node, OperationGraph& result) {
  const NodeView view(node, graph.values);
  const domain::TensorType& whole = view.type(view.result());
  const int dim = wrapDim(view.integer(1, "dim").value_or(0), whole.shape.size());
  std::int64_t start = 0;
  for (const domain::ValueId part : domain::inputsOf(node)) {
    result.places[part] = {view.result(), start * whole.strides[static_cast<std::size_t>(dim)]};
    start += graph.type(part).shape[static_cast<std::size_t>(dim)];
  }
}

void findNodesOfParts(const domain::Graph& graph, OperationGraph& result) {
  const auto isPart = [&result](domain::ValueId value) { return result.places.contains(value); };
  for (int node = 0; node < static_cast<int>(graph.nodes.size()); ++node) {
    const domain::Node& self = graph.nodes[static_cast<std::size_t>(node)];
    const std::vector<domain::ValueId> inputs = domain::inputsOf(self);
    if (self.op != kInPlaceConcatenation && (std::any_of(inputs.begin(), inputs.end(), isPart) ||
                                             std::any_of(self.outputs.begin(), self.outputs.end(), isPart))) {
      result.nodesOfParts.push_back(node);
    }
  }
}

bool isEmpty(const domain::Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

int wrapDim(std::int64_t dim, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  const std::int64_t wrapped = dim < 0 ? dim + size : dim;
  return wrapped >= 0 && wrapped < size ? static_cast<int>(wrapped) : -1;
}

domain::ValueId OperationSink::newValue(domain::TensorType type) {
  m_graph.values.push_back(std::move(type));
  return domain::ValueId(static_cast<std::int32_t>(m_graph.values.size()) - 1);
}

void OperationSink::add(Operation operation) {
  operation.node = m_node;
  m_graph.operations.push_back(std::move(operation));
}

bool Operation::folds() const {
  return !layout.reducedDims.empty() || !layout.more.empty() ||
         std::find(layout.roles.begin(), layout.roles.end(), AxisRole::Scan) != layout.roles.end();
}

std::vector<std::string> loweredOperators() {
  std::vector<std::string> names;
  for (const auto& [name, lower] : loweringTable()) {
    names.push_back(name);
  }
  return names;
}

bool isLowered(const std::string& op) {
  return loweringTable().contains(op);
}

OperationGraph findOperations(const domain::Graph& graph) {
  OperationGraph result;
  result.values = graph.values;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const std::size_t before = result.operations.size();
    if (graph.nodes[node].op == kInPlaceConcatenation) {
      placeParts(graph, graph.nodes[node], result);
    }
    if (const auto lower = loweringTable().find(graph.nodes[node].op); lower != loweringTable().end()) {
      OperationSink sink(result, static_cast<int>(node));
      lower->second(NodeView(graph.nodes[node], graph.values), sink);
    }
    // Nothing to compute: no pattern has a loop for it, and PyTorch does it in no time.
    if (std::any_of(result.operations.begin() + static_cast<std::ptrdiff_t>(before), result.operations.end(),
                    [](const Operation& operation) { return isEmpty(operation.layout.space); })) {
      result.operations.resize(before);
    }
    const std::size_t added = result.operations.size() - before;
    result.firstOperation.push_back(added > 0 ? std::optional(static_cast<int>(before)) : std::nullopt);
    result.operationCount.push_back(static_cast<int>(added));
  }
  if (!result.places.empty()) {
    findNodesOfParts(graph, result);
  }
  return result;
}

}  // namespace swage::synth
