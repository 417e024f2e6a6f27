// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace swage::exporting {

struct OriginalModule {
  std::string futureImports;  // "from __future__ import …" lines, which must stand first in a file
  std::string text;           // everything else that is kept
  bool hasInitInputs = false;
};

// The names under which parts of the task's file appear in an exported one.
inline constexpr std::string_view kOriginalClass = "_OriginalModel";
inline constexpr std::string_view kOriginalInitInputs = "_original_init_inputs";

// The task's file as a part of an exported one: the class under its private name, get_inputs(), the module docstring
// and what runs only as a program left out, and get_init_inputs() kept under a private name, because the export
// compares constructor arguments with it. Errors: InvalidInput, NotFound (no such class).
[[nodiscard]] Result<OriginalModule> extractModule(std::string_view source, const std::string& className);

}  // namespace swage::exporting
