// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/ptx_data_flow.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/toolchain/ptx_module.h"

namespace swage::toolchain {
namespace {

// "%rd4" of "%rd4+16".
std::string base(std::string_view operand) {
  return std::string(operand.substr(0, operand.find_first_of("+ ")));
}

bool isLoad(const PtxInstruction& instruction) {
  return instruction.begins("ld") || instruction.begins("ldu") || instruction.begins("prefetch");
}

// Neither computes nor loads: whatever comes in may be written to.
bool mayStore(const PtxInstruction& instruction) {
  return instruction.begins("st") || instruction.begins("atom") || instruction.begins("red") ||
         instruction.begins("call") || instruction.begins("cp") || instruction.begins("stmatrix") ||
         instruction.begins("suld") || instruction.begins("sust");
}

class Flow {
 public:
  explicit Flow(std::string_view variable) : m_known{std::string(variable)} {}

  [[nodiscard]] bool reachesStore(const PtxFunction& function) {
    for (bool grows = true; grows;) {
      const std::size_t before = m_known.size();
      for (const PtxInstruction& instruction : function.body) {
        if (follow(instruction)) {
          return true;
        }
      }
      grows = m_known.size() > before;
    }
    return false;
  }

 private:
  [[nodiscard]] bool follow(const PtxInstruction& instruction) {
    const auto& operands = instruction.operands;
    const bool mentions = std::any_of(operands.begin(), operands.end(),
                                      [this](const std::string& operand) { return m_known.contains(base(operand)); });
    if (!mentions || isLoad(instruction)) {
      return false;
    }
    if (mayStore(instruction)) {
      return true;
    }
    const bool splits = instruction.begins("mov");  // its target may be a vector of registers
    for (std::size_t i = 0; i < (splits ? operands.size() : 1U); ++i) {
      m_known.insert(base(operands[i]));
    }
    return false;
  }

  std::set<std::string> m_known;  // the name, and registers that may hold its address
};

}  // namespace

bool mayWrite(std::string_view ptx, std::string_view variable) {
  if (ptx.find(fmt::format("generic({}", variable)) != std::string_view::npos) {
    return true;
  }
  const std::vector<PtxFunction> functions = parsePtx(ptx);
  return std::any_of(functions.begin(), functions.end(),
                     [&](const PtxFunction& function) { return Flow(variable).reachesStore(function); });
}

}  // namespace swage::toolchain
