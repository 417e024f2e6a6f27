// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/disassembly.h"

#include <algorithm>
#include <charconv>

#include "core/base/trimmed.h"

// A listing looks like this (addresses, then a tab, then the instruction):
//   0000000000001120 <k>:
//       1120:	vmovups ymm0,YMMWORD PTR [rdi+rax*1]
//       1125:	jne    1120 <k>
//       1127:	lea    rdi,[rip+0xfffffffffffffe9e]        # 1000 <k._omp_fn.0>
namespace swage::toolchain {
namespace {

std::optional<std::uint64_t> parseHex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

// "k._omp_fn.0" of "<k._omp_fn.0+0x20>".
std::string symbolIn(std::string_view text) {
  const std::size_t open = text.find('<');
  const std::size_t close = text.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return {};
  }
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  return std::string(inside.substr(0, inside.find("+0x")));
}

std::vector<std::string> splitOperands(std::string_view text) {
  std::vector<std::string> operands;
  std::string current;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '(' ? 1 : 0;
    depth -= c == ']' || c == ')' ? 1 : 0;
    if (c == ',' && depth == 0) {
      operands.emplace_back(trimmed(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trimmed(current).empty()) {
    operands.emplace_back(trimmed(current));
  }
  return operands;
}

bool isPrefix(std::string_view word) {
  return word == "lock" || word == "rep" || word == "repz" || word == "repnz" || word == "bnd" || word == "notrack" ||
         word == "data16" || word == "cs" || word == "ds" || word == "es" || word == "fs" || word == "gs" ||
         word == "ss";
}

AsmInstruction parseInstruction(std::uint64_t address, std::string_view text) {
  AsmInstruction instruction;
  instruction.address = address;
  instruction.mentions = symbolIn(text);
  text = trimmed(text.substr(0, text.find('#')));
  for (;;) {
    const std::size_t end = text.find_first_of(" \t");
    const std::string_view word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(end));
    if (!isPrefix(word) || text.empty()) {
      instruction.mnemonic = word;
      break;
    }
    instruction.isLocked = instruction.isLocked || word == "lock";
  }
  if (const std::size_t symbol = text.find(" <"); symbol != std::string_view::npos) {
    text = trimmed(text.substr(0, symbol));
  }
  const bool branches = instruction.mnemonic.starts_with('j') || instruction.mnemonic == "call";
  if (branches) {
    instruction.jumpTarget = parseHex(text);
  }
  instruction.operands = splitOperands(text);
  return instruction;
}

}  // namespace

std::vector<AsmFunction> parseDisassembly(std::string_view listing) {
  std::vector<AsmFunction> functions;
  while (!listing.empty()) {
    const std::size_t end = listing.find('\n');
    const std::string_view line = listing.substr(0, end);
    listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
    if (line.ends_with(">:") && line.find(" <") != std::string_view::npos) {
      AsmFunction function;
      const std::size_t open = line.find('<');
      function.name = line.substr(open + 1, line.size() - open - 3);
      functions.push_back(std::move(function));
    }
    if (functions.empty() || line.empty()) {
      continue;
    }
    functions.back().text.append(line).push_back('\n');
    const std::size_t colon = line.find(":\t");
    if (colon == std::string_view::npos) {
      continue;
    }
    if (const auto address = parseHex(trimmed(line.substr(0, colon)))) {
      functions.back().body.push_back(parseInstruction(*address, line.substr(colon + 2)));
    }
  }
  return functions;
}

}  // namespace swage::toolchain
