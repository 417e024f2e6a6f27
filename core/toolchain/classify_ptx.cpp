// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/classify_ptx.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/toolchain/ptx_module.h"

namespace swage::toolchain {
namespace {

using domain::Arithmetic;
using domain::DataMovement;
using domain::KernelFacts;

void note(KernelFacts& facts, const std::string& what) {
  ++facts.evidence[what];
}
void atLeast(KernelFacts& facts, DataMovement movement) {
  facts.movement = std::max(facts.movement, movement);
}
void atLeast(KernelFacts& facts, Arithmetic arithmetic) {
  facts.arithmetic = std::max(facts.arithmetic, arithmetic);
}

// "global", "shared", "local", "param", "const", or "" where the address decides.
std::string stateSpace(const PtxInstruction& instruction) {
  for (const std::string& part : instruction.parts) {
    std::string base = part.substr(0, part.find("::"));
    if (base == "global" || base == "shared" || base == "local" || base == "param" || base == "const") {
      return base;
    }
  }
  return {};
}

std::string vectorWidth(const PtxInstruction& instruction) {
  for (const std::string_view width : {"v2", "v4", "v8", "b128"}) {
    if (instruction.hasPart(width)) {
      return std::string(width);
    }
  }
  return {};
}

void countAccess(const PtxInstruction& instruction, KernelFacts& facts) {
  const std::string space = stateSpace(instruction);
  const std::string base = instruction.parts.front() + "." + (space.empty() ? "generic" : space);
  if (space == "shared") {
    note(facts, base);
    atLeast(facts, DataMovement::Staged);
    if (instruction.opcode.find("::cluster") != std::string::npos) {
      note(facts, "cluster");
      facts.interBlock = true;
    }
  } else if (space == "global" || space.empty()) {
    const std::string width = vectorWidth(instruction);
    note(facts, width.empty() ? base : base + "." + width);
    if (!width.empty()) {
      atLeast(facts, DataMovement::Wide);
    }
  } else if (space == "local") {
    note(facts, base);
  }
}

void countMovement(const PtxInstruction& instruction, KernelFacts& facts) {
  const std::string& head = instruction.parts.front();
  if (head == "ld" || head == "st" || head == "ldu") {
    countAccess(instruction, facts);
  } else if (head == "ldmatrix" || head == "stmatrix") {
    note(facts, head);
    atLeast(facts, DataMovement::Staged);
  } else if (instruction.begins("cp.async") || instruction.begins("cp.reduce.async") || head == "mbarrier") {
    note(facts, instruction.begins("cp.async.bulk") ? "cp.async.bulk" : head == "mbarrier" ? head : "cp.async");
    atLeast(facts, DataMovement::Pipelined);
  }
}

bool isPackedArithmetic(const PtxInstruction& instruction) {
  static const std::set<std::string> kOperations{"add", "sub", "mul", "fma",  "mad", "min",  "max",
                                                 "neg", "abs", "ex2", "tanh", "div", "setp", "set"};
  return kOperations.count(instruction.parts.front()) != 0 &&
         (instruction.hasPart("f16x2") || instruction.hasPart("bf16x2") || instruction.hasPart("f32x2"));
}

void countArithmetic(const PtxInstruction& instruction, KernelFacts& facts) {
  const std::string& head = instruction.parts.front();
  if (isPackedArithmetic(instruction)) {
    for (const std::string_view type : {"f16x2", "bf16x2", "f32x2"}) {
      if (instruction.hasPart(type)) {
        note(facts, head + "." + std::string(type));
      }
    }
    atLeast(facts, Arithmetic::Packed);
  } else if (head == "dp4a" || head == "dp2a") {
    note(facts, head);
    atLeast(facts, Arithmetic::Packed);
  } else if (instruction.begins("shfl.sync") || instruction.begins("redux.sync")) {
    note(facts, head + ".sync");
    atLeast(facts, Arithmetic::Packed);
  } else if (instruction.begins("mma.sync") || instruction.begins("mma.sp") || instruction.begins("wmma.mma") ||
             instruction.begins("wgmma.mma_async") || instruction.begins("tcgen05.mma")) {
    note(facts, head + "." + instruction.parts[1]);
    atLeast(facts, Arithmetic::TensorCore);
  }
}

void countCooperation(const PtxInstruction& instruction, KernelFacts& facts) {
  const std::string& head = instruction.parts.front();
  if (head == "atom" || head == "red" || head == "multimem") {
    const std::string space = stateSpace(instruction);
    note(facts, head + "." + (space.empty() ? "generic" : space));
    if (space == "shared") {
      atLeast(facts, DataMovement::Staged);
    } else {
      facts.interBlock = true;
    }
  } else if (instruction.begins("barrier.cluster") || head == "mapa") {
    note(facts, "cluster");
    facts.interBlock = true;
  }
}

bool isRegister(const std::string& operand) {
  return operand.size() > 1 && operand.front() == '%';
}

// Instructions through which a number of blocks stays one: index arithmetic, but no loads.
bool carriesIndex(const PtxInstruction& instruction) {
  static const std::set<std::string> kOperations{"mov", "add", "sub", "mul", "mad", "shl",
                                                 "shr", "cvt", "neg", "and", "or"};
  return kOperations.count(instruction.parts.empty() ? std::string() : instruction.parts.front()) != 0 &&
         instruction.operands.size() >= 2;
}

// Registers computed from %nctaid or %nclusterid by index arithmetic.
std::set<std::string> registersFromGridSize(const PtxFunction& function) {
  std::set<std::string> tainted;
  for (bool grown = true; grown;) {
    grown = false;
    for (const PtxInstruction& instruction : function.body) {
      if (!carriesIndex(instruction) || tainted.count(instruction.operands[0]) != 0) {
        continue;
      }
      const bool fromGrid =
          std::any_of(instruction.operands.begin() + 1, instruction.operands.end(), [&](const std::string& operand) {
            return operand.starts_with("%nctaid") || operand.starts_with("%nclusterid") || tainted.count(operand) != 0;
          });
      if (fromGrid) {
        tainted.insert(instruction.operands[0]);
        grown = true;
      }
    }
  }
  return tainted;
}

struct Loop {
  std::size_t begin = 0;  // its label
  std::size_t end = 0;    // the branch back
};

std::vector<Loop> loopsOf(const PtxFunction& function) {
  std::map<std::string, std::size_t> labels;
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const PtxInstruction& instruction = function.body[i];
    if (!instruction.label.empty()) {
      labels[instruction.label] = i;
    } else if (instruction.begins("bra") && !instruction.operands.empty()) {
      const auto target = labels.find(instruction.operands.back());
      if (target != labels.end()) {
        loops.push_back({target->second, i});
      }
    }
  }
  return loops;
}

// Whether one turn of the loop adds something computed from the grid size to `variable`. `reach` holds the registers
// that are the variable plus something, and whether that something came from the grid size.
bool stepsByGridSize(const PtxFunction& function, const Loop& loop, const std::string& variable,
                     const std::set<std::string>& tainted) {
  std::map<std::string, bool> reach{{variable, false}};
  for (std::size_t i = loop.begin; i <= loop.end; ++i) {
    const PtxInstruction& instruction = function.body[i];
    if (!instruction.label.empty() || !carriesIndex(instruction)) {
      continue;
    }
    const std::string& head = instruction.parts.front();
    const bool isSum = head == "add" || head == "sub" || head == "mad";
    if (!isSum && head != "mov" && head != "cvt") {
      continue;
    }
    bool fromVariable = false;
    bool fromGrid = false;
    for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
      const auto known = reach.find(instruction.operands[k]);
      if (known != reach.end()) {
        fromVariable = true;
        fromGrid = fromGrid || known->second;
      } else {
        fromGrid = fromGrid || (isSum && tainted.count(instruction.operands[k]) != 0);
      }
    }
    if (fromVariable) {
      reach[instruction.operands[0]] = fromGrid;
      if (fromGrid && instruction.operands[0] == variable) {
        return true;
      }
    }
  }
  return false;
}

// A grid-stride or persistent loop: the next turn starts at this one plus something computed from the grid size.
int loopsOverGrid(const PtxFunction& function) {
  const std::set<std::string> tainted = registersFromGridSize(function);
  if (tainted.empty()) {
    return 0;
  }
  int count = 0;
  for (const Loop& loop : loopsOf(function)) {
    std::set<std::string> written;
    for (std::size_t i = loop.begin; i <= loop.end; ++i) {
      const PtxInstruction& instruction = function.body[i];
      if (instruction.label.empty() && carriesIndex(instruction) && isRegister(instruction.operands[0])) {
        written.insert(instruction.operands[0]);
      }
    }
    count +=
        std::any_of(written.begin(), written.end(),
                    [&](const std::string& variable) { return stepsByGridSize(function, loop, variable, tainted); })
            ? 1
            : 0;
  }
  return count;
}

void addFunction(const PtxFunction& function, KernelFacts& facts) {
  for (const PtxInstruction& instruction : function.body) {
    if (!instruction.label.empty() || instruction.parts.empty()) {
      continue;
    }
    countMovement(instruction, facts);
    countArithmetic(instruction, facts);
    countCooperation(instruction, facts);
  }
  if (const int loops = loopsOverGrid(function); loops > 0) {
    facts.evidence["nctaid.loop"] += loops;
    facts.interBlock = true;
  }
}

// The entry and everything it calls, each once.
void addReachable(const std::vector<PtxFunction>& functions, const PtxFunction& entry, KernelFacts& facts) {
  std::vector<const PtxFunction*> pending{&entry};
  std::set<std::string> seen{entry.name};
  while (!pending.empty()) {
    const PtxFunction* function = pending.back();
    pending.pop_back();
    addFunction(*function, facts);
    for (const PtxInstruction& instruction : function->body) {
      if (!instruction.begins("call")) {
        continue;
      }
      for (const PtxFunction& callee : functions) {
        const bool called = std::find(instruction.operands.begin(), instruction.operands.end(), callee.name) !=
                            instruction.operands.end();
        if (called && seen.insert(callee.name).second) {
          pending.push_back(&callee);
        }
      }
    }
  }
}

}  // namespace

std::vector<KernelFacts> classifyPtx(std::string_view ptx, const std::vector<std::string>& entries) {
  const std::vector<PtxFunction> functions = parsePtx(ptx);
  std::vector<KernelFacts> kernels;
  for (const std::string& name : entries) {
    const auto entry = std::find_if(functions.begin(), functions.end(), [&name](const PtxFunction& function) {
      return function.isEntry && function.name == name;
    });
    if (entry == functions.end()) {
      continue;
    }
    KernelFacts facts;
    facts.entry = name;
    addReachable(functions, *entry, facts);
    kernels.push_back(std::move(facts));
  }
  return kernels;
}

std::string findHeapCall(std::string_view ptx) {
  constexpr std::string_view kBlanks = " \t\r\n()";
  for (std::size_t at = ptx.find(".extern"); at != std::string_view::npos; at = ptx.find(".extern", at + 1)) {
    std::string_view declaration = ptx.substr(at, ptx.find(';', at) - at);
    while (!declaration.empty()) {
      const std::size_t end = std::min(declaration.find_first_of(kBlanks), declaration.size());
      if (declaration.substr(0, end) == "malloc") {
        return "takes memory from the device's heap, which outlives the launch";
      }
      declaration.remove_prefix(std::min(end + 1, declaration.size()));
    }
  }
  return {};
}

}  // namespace swage::toolchain
