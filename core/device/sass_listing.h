// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace swage::device {

// Instructions by offset in the code of a kernel.
using SassListing = std::map<std::int64_t, std::string>;

// The instructions of `entry` in what `nvdisasm -c` printed; empty when it is not there.
[[nodiscard]] SassListing parseSass(std::string_view listing, std::string_view entry);

// Where nvdisasm is: $SWAGE_NVDISASM, that of the Python packages around `libraryPath` (a library of one of them), a
// toolkit's, or that of the PATH. Empty: nowhere.
[[nodiscard]] std::string findDisassembler(const std::string& libraryPath);

// Runs it. No value: it failed or took longer than ten seconds.
[[nodiscard]] std::optional<std::string> disassemble(const std::string& program, const std::string& cubin);

}  // namespace swage::device
