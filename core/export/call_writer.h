// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace swage::exporting {

// How forward's arguments and result are put together from tensors, as pieces of Python for templates/module.py.in.
struct CallText {
  std::string otherCount;  // condition of a flat call with another number of arguments, to be added to others
  std::string match;       // of a nested call: statements that run the original for other args and bind `tensors`
  std::string result;      // expression of forward's result from `outputs`
  std::string classes;     // one import for each class that `match` and `result` name
  std::string names;       // the tuple _SWAGE_NAMES of forward's arguments; empty: they have no names
};

struct CallInput {
  const std::string& call;  // see ModelNewInput
  std::size_t userInputs = 0;
  std::size_t userOutputs = 0;
};

// Errors: InvalidInput when `call` is malformed, or is of another number of tensors.
[[nodiscard]] Result<CallText> writeCall(const CallInput& input);

// InvalidInput: the plan, or what was recorded with it, is damaged.
[[nodiscard]] Error malformedPlan(std::string_view what);

}  // namespace swage::exporting
