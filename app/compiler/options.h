// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/toolchain/compiler.h"

namespace swage::compiler {

struct CompilerOptions {
  toolchain::ToolchainOptions toolchain;
  std::string nvrtcHelper;            // not empty: be the helper inside the sandbox, for this library
  bool isSandboxChosen = false;       // else the best that the system has is taken
  std::vector<std::string> enclosed;  // of Action::Enclose: toolchain::parseEnclosure
  enum class Action { Serve, Check, Synthesise, NvrtcHelper, Enclose, Help } action = Action::Serve;
};

// Usage error, with what was wrong.
[[nodiscard]] Result<CompilerOptions> parseOptions(std::span<const std::string_view> arguments);

[[nodiscard]] std::string_view usage();

}  // namespace swage::compiler
