// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swage::toolchain {

// One line of `objdump -d -w -M intel --no-show-raw-insn`.
struct AsmInstruction {
  std::uint64_t address = 0;
  bool isLocked = false;
  std::string mnemonic;
  std::vector<std::string> operands;
  std::optional<std::uint64_t> jumpTarget;  // of a jump or call to a fixed address
  std::string mentions;                     // symbol in <>, without offset: what is called or whose address is taken
};

struct AsmFunction {
  std::string name;
  std::string text;  // as printed
  std::vector<AsmInstruction> body;
};

[[nodiscard]] std::vector<AsmFunction> parseDisassembly(std::string_view listing);

}  // namespace swage::toolchain
