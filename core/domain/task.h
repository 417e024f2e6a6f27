// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/domain/graph.h"

namespace swage::domain {

enum class TaskKind : std::uint8_t { KernelBench, Module };
enum class ModuleMode : std::uint8_t { Train, Eval };

struct TaskSource {
  TaskKind kind = TaskKind::KernelBench;
  std::string file;
  std::string className;
  std::string sha256;
  std::vector<std::pair<std::string, std::string>> overrides;  // --set NAME=VALUE, value as JSON text
  std::string extraJson;   // members that only the bridge reads (path, inputs, init, eval), as a JSON object or empty
  bool hasChecker = true;  // of the kind KernelBench: whether KernelBench's own checker will judge an export of it

  // Whether results have to be near those of PyTorch, however inexact these are: KernelBench's checker asks for no more
  // and no less.
  [[nodiscard]] bool mustBeNearEager() const { return kind == TaskKind::KernelBench && hasChecker; }
};

struct TaskBytes {
  std::int64_t inputs = 0;
  std::int64_t parameters = 0;
  std::int64_t outputs = 0;
  std::int64_t intermediates = 0;
};

// What is asked: a reference graph, how its inputs are made, and where it came from.
struct Task {
  std::string id;  // SHA-256 of the canonical JSON: the same question has the same id everywhere
  std::string name;
  TaskSource source;
  ModuleMode mode = ModuleMode::Train;
  std::string torchVersion;
  std::int64_t seed = 42;
  Graph graph;
  Graph inputGenerator;
  TaskBytes bytes;
  std::vector<std::string> warnings;
  std::string extraJson;  // members that only the bridge reads (call), as a JSON object or empty
};

}  // namespace swage::domain
