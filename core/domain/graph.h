// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/strong_id.h"
#include "core/domain/scalar_type.h"

// The functional operator graph of a task, as core/wire/TASK_FORMAT.md describes it.
namespace swage::domain {

using Shape = std::vector<std::int64_t>;
using ValueId = StrongId<struct ValueIdTag, std::int32_t>;  // index into Graph::values; invalid = no value

struct TensorType {
  ScalarType dtype = ScalarType::Float32;
  Shape shape;
  Shape strides;  // in elements

  [[nodiscard]] std::int64_t elementCount() const;
  [[nodiscard]] std::int64_t byteCount() const;
  [[nodiscard]] bool isContiguous() const;  // row-major, ignoring dimensions of size 1
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

[[nodiscard]] TensorType contiguousTensor(ScalarType dtype, Shape shape);

// Placeholders inside arguments. The device is always the task's own, wherever it runs.
struct DeviceArgument {
  friend bool operator==(const DeviceArgument&, const DeviceArgument&) = default;
};
struct LayoutArgument {
  std::string layout;
  friend bool operator==(const LayoutArgument&, const LayoutArgument&) = default;
};
struct MemoryFormatArgument {
  std::string format;
  friend bool operator==(const MemoryFormatArgument&, const MemoryFormatArgument&) = default;
};

struct Argument;
using ArgumentList = std::vector<Argument>;

struct Argument {
  std::variant<std::monostate, ValueId, bool, std::int64_t, double, std::string, ScalarType, DeviceArgument,
               LayoutArgument, MemoryFormatArgument, ArgumentList>
      value;
  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Node {
  std::string op;  // "aten.softmax.int"
  std::vector<Argument> args;
  std::vector<std::pair<std::string, Argument>> kwargs;
  std::vector<ValueId> outputs;  // invalid id: a result nobody uses
  std::string where;             // "model.py:14 in forward", may be empty
  std::string code = {};         // the text of that line, for readers alone; may be empty
  std::string name = {};         // what the model assigns the result to there; mostly empty
  friend bool operator==(const Node&, const Node&) = default;
};

enum class InputKind : std::uint8_t { User, Parameter, Buffer, Constant };
enum class OutputKind : std::uint8_t { User, BufferMutation };

struct GraphInput {
  ValueId value;
  InputKind kind = InputKind::User;
  std::string name;
  friend bool operator==(const GraphInput&, const GraphInput&) = default;
};

struct GraphOutput {
  ValueId value;
  OutputKind kind = OutputKind::User;
  std::string name;  // of the buffer, for BufferMutation
  friend bool operator==(const GraphOutput&, const GraphOutput&) = default;
};

struct Graph {
  std::vector<TensorType> values;
  std::vector<GraphInput> inputs;
  std::vector<Node> nodes;  // in an order in which every value is defined before it is used
  std::vector<GraphOutput> outputs;

  [[nodiscard]] const TensorType& type(ValueId id) const { return values[static_cast<std::size_t>(id.value())]; }
  friend bool operator==(const Graph&, const Graph&) = default;
};

// Every value id an argument mentions, in order, also inside lists.
void collectValues(const Argument& argument, std::vector<ValueId>& into);
[[nodiscard]] std::vector<ValueId> inputsOf(const Node& node);

}  // namespace swage::domain
