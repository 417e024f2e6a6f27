// SPDX-License-Identifier: Apache-2.0
#include "tests/core/verify/task_builder.h"

#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/domain/json.h"

namespace swage::testing {

domain::Graph graphFromText(std::string_view text) {
  const auto json = domain::parseJson(text);
  SWAGE_ASSERT(json.has_value());
  auto graph = domain::graphFromJson(*json);
  if (!graph) {
    log::error("{}", graph.error().message());
  }
  SWAGE_ASSERT(graph.has_value());
  return std::move(*graph);
}

domain::Task pointwiseTask(const domain::Shape& shape, std::string_view op) {
  const domain::TensorType type = domain::contiguousTensor(domain::ScalarType::Float32, shape);
  const std::string value = toJson(type).dump();
  domain::Task task;
  task.name = "pointwise";
  task.graph = graphFromText(fmt::format(
      R"({{"values": [{0}, {0}], "inputs": [{{"value": 0, "kind": "user", "name": "x"}}],
          "nodes": [{{"op": "{1}", "args": [{{"value": 0}}], "kwargs": {{}}, "outputs": [1], "where": ""}}],
          "outputs": [{{"value": 1, "kind": "user", "name": ""}}]}})",
      value, op));
  task.inputGenerator = graphFromText(fmt::format(
      R"({{"values": [{0}], "inputs": [],
          "nodes": [{{"op": "aten.randn.default", "args": [[{1}]],
                      "kwargs": {{"device": {{"device": true}}, "dtype": {{"dtype": "float32"}}}},
                      "outputs": [0], "where": ""}}],
          "outputs": [{{"value": 0, "kind": "user", "name": ""}}]}})",
      value, fmt::join(shape, ", ")));
  return task;
}

domain::Task taskOf(const domain::Shape& shape, std::string_view nodes, const std::vector<domain::Shape>& shapes,
                    std::string_view parameter) {
  domain::Task task = pointwiseTask(shape, "aten.relu.default");
  std::string values = toJson(task.graph.values[0]).dump();
  for (const domain::Shape& one : shapes) {
    values += ", " + toJson(domain::contiguousTensor(domain::ScalarType::Float32, one)).dump();
  }
  std::string inputs = R"({"value": 0, "kind": "user", "name": "x"})";
  if (!parameter.empty()) {
    inputs += fmt::format(R"(, {{"value": {}, "kind": "parameter", "name": "{}"}})", shapes.size(), parameter);
  }
  task.graph = graphFromText(fmt::format(
      R"({{"values": [{}], "inputs": [{}], "nodes": [{}],
          "outputs": [{{"value": 1, "kind": "user", "name": ""}}]}})",
      values, inputs, nodes));
  return task;
}

void addParameter(domain::Task& task, const std::string& name, const domain::Shape& shape) {
  const domain::ValueId value(static_cast<std::int32_t>(task.graph.values.size()));
  task.graph.values.push_back(domain::contiguousTensor(domain::ScalarType::Float32, shape));
  task.graph.inputs.push_back({value, domain::InputKind::Parameter, name});
}

domain::LaunchPlan oneKernelPlan(const domain::Task& task, const std::string& entry) {
  domain::LaunchPlan plan;
  plan.buffers = task.graph.values;
  plan.inputs = {domain::ValueId(0)};
  plan.outputs = {domain::ValueId(1)};
  domain::KernelStep step;
  step.entry = entry;
  step.arguments = {domain::ValueId(0), domain::ValueId(1), plan.buffers[0].elementCount()};
  plan.steps.emplace_back(step);
  return plan;
}

domain::LaunchPlan atenPlan(const domain::Task& task) {
  domain::LaunchPlan plan;
  plan.buffers = task.graph.values;
  for (const auto& input : task.graph.inputs) {
    plan.inputs.push_back(input.value);
  }
  for (const auto& output : task.graph.outputs) {
    plan.outputs.push_back(output.value);
  }
  for (const domain::Node& node : task.graph.nodes) {
    plan.steps.emplace_back(domain::AtenStep{node});
  }
  return plan;
}

void writeSafetensors(const std::filesystem::path& path, const std::string& name, const domain::Shape& shape,
                      std::span<const float> values) {
  const std::string header = fmt::format(R"({{"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", name,
                                         fmt::join(shape, ","), values.size_bytes());
  const std::uint64_t length = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  SWAGE_ASSERT(file.good());
}

}  // namespace swage::testing
