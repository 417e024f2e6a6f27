// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swage::toolchain {

// One instruction without its predicate: "ld.global.nc.v4.f32", parts {"ld","global","nc","v4","f32"},
// operands in order, brackets and braces removed.
struct PtxInstruction {
  std::string opcode;
  std::vector<std::string> parts;
  std::vector<std::string> operands;
  std::string label;  // not empty: this is a label, not an instruction

  [[nodiscard]] bool hasPart(std::string_view part) const;
  // "ld.global" is the beginning of "ld.global.nc.f32" but not of "ld.globalx".
  [[nodiscard]] bool begins(std::string_view prefix) const;
};

struct PtxFunction {
  std::string name;
  bool isEntry = false;
  std::string directives;  // between the name and the body: ".maxntid 256", ".reqnctapercluster 2"
  std::vector<PtxInstruction> body;
};

// Cuts PTX into functions. Text that is not understood is skipped: the compiler that wrote it is trusted to write PTX.
[[nodiscard]] std::vector<PtxFunction> parsePtx(std::string_view ptx);

}  // namespace swage::toolchain
