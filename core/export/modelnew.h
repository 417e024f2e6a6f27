// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/domain/task.h"
#include "core/export/provenance.h"

namespace swage::exporting {

struct ModelNewInput {
  domain::Task task;
  std::string taskSource;  // the task's file as it was run, with what --set changed
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
  // The mode of the baseline that nothing beats ("eager", "compile", "max-autotune"): the export is that way itself.
  // Empty: the export is the candidate.
  std::string pytorchMode;
};

// One Python file with `class ModelNew`, a subclass of the task's module: its constructor and state_dict, the verified
// kernel for the verified case (arguments, shapes, dtypes, strides, device, mode) and the module's own operators for
// every other. The file needs PyTorch alone, and a C++ compiler on a CPU or on another kind of GPU; without one the
// module's own operators run. Gradients are computed by the module's own operators.
// Where PyTorch's own way wins it is the task's module, compiled in one line where that is the way: no plan, no check.
// Errors: InvalidInput when plan, source or JSON texts are not well formed; Unsupported when the constants are too
// large to carry; NotFound when the source has no class of the task's name.
[[nodiscard]] Result<std::string> writeModelNew(const ModelNewInput& input);

// What the forward of an exported plan runs, for a sentence: kernels, or PyTorch's operators as one CUDA graph.
[[nodiscard]] std::string_view whatRuns(const domain::LaunchPlan& plan);

}  // namespace swage::exporting
