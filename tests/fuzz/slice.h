// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/toolchain/compiler.h"

namespace swage::fuzz {

struct SliceOptions {
  std::filesystem::path patterns;
  std::string worker;    // empty: nothing is run
  bool compiles = true;  // whether kernels for a CPU are compiled
  bool cuda = false;     // whether those for a GPU are compiled as well
  std::size_t candidates = 2;
  toolchain::ToolchainOptions toolchain;
};

// Tries some cases, each item of which is a seed or a file, and says on standard output what became of them, one JSON
// object a line: {"begin": item} before each, {"end": item, …} when it is done. Whoever reads knows which one ended the
// process. Returns an exit code.
[[nodiscard]] int runSlice(const std::vector<std::string>& items, const SliceOptions& options);

}  // namespace swage::fuzz
