// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace swage::device {

struct SassInstruction {
  std::string text;
  std::optional<std::uint32_t> control;  // domain/control_code.h; nothing where the encoding is not printed
  friend bool operator==(const SassInstruction&, const SassInstruction&) = default;
};

// Instructions by offset in the code of a kernel.
using SassListing = std::map<std::int64_t, SassInstruction>;

// The instructions of `entry` in what `nvdisasm -c -hex` printed; empty when it is not there.
[[nodiscard]] SassListing parseSass(std::string_view listing, std::string_view entry);

// Where nvdisasm is: $SWAGE_NVDISASM, that of the Python packages around `libraryPath` (a library of one of them), a
// toolkit's, or that of the PATH. Empty: nowhere.
[[nodiscard]] std::string findDisassembler(const std::string& libraryPath);

// Runs it. No value: it failed or took longer than ten seconds.
[[nodiscard]] std::optional<std::string> disassemble(const std::string& program, const std::string& cubin);

}  // namespace swage::device
