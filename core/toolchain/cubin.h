// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/elf_image.h"

namespace swage::toolchain {

// What the assembler says of one kernel.
struct CompiledResources {
  int registers = 0;
  std::int64_t spillBytes = 0;  // stored plus loaded, per thread
  std::int64_t staticSharedBytes = 0;
};

// Of a log made with --ptxas-options=-v, by entry point.
[[nodiscard]] std::map<std::string, CompiledResources> parseResourceReport(std::string_view log);

// The log without that report, which holds compile times and would make equal compilations differ.
[[nodiscard]] std::string withoutResourceReport(std::string_view log);

// Module-scope data that survives from one launch to the next and that the code may write to, in words; empty when
// there is none. A kernel that keeps results there can replay them, and no honest one needs it. `ptx` is what the cubin
// was made from: constants and tables lie in the same section, but are only read.
[[nodiscard]] std::optional<std::string> findWritableGlobals(const ElfImage& cubin, std::string_view ptx);

// SHA-256 of what runs: the code of the entries in the order given, other code, constants and initialised data.
// No names of entries, no line tables.
[[nodiscard]] std::string cubinHash(const ElfImage& cubin, const std::vector<std::string>& entries);

}  // namespace swage::toolchain
