// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/device_info.h"
#include "core/domain/task.h"

namespace swage::testing {

// %2 = sum of relu(%0) over rows: the task that the examples of the prompts are about.
[[nodiscard]] inline domain::Task rowSumTask() {
  using domain::Argument;
  using domain::ValueId;
  domain::Task task;
  task.name = "row_sum";
  domain::Graph& graph = task.graph;
  const auto f32 = domain::ScalarType::Float32;
  graph.values = {domain::contiguousTensor(f32, {4096, 1024}), domain::contiguousTensor(f32, {4096, 1024}),
                  domain::contiguousTensor(f32, {4096})};
  graph.inputs = {{.value = ValueId(0), .kind = domain::InputKind::User, .name = "x"}};
  graph.nodes = {
      {.op = "aten.relu.default", .args = {Argument{ValueId(0)}}, .kwargs = {}, .outputs = {ValueId(1)}, .where = {}},
      {.op = "aten.sum.dim_IntList",
       .args = {Argument{ValueId(1)}, Argument{domain::ArgumentList{Argument{std::int64_t{-1}}}}},
       .kwargs = {},
       .outputs = {ValueId(2)},
       .where = {}}};
  graph.outputs = {{.value = ValueId(2), .kind = domain::OutputKind::User, .name = {}}};
  return task;
}

[[nodiscard]] inline domain::DeviceInfo smallCpu() {
  domain::DeviceInfo device;
  device.name = "Small CPU";
  device.host = "my-own-host";
  device.architecture = "x86-64-v3";
  device.multiprocessors = 2;
  device.threads = 2;
  device.copyBytesPerSecond = 20e9;
  return device;
}

}  // namespace swage::testing
