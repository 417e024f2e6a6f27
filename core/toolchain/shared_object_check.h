// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/elf_image.h"

namespace swage::toolchain {

// Whether a cpu candidate may call this function of another library: mathematics, memory copies, OpenMP.
[[nodiscard]] bool isAllowedImport(std::string_view symbol);

// What a linked candidate has that a kernel must not have: a call out of the allow-list, code that runs when it is
// loaded, a missing entry. Words for the compile log; empty when the object may be loaded.
[[nodiscard]] std::optional<std::string> findObjectRefusal(const ElfImage& image,
                                                           const std::vector<std::string>& entries);

// Module-scope data that survives from one call to the next, beyond what the C runtime itself brings, in words; empty
// when there is none. A kernel that keeps results there can replay them, and no honest one needs it.
[[nodiscard]] std::optional<std::string> findWritableData(const ElfImage& image);

// SHA-256 of what runs: code, constants, initialised data and what is called, in file order, and where the entries
// begin. No names of entries, no paths, no build id.
[[nodiscard]] std::string sharedObjectHash(const ElfImage& image, const std::vector<std::string>& entries);

}  // namespace swage::toolchain
