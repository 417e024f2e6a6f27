// SPDX-License-Identifier: Apache-2.0
#include "core/synth/rewriting/graph_edit.h"

#include <algorithm>
#include <set>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

using domain::Argument;
using domain::Node;
using domain::ValueId;

std::size_t asIndex(ValueId value) {
  return static_cast<std::size_t>(value.value());
}

void renameIn(Argument& argument, ValueId from, ValueId to) {
  if (auto* value = std::get_if<ValueId>(&argument.value); value != nullptr && *value == from) {
    *value = to;
  } else if (auto* list = std::get_if<domain::ArgumentList>(&argument.value)) {
    for (Argument& item : *list) {
      renameIn(item, from, to);
    }
  }
}

void renameArguments(Node& node, ValueId from, ValueId to) {
  for (Argument& argument : node.args) {
    renameIn(argument, from, to);
  }
  for (auto& [key, argument] : node.kwargs) {
    renameIn(argument, from, to);
  }
}

// Keeps what the outputs of the graph need.
void dropUnneeded(domain::Graph& graph) {
  std::set<ValueId> needed;
  for (const domain::GraphOutput& output : graph.outputs) {
    needed.insert(output.value);
  }
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) { return needed.contains(id); })) {
      for (const ValueId input : domain::inputsOf(*node)) {
        needed.insert(input);
      }
      kept.push_back(std::move(*node));
    }
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

}  // namespace

GraphIndex::GraphIndex(const domain::Graph& graph) : m_graph(graph) {
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!graph.nodes[node].outputs.empty() && graph.nodes[node].outputs.front().isValid()) {
      m_makers.emplace(graph.nodes[node].outputs.front(), node);
    }
    const std::vector<ValueId> inputs = domain::inputsOf(graph.nodes[node]);
    for (const ValueId input : std::set<ValueId>(inputs.begin(), inputs.end())) {
      ++m_readers[input];
    }
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    ++m_outputs[output.value];
  }
}

std::optional<std::size_t> GraphIndex::maker(ValueId value) const {
  const auto found = m_makers.find(value);
  return found == m_makers.end() ? std::nullopt : std::optional(found->second);
}

int GraphIndex::readers(ValueId value) const {
  const auto found = m_readers.find(value);
  return found == m_readers.end() ? 0 : found->second;
}

int GraphIndex::outputs(ValueId value) const {
  const auto found = m_outputs.find(value);
  return found == m_outputs.end() ? 0 : found->second;
}

std::optional<NodeView> GraphEdit::maker(ValueId value) const {
  const auto node = m_index.maker(value);
  return node ? std::optional(view(*node)) : std::nullopt;
}

std::optional<NodeView> GraphEdit::maker(std::optional<ValueId> value) const {
  return value ? maker(*value) : std::nullopt;
}

bool GraphEdit::isReadOnce(ValueId value) const {
  return m_index.readers(value) == 1 && m_index.outputs(value) == 0;
}

bool GraphEdit::isOutputOnly(ValueId value) const {
  return m_index.readers(value) == 0;
}

bool GraphEdit::isNew(ValueId value) const {
  return asIndex(value) >= m_index.graph().values.size();
}

const domain::TensorType& GraphEdit::type(ValueId value) const {
  return isNew(value) ? m_values[asIndex(value) - m_index.graph().values.size()] : m_index.graph().type(value);
}

ValueId GraphEdit::viewed(std::string op, std::vector<Argument> args, domain::TensorType type, Keywords keywords) {
  const ValueId result(static_cast<std::int32_t>(m_index.graph().values.size() + m_values.size()));
  m_values.push_back(std::move(type));
  const Node& from = anchor().node();
  m_nodes.push_back({std::move(op), std::move(args), std::move(keywords), {result}, from.where, from.code});
  return result;
}

ValueId GraphEdit::call(std::string op, std::vector<Argument> args, domain::Shape shape, Keywords keywords) {
  std::vector<ValueId> values;
  for (const Argument& argument : args) {
    domain::collectValues(argument, values);
  }
  SWAGE_ASSERT(!values.empty());
  auto result = domain::contiguousTensor(type(values.front()).dtype, std::move(shape));
  return viewed(std::move(op), std::move(args), std::move(result), std::move(keywords));
}

ValueId GraphEdit::reshaped(ValueId value, const domain::Shape& shape) {
  return this->shape(value) == shape ? value : call("aten.view.default", {argument(value), argument(shape)}, shape);
}

void GraphEdit::rename(ValueId from, ValueId to) {
  for (Node& node : m_nodes) {
    renameArguments(node, from, to);
    std::replace(node.outputs.begin(), node.outputs.end(), from, to);
  }
}

void GraphEdit::layOut(ValueId value, const domain::Shape& strides) {
  SWAGE_ASSERT(!isNew(value) && strides.size() == shape(value).size());
  m_strides[value] = strides;
}

void GraphEdit::replace(ValueId value, ValueId by) {
  const domain::TensorType& wanted = type(value);
  by = reshaped(by, wanted.shape);
  if (isNew(by) && type(by) == wanted) {
    rename(by, value);
    m_replaced[value] = value;
    const Node& from = anchor().node();
    for (Node& node : m_nodes) {
      node.name = node.outputs == from.outputs ? from.name : node.name;
    }
    return;
  }
  const auto& inputs = m_index.graph().inputs;
  const bool isInput = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.value == by; });
  // An input is never handed out as a result.
  m_replaced[value] =
      isInput && m_index.outputs(value) > 0 ? call("aten.clone.default", {argument(by)}, wanted.shape) : by;
}

domain::Graph GraphEdit::finish() {
  domain::Graph graph = m_index.graph();
  for (const auto& [value, strides] : m_strides) {
    graph.values[asIndex(value)].strides = strides;
  }
  graph.values.insert(graph.values.end(), m_values.begin(), m_values.end());
  for (Node& node : graph.nodes) {
    for (ValueId& output : node.outputs) {
      output = m_replaced.contains(output) ? ValueId() : output;
    }
  }
  const auto anchor = graph.nodes.begin() + static_cast<std::ptrdiff_t>(m_anchor);
  const auto behind = graph.nodes.insert(anchor, m_nodes.begin(), m_nodes.end());
  for (const auto& [value, by] : m_replaced) {
    if (by == value) {
      continue;
    }
    for (auto node = behind; node != graph.nodes.end(); ++node) {
      renameArguments(*node, value, by);
    }
    for (domain::GraphOutput& output : graph.outputs) {
      output.value = output.value == value ? by : output.value;
    }
  }
  dropUnneeded(graph);
  return graph;
}

Argument argument(const std::vector<std::int64_t>& numbers) {
  domain::ArgumentList list;
  for (const std::int64_t number : numbers) {
    list.push_back({number});
  }
  return {std::move(list)};
}

Argument argument(const std::vector<ValueId>& values) {
  domain::ArgumentList list;
  for (const ValueId value : values) {
    list.push_back({value});
  }
  return {std::move(list)};
}

Argument argument(std::optional<ValueId> value) {
  return value ? Argument{*value} : Argument{std::monostate()};
}

std::int64_t elementsOf(const domain::Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

}  // namespace swage::synth
