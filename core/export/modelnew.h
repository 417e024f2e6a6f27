// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/domain/task.h"

namespace swage::exporting {

// Where an exported kernel comes from; printed in the file and used for nothing else.
struct Provenance {
  std::string run;
  std::string candidate;
  std::int64_t seed = 0;
  std::string swageVersion;
  std::string cell;                  // "A1 B0 C1"
  std::string measured;              // "1.42x of eager: 0.81 ms instead of 1.15 ms"
  std::vector<std::string> checked;  // "held-back seeds passed", one line each
  std::vector<std::string> doubts;   // why a speedup on this task may say little
};

struct ModelNewInput {
  domain::Task task;
  std::string taskSource;  // source.py of the bundle
  domain::Program program;
  std::string binary;         // cubin; empty on a CPU, whose source is compiled where the file runs
  domain::DeviceInfo device;  // what the candidate was verified on
  // "call" of task.json as JSON text: how arguments and results nest. Empty: tensors in, one tensor or a tuple out.
  std::string call;
  // Constructor arguments given with --init, as JSON text. Empty: get_init_inputs() of the source, or none.
  std::string init;
  // Contiguous little-endian bytes of each graph input of kind constant, by name.
  std::map<std::string, std::string> constants;
  Provenance provenance;
};

// One Python file with `class ModelNew(nn.Module)`: the constructor and state_dict of the task's module, the verified
// kernel for the verified case (arguments, shapes, dtypes, strides, device, mode) and the module's own operators for
// every other. The file needs PyTorch alone, and a C++ compiler on a CPU or on another kind of GPU; without one the
// module's own operators run. Gradients are computed by the module's own operators.
// Errors: InvalidInput when plan, source or JSON texts are not well formed; Unsupported when the constants are too
// large to carry; NotFound when the source has no class of the task's name.
[[nodiscard]] Result<std::string> writeModelNew(const ModelNewInput& input);

}  // namespace swage::exporting
