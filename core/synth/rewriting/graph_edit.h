// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/domain/graph.h"
#include "core/synth/node_view.h"

namespace swage::synth {

// Who makes and who reads each value of a graph. Refers to the graph.
class GraphIndex {
 public:
  explicit GraphIndex(const domain::Graph& graph);

  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }
  // The node that has the value as its first result; no value: an input of the graph, or a further result.
  [[nodiscard]] std::optional<std::size_t> maker(domain::ValueId value) const;
  // Nodes that read the value, and outputs of the graph that it is.
  [[nodiscard]] int readers(domain::ValueId value) const;
  [[nodiscard]] int outputs(domain::ValueId value) const;

 private:
  const domain::Graph& m_graph;
  std::map<domain::ValueId, std::size_t> m_makers;
  std::map<domain::ValueId, int> m_readers;
  std::map<domain::ValueId, int> m_outputs;
};

// A change of a graph around one node, the anchor: rules read what leads to it, write nodes in front of it, and say
// which values these replace. Until finish() nothing is changed, so that a rule may give up at any point.
class GraphEdit {
 public:
  GraphEdit(const GraphIndex& index, std::size_t anchor) : m_index(index), m_anchor(anchor) {}

  using Keywords = std::vector<std::pair<std::string, domain::Argument>>;

  // --- reading
  [[nodiscard]] NodeView anchor() const { return view(m_anchor); }
  // The node that makes a value of the graph; no value: it has none.
  [[nodiscard]] std::optional<NodeView> maker(domain::ValueId value) const;
  [[nodiscard]] std::optional<NodeView> maker(std::optional<domain::ValueId> value) const;
  // Whether a single node needs the value, so that it need not be made once that node is gone.
  [[nodiscard]] bool isReadOnce(domain::ValueId value) const;
  // Whether only outputs of the graph need it.
  [[nodiscard]] bool isOutputOnly(domain::ValueId value) const;
  [[nodiscard]] const domain::TensorType& type(domain::ValueId value) const;
  [[nodiscard]] const domain::Shape& shape(domain::ValueId value) const { return type(value).shape; }

  // --- writing
  // A new node with one result, of the type of elements that its first tensor has.
  domain::ValueId call(std::string op, std::vector<domain::Argument> args, domain::Shape shape, Keywords keywords = {});
  // The same whose result lies in memory as `type` says: a view, or a copy with another order of elements.
  domain::ValueId viewed(std::string op, std::vector<domain::Argument> args, domain::TensorType type,
                         Keywords keywords = {});
  // The elements in another shape, without a node where it has that shape.
  domain::ValueId reshaped(domain::ValueId value, const domain::Shape& shape);
  // Has a value of the graph lie in memory in another way; its shape and type of elements stay.
  void layOut(domain::ValueId value, const domain::Shape& strides);
  // Lets `by` take the place of a value of the graph, which has as many elements.
  void replace(domain::ValueId value, domain::ValueId by);

  // The changed graph, without the nodes that nobody needs any more.
  [[nodiscard]] domain::Graph finish();

 private:
  [[nodiscard]] NodeView view(std::size_t node) const { return {m_index.graph().nodes[node], m_index.graph().values}; }
  [[nodiscard]] bool isNew(domain::ValueId value) const;
  void rename(domain::ValueId from, domain::ValueId to);

  const GraphIndex& m_index;
  std::size_t m_anchor;
  std::vector<domain::TensorType> m_values;  // behind those of the graph
  std::vector<domain::Node> m_nodes;         // in front of the anchor
  std::map<domain::ValueId, domain::ValueId> m_replaced;
  std::map<domain::ValueId, domain::Shape> m_strides;  // of values that are laid out in another way
};

[[nodiscard]] inline domain::Argument argument(domain::ValueId value) {
  return {value};
}
[[nodiscard]] inline domain::Argument argument(double number) {
  return {number};
}
[[nodiscard]] inline domain::Argument argument(bool flag) {
  return {flag};
}
[[nodiscard]] inline domain::Argument argument(std::int64_t number) {
  return {number};
}
[[nodiscard]] domain::Argument argument(const std::vector<std::int64_t>& numbers);
[[nodiscard]] domain::Argument argument(const std::vector<domain::ValueId>& values);
[[nodiscard]] domain::Argument argument(std::optional<domain::ValueId> value);
[[nodiscard]] std::int64_t elementsOf(const domain::Shape& shape);

}  // namespace swage::synth
