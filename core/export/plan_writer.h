// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/task.h"
#include "core/export/call_writer.h"

namespace swage::exporting {

// A tensor of the module's own: an expression of the registry that it is in, which is a dict, and its quoted key.
struct StateTensor {
  std::string registry;
  std::string key;
};

// A launch plan as pieces of Python for core/export/templates/module.py.in.
struct PlanText {
  std::string inputs;           // the tuple _SWAGE_INPUTS: shape, strides, dtype and name of everything the plan reads
  bool hasUnitExtents = false;  // whether one of them has a dimension of one element, whose stride may be any
  std::string userCount;        // how many of them are arguments of forward
  std::string constants;        // the tuple _SWAGE_CONSTANTS
  std::string operators;        // one assignment for each ATen overload
  std::string parameters;       // parameters of _swage_plan
  std::string plan;             // its body
  std::string maps;             // one assignment for each tensor map of a CUDA kernel
  CallText call;
  std::vector<StateTensor> state;
  std::string store;                 // statements that write the module's buffers from `outputs`
  std::vector<std::size_t> written;  // the buffers in _SWAGE_INPUTS whose new values are the plan's first outputs
};

struct PlanInput {
  const domain::Task& task;
  const domain::Program& program;
  const std::string& call;  // see ModelNewInput
  const std::map<std::string, std::string>& constants;
};

// Errors: InvalidInput when the plan does not fit the task's graph or reads what nothing wrote, or `call` is malformed;
// Unsupported when a constant is missing or too large.
[[nodiscard]] Result<PlanText> writePlan(const PlanInput& input);

}  // namespace swage::exporting
