// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/classify_x86.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace swage::toolchain {
namespace {

using domain::Arithmetic;
using domain::DataMovement;
using domain::KernelFacts;

// "rax" of "eax" and "rax"; "r8" of "r8d". Other operands come back as they are.
std::string wideName(const std::string& name) {
  if (name.size() == 3 && name[0] == 'e') {
    return "r" + name.substr(1);
  }
  if (name.size() >= 3 && name[0] == 'r' && name.ends_with('d') && name[1] >= '0' && name[1] <= '9') {
    return name.substr(0, name.size() - 1);
  }
  return name;
}

struct MemoryOperand {
  std::string_view size;               // "DWORD", "YMMWORD"; empty for lea
  std::vector<std::string> registers;  // in the address, base first
};

MemoryOperand parseMemory(std::string_view operand) {
  MemoryOperand memory;
  const std::size_t open = operand.find('[');
  if (open == std::string_view::npos) {
    return memory;
  }
  memory.size = operand.substr(0, operand.find(' '));
  std::string current;
  for (const char c : operand.substr(open + 1)) {
    if (c == '+' || c == '-' || c == '*' || c == ']') {
      const bool isRegister = !current.empty() && (current[0] < '0' || current[0] > '9');
      if (isRegister) {
        memory.registers.push_back(current);
      }
      current.clear();
    } else {
      current += c;
    }
  }
  return memory;
}

bool isMemory(const std::string& operand) {
  return operand.find('[') != std::string::npos;
}

// "xmm", "ymm" or "zmm" when a whole vector register is moved to or from memory.
std::string vectorName(std::string_view size) {
  return size == "XMMWORD" ? "xmm" : size == "YMMWORD" ? "ymm" : size == "ZMMWORD" ? "zmm" : "";
}

bool usesVectorRegister(const AsmInstruction& instruction) {
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), [](const std::string& operand) {
    return operand.starts_with("xmm") || operand.starts_with("ymm") || operand.starts_with("zmm");
  });
}

bool startsWithAny(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

bool isPackedArithmetic(std::string_view mnemonic) {
  if (mnemonic.starts_with('v')) {
    mnemonic.remove_prefix(1);
  }
  if (mnemonic.ends_with("ps") || mnemonic.ends_with("pd") || mnemonic.ends_with("ph")) {
    return startsWithAny(mnemonic, {"add", "sub", "mul", "div", "min", "max", "sqrt", "fmadd", "fmsub", "fnmadd",
                                    "fnmsub", "rcp", "rsqrt", "hadd", "dp", "scalef"});
  }
  return startsWithAny(mnemonic, {"padd", "psub", "pmul", "pmadd", "pmin", "pmax", "pdp", "psad", "dpbf16"});
}

// Which instructions of a function lie in a loop.
class LoopRanges {
 public:
  explicit LoopRanges(const AsmFunction& function) {
    for (const AsmInstruction& instruction : function.body) {
      const bool isJump = instruction.mnemonic.starts_with('j') && instruction.jumpTarget.has_value();
      if (isJump && *instruction.jumpTarget <= instruction.address &&
          *instruction.jumpTarget >= function.body.front().address) {
        m_ranges.emplace_back(*instruction.jumpTarget, instruction.address);
      }
    }
  }

  [[nodiscard]] bool contain(std::uint64_t address) const {
    return std::any_of(m_ranges.begin(), m_ranges.end(),
                       [address](const auto& range) { return address >= range.first && address <= range.second; });
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> m_ranges;
};

// Follows, in address order, which registers point into the stack frame. Pointers that went through memory are lost:
// then a tile is not seen, which understates A2.
class StackPointers {
 public:
  StackPointers(const AsmFunction& function, const LoopRanges& loops) {
    for (const AsmInstruction& instruction : function.body) {
      const bool moves = startsWithAny(instruction.mnemonic, {"add", "sub", "inc", "dec", "lea"});
      if (moves && !instruction.operands.empty() && loops.contain(instruction.address)) {
        m_moving.insert(wideName(instruction.operands[0]));
      }
    }
  }

  void update(const AsmInstruction& instruction) {
    static const std::set<std::string> kReadOnly{"cmp", "test", "push", "bt", "nop", "call"};
    if (instruction.operands.empty() || isMemory(instruction.operands[0]) ||
        kReadOnly.count(instruction.mnemonic) != 0 || instruction.mnemonic.starts_with('j')) {
      return;
    }
    const std::string target = wideName(instruction.operands[0]);
    if (instruction.mnemonic == "lea" && instruction.operands.size() == 2) {
      set(target, anyPointer(parseMemory(instruction.operands[1]).registers));
    } else if (instruction.mnemonic == "mov" && instruction.operands.size() == 2) {
      set(target, !isMemory(instruction.operands[1]) && points(wideName(instruction.operands[1])));
    } else if (!startsWithAny(instruction.mnemonic, {"add", "sub", "inc", "dec", "and", "or"})) {
      set(target, false);
    }
  }

  [[nodiscard]] bool onStack(const MemoryOperand& memory) const { return anyPointer(memory.registers); }
  // Not one fixed slot: the address has an index, or its base moves in a loop.
  [[nodiscard]] bool varies(const MemoryOperand& memory) const {
    return memory.registers.size() > 1 ||
           (!memory.registers.empty() && memory.registers[0] != "rsp" && m_moving.count(memory.registers[0]) != 0);
  }

 private:
  void set(const std::string& name, bool pointsToStack) {
    if (pointsToStack) {
      m_pointers.insert(name);
    } else {
      m_pointers.erase(name);
    }
  }
  [[nodiscard]] bool points(const std::string& name) const { return name == "rsp" || m_pointers.count(name) != 0; }
  [[nodiscard]] bool anyPointer(const std::vector<std::string>& names) const {
    return std::any_of(names.begin(), names.end(), [this](const std::string& name) { return points(name); });
  }

  std::set<std::string> m_pointers;
  std::set<std::string> m_moving;
};

// Sees the instructions of one entry, function by function, and counts.
class Counter {
 public:
  explicit Counter(KernelFacts& facts) : m_facts(facts) {}

  void add(const AsmFunction& function) {
    if (function.body.empty()) {
      return;
    }
    const LoopRanges loops(function);
    StackPointers stack(function, loops);
    for (const AsmInstruction& instruction : function.body) {
      countCooperation(instruction);
      countStreaming(instruction);
      if (loops.contain(instruction.address)) {
        countMemory(instruction, stack);
        countArithmetic(instruction);
      }
      stack.update(instruction);
    }
  }

  void finish() {
    const auto& evidence = m_facts.evidence;
    const bool staged = evidence.count("stack.load") != 0 && evidence.count("stack.store") != 0 && m_packedStack;
    if (staged) {
      atLeast(DataMovement::Staged);
    }
  }

 private:
  void note(const std::string& what) { ++m_facts.evidence[what]; }
  void atLeast(DataMovement movement) { m_facts.movement = std::max(m_facts.movement, movement); }
  void atLeast(Arithmetic arithmetic) { m_facts.arithmetic = std::max(m_facts.arithmetic, arithmetic); }

  void countMemory(const AsmInstruction& instruction, const StackPointers& stack) {
    if (!usesVectorRegister(instruction)) {
      return;
    }
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      if (!isMemory(instruction.operands[i])) {
        continue;
      }
      const MemoryOperand memory = parseMemory(instruction.operands[i]);
      const std::string vector = vectorName(memory.size);
      const std::string direction = i == 0 ? "store" : "load";
      if (stack.onStack(memory)) {
        if (stack.varies(memory)) {
          note("stack." + direction);
          m_packedStack = m_packedStack || !vector.empty();
        }
      } else if (!memory.registers.empty() && memory.registers[0] != "rip") {
        note(direction + "." + (vector.empty() ? "scalar" : vector));
        if (!vector.empty()) {
          atLeast(DataMovement::Wide);
        }
      }
    }
  }

  void countStreaming(const AsmInstruction& instruction) {
    if (instruction.mnemonic.starts_with("prefetch")) {
      note("prefetch");
      atLeast(DataMovement::Pipelined);
    } else if (startsWithAny(instruction.mnemonic, {"movnt", "vmovnt"})) {
      note("stream.store");
      atLeast(DataMovement::Pipelined);
    }
  }

  void countArithmetic(const AsmInstruction& instruction) {
    if (isPackedArithmetic(instruction.mnemonic) && !instruction.operands.empty()) {
      note("arith." + instruction.operands[0].substr(0, 3));
      atLeast(Arithmetic::Packed);
    } else if (instruction.mnemonic == "call" && instruction.mentions.starts_with("_ZGV")) {
      note("libmvec");
      atLeast(Arithmetic::Packed);
    } else if (instruction.mnemonic.starts_with("tdp")) {
      note("amx.tdp");
      atLeast(Arithmetic::TensorCore);
    }
  }

  void countCooperation(const AsmInstruction& instruction) {
    const bool exchanges = instruction.mnemonic == "xchg" &&
                           std::any_of(instruction.operands.begin(), instruction.operands.end(), isMemory);
    if (instruction.isLocked || exchanges) {
      note("lock");
      m_facts.interBlock = true;
    }
    std::string_view callee = instruction.mentions;
    if (!callee.starts_with("GOMP_")) {
      return;
    }
    callee = callee.substr(0, callee.find('@'));
    note(std::string(callee));
    if (startsWithAny(callee, {"GOMP_barrier", "GOMP_atomic", "GOMP_critical"})) {
      m_facts.interBlock = true;
    }
  }

  KernelFacts& m_facts;
  bool m_packedStack = false;
};

// The named functions and all they mention, in the order of the object.
std::vector<const AsmFunction*> reachable(const std::vector<AsmFunction>& functions,
                                          const std::vector<std::string>& names) {
  std::set<std::string> wanted(names.begin(), names.end());
  for (bool grown = true; grown;) {
    grown = false;
    for (const AsmFunction& function : functions) {
      if (wanted.count(function.name) == 0) {
        continue;
      }
      for (const AsmInstruction& instruction : function.body) {
        grown = (!instruction.mentions.empty() && wanted.insert(instruction.mentions).second) || grown;
      }
    }
  }
  std::vector<const AsmFunction*> found;
  for (const AsmFunction& function : functions) {
    if (wanted.count(function.name) != 0) {
      found.push_back(&function);
    }
  }
  return found;
}

}  // namespace

std::vector<KernelFacts> classifyX86(const std::vector<AsmFunction>& functions,
                                     const std::vector<std::string>& entries) {
  std::vector<KernelFacts> kernels;
  for (const std::string& entry : entries) {
    KernelFacts facts;
    facts.entry = entry;
    const bool exists = std::any_of(functions.begin(), functions.end(),
                                    [&entry](const AsmFunction& function) { return function.name == entry; });
    if (!exists) {
      continue;
    }
    Counter counter(facts);
    for (const AsmFunction* function : reachable(functions, {entry})) {
      counter.add(*function);
    }
    counter.finish();
    kernels.push_back(std::move(facts));
  }
  return kernels;
}

std::string listingOf(const std::vector<AsmFunction>& functions, const std::vector<std::string>& entries) {
  std::string text;
  for (const AsmFunction* function : reachable(functions, entries)) {
    text += function->text + "\n";
  }
  return text;
}

namespace {

// Registers that outlive a call, and that no kernel has a use for: x87 and vector state as a block of memory, the bases
// of segments, protection keys, and how numbers are rounded and whether denormals are flushed.
bool isOfProcessState(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 14> kPrefixes{"xsave",    "xrstor", "fxsave",  "fxrstor",  "wrfsbase",
                                                       "wrgsbase", "wrpkru", "ldmxcsr", "vldmxcsr", "fldcw",
                                                       "fldenv",   "frstor", "fninit",  "finit"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [mnemonic](std::string_view prefix) { return mnemonic.starts_with(prefix); });
}

// What gives another answer in every call.
bool isClockOrChance(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 4> kPrefixes{"rdtsc", "rdrand", "rdseed", "rdp"};  // rdpmc, rdpid, rdpkru
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [mnemonic](std::string_view prefix) { return mnemonic.starts_with(prefix); });
}

}  // namespace

std::string findSystemCall(const std::vector<AsmFunction>& functions) {
  for (const AsmFunction& function : functions) {
    for (const AsmInstruction& instruction : function.body) {
      if (instruction.mnemonic == "syscall" || instruction.mnemonic == "sysenter" || instruction.mnemonic == "int") {
        return fmt::format("makes a system call ('{}' in {})", instruction.mnemonic, function.name);
      }
      if (isClockOrChance(instruction.mnemonic)) {
        return fmt::format("looks at a clock or at chance ('{}' in {})", instruction.mnemonic, function.name);
      }
      if (isOfProcessState(instruction.mnemonic)) {
        return fmt::format("keeps something in registers of the process ('{}' in {})", instruction.mnemonic,
                           function.name);
      }
    }
  }
  return {};
}

std::string findComputedCall(const std::vector<AsmFunction>& functions) {
  const auto isRuntime = [](const AsmFunction& function) {
    const bool isNamed = function.name == "deregister_tm_clones" || function.name == "register_tm_clones";
    return isNamed && std::any_of(function.body.begin(), function.body.end(), [](const AsmInstruction& instruction) {
             return instruction.mentions.starts_with("_ITM_");
           });
  };
  for (const AsmFunction& function : functions) {
    for (const AsmInstruction& instruction : function.body) {
      const bool leaves = instruction.mnemonic == "call" || instruction.mnemonic == "jmp";
      // Through the table of imports, which are checked by name: <__cxa_finalize@GLIBC_2.2.5>.
      const bool isImport = instruction.mentions.find('@') != std::string::npos;
      if (leaves && !instruction.jumpTarget && !isImport && !isRuntime(function)) {
        return fmt::format("calls an address that it works out ('{}' in {})", instruction.mnemonic, function.name);
      }
    }
  }
  return {};
}

}  // namespace swage::toolchain
