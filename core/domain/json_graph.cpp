// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "core/domain/checks.h"
#include "core/domain/json_reader.h"

// core/wire/TASK_FORMAT.md is the specification of everything here.
namespace swage::domain {
namespace {

std::string_view name(InputKind kind) {
  switch (kind) {
    case InputKind::User: return "user";
    case InputKind::Parameter: return "parameter";
    case InputKind::Buffer: return "buffer";
    case InputKind::Constant: return "constant";
  }
  return "user";
}

std::optional<InputKind> parseInputKind(std::string_view text) {
  for (const InputKind kind : {InputKind::User, InputKind::Parameter, InputKind::Buffer, InputKind::Constant}) {
    if (name(kind) == text) {
      return kind;
    }
  }
  return std::nullopt;
}

std::string_view name(OutputKind kind) {
  return kind == OutputKind::User ? "user" : "buffer_mutation";
}

std::optional<OutputKind> parseOutputKind(std::string_view text) {
  for (const OutputKind kind : {OutputKind::User, OutputKind::BufferMutation}) {
    if (name(kind) == text) {
      return kind;
    }
  }
  return std::nullopt;
}

struct ArgumentWriter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(ValueId id) const { return {{"value", id.value()}}; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return numberToJson(value); }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(ScalarType value) const { return {{"dtype", domain::name(value)}}; }
  Json operator()(DeviceArgument) const { return {{"device", true}}; }
  Json operator()(const LayoutArgument& value) const { return {{"layout", value.layout}}; }
  Json operator()(const MemoryFormatArgument& value) const { return {{"memory_format", value.format}}; }
  Json operator()(const ArgumentList& list) const {
    Json items = Json::array();
    for (const Argument& item : list) {
      items.push_back(std::visit(*this, item.value));
    }
    return items;
  }
};

Argument readArgument(const JsonReader& reader, int depth);

Argument readObjectArgument(const JsonReader& reader) {
  const Json& json = reader.json();
  if (json.size() == 1) {
    const std::string& key = json.begin().key();
    const JsonReader member = reader[key];
    if (key == "value") {
      return {readValueId(member)};
    }
    if (key == "float") {
      return {reader.number()};
    }
    if (key == "dtype") {
      return {member.word(parseScalarType)};
    }
    if (key == "layout") {
      return {LayoutArgument{member.text(kMaxName)}};
    }
    if (key == "memory_format") {
      return {MemoryFormatArgument{member.text(kMaxName)}};
    }
    if (key == "device" && member.json().is_boolean()) {
      return {DeviceArgument{}};
    }
  }
  reader.fail("must have one member: value, float, dtype, layout, memory_format or device");
  return {};
}

Argument readArgument(const JsonReader& reader, int depth) {
  if (depth > kMaxArgumentDepth) {
    reader.fail(fmt::format("must not be nested deeper than {} lists", kMaxArgumentDepth));
    return {};
  }
  const Json& json = reader.json();
  switch (json.type()) {
    case Json::value_t::null: return {};
    case Json::value_t::boolean: return {reader.boolean()};
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned: return {reader.integer()};
    case Json::value_t::number_float: return {reader.number()};
    case Json::value_t::string: return {reader.text()};
    case Json::value_t::object: return readObjectArgument(reader);
    case Json::value_t::array:
      return {reader.list([depth](const JsonReader& item) { return readArgument(item, depth + 1); })};
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  reader.fail("must be an argument");
  return {};
}

Json toJson(const GraphInput& input) {
  return {{"value", input.value.value()}, {"kind", name(input.kind)}, {"name", input.name}};
}

Json toJson(const GraphOutput& output) {
  return {{"value", output.value.value()}, {"kind", name(output.kind)}, {"name", output.name}};
}

GraphInput readGraphInput(const JsonReader& reader) {
  return {readValueId(reader["value"]), reader["kind"].word(parseInputKind), reader["name"].text(kMaxName)};
}

GraphOutput readGraphOutput(const JsonReader& reader) {
  return {readValueId(reader["value"]), reader["kind"].word(parseOutputKind), reader["name"].text(kMaxName)};
}

template <class T>
Json toJsonList(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) {
    list.push_back(toJson(item));
  }
  return list;
}

}  // namespace

Json toJson(const TensorType& value) {
  return {{"dtype", name(value.dtype)}, {"shape", value.shape}, {"strides", value.strides}};
}

Json toJson(const Node& node) {
  Json args = Json::array();
  for (const Argument& argument : node.args) {
    args.push_back(std::visit(ArgumentWriter{}, argument.value));
  }
  Json kwargs = Json::object();
  for (const auto& [key, argument] : node.kwargs) {
    kwargs[key] = std::visit(ArgumentWriter{}, argument.value);
  }
  Json outputs = Json::array();
  for (const ValueId id : node.outputs) {
    outputs.push_back(id.value());
  }
  Json json = {{"op", node.op}, {"args", args}, {"kwargs", kwargs}, {"outputs", outputs}, {"where", node.where}};
  for (const auto& [key, text] : {std::pair("code", &node.code), std::pair("name", &node.name)}) {
    if (!text->empty()) {
      json[key] = *text;
    }
  }
  return json;
}

Json toJson(const Graph& value) {
  return {{"values", toJsonList(value.values)},
          {"inputs", toJsonList(value.inputs)},
          {"nodes", toJsonList(value.nodes)},
          {"outputs", toJsonList(value.outputs)}};
}

TensorType readTensorType(const JsonReader& reader) {
  const auto extent = [](const JsonReader& item) { return item.integer(); };
  TensorType type{reader["dtype"].word(parseScalarType), reader["shape"].list(extent, kMaxRank),
                  reader["strides"].list(extent, kMaxRank)};
  if (!reader.hasFailed()) {
    if (const std::string defect = findDefect(type); !defect.empty()) {
      reader.fail(defect);
    }
  }
  return type;
}

ValueId readValueId(const JsonReader& reader) {
  return ValueId(static_cast<std::int32_t>(reader.integer(-1, static_cast<std::int64_t>(kMaxJsonItems))));
}

Node readNode(const JsonReader& reader) {
  Node node;
  node.op = reader["op"].text(kMaxName);
  node.args = reader["args"].list([](const JsonReader& item) { return readArgument(item, 0); });
  if (reader.has("kwargs")) {
    reader["kwargs"].eachMember(
        [&](const std::string& key, const JsonReader& item) { node.kwargs.emplace_back(key, readArgument(item, 0)); });
  }
  node.outputs = reader["outputs"].list(readValueId);
  for (const auto& [key, text] :
       {std::pair("where", &node.where), std::pair("code", &node.code), std::pair("name", &node.name)}) {
    if (reader.has(key)) {
      *text = reader[key].text(kMaxName);
    }
  }
  return node;
}

Graph readGraph(const JsonReader& reader) {
  Graph graph{reader["values"].list(readTensorType), reader["inputs"].list(readGraphInput),
              reader["nodes"].list(readNode), reader["outputs"].list(readGraphOutput)};
  if (!reader.hasFailed()) {
    if (const std::string defect = findDefect(graph); !defect.empty()) {
      reader.fail("cannot be used: " + defect);
    }
  }
  return graph;
}

Result<Graph> graphFromJson(const Json& json) {
  return readJson(json, "graph", readGraph);
}

}  // namespace swage::domain
