// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/ptx_module.h"

#include <algorithm>
#include <cctype>

#include "core/base/trimmed.h"

namespace swage::toolchain {
namespace {

bool isSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string withoutComments(std::string_view ptx) {
  std::string text;
  text.reserve(ptx.size());
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    if (ptx.substr(i, 2) == "//") {
      i = std::min(ptx.find('\n', i), ptx.size() - 1);
    } else if (ptx.substr(i, 2) == "/*") {
      i = std::min(ptx.find("*/", i + 2), ptx.size() - 2) + 1;
      continue;
    }
    text += ptx[i];
  }
  return text;
}

std::vector<std::string> splitParts(std::string_view opcode) {
  std::vector<std::string> parts;
  while (!opcode.empty()) {
    const std::size_t dot = opcode.find('.');
    parts.emplace_back(opcode.substr(0, dot));
    opcode.remove_prefix(dot == std::string_view::npos ? opcode.size() : dot + 1);
  }
  return parts;
}

// Registers, immediates and names, whatever brackets and commas stand between them.
std::vector<std::string> splitOperands(std::string_view text) {
  std::vector<std::string> operands;
  std::string current;
  for (const char c : text) {
    if (isSpace(c) || c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '(' || c == ')' || c == '|' ||
        c == '+') {
      if (!current.empty()) {
        operands.push_back(std::move(current));
        current.clear();
      }
    } else {
      current += c;
    }
  }
  if (!current.empty()) {
    operands.push_back(std::move(current));
  }
  return operands;
}

PtxInstruction makeInstruction(std::string_view statement) {
  PtxInstruction instruction;
  if (statement.starts_with('@')) {
    const std::size_t end = statement.find_first_of(" \t\n");
    statement = end == std::string_view::npos ? std::string_view() : trimmed(statement.substr(end));
  }
  const std::size_t end = statement.find_first_of(" \t\n");
  instruction.opcode = statement.substr(0, end);
  instruction.parts = splitParts(instruction.opcode);
  if (end != std::string_view::npos) {
    instruction.operands = splitOperands(statement.substr(end));
  }
  return instruction;
}

// A body is statements that end in ';', labels that end in ':' and nested blocks, whose braces do not matter here.
// A brace inside an instruction is a vector of registers: those never follow a ';', a ':' or another brace.
std::vector<PtxInstruction> parseBody(std::string_view body) {
  std::vector<PtxInstruction> instructions;
  std::string statement;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    const bool atStart = trimmed(statement).empty();
    if (c == ';') {
      if (!atStart && !trimmed(statement).starts_with('.')) {
        instructions.push_back(makeInstruction(trimmed(statement)));
      }
      statement.clear();
    } else if (c == ':' && body.substr(i, 2) != "::" && (i == 0 || body[i - 1] != ':') &&
               statement.find_first_of("([{") == std::string::npos) {
      PtxInstruction label;
      label.label = trimmed(statement);
      instructions.push_back(std::move(label));
      statement.clear();
    } else if (c == '\n' && trimmed(statement).starts_with(".loc")) {
      statement.clear();  // the one directive without a ';'
    } else if (!(atStart && (c == '{' || c == '}'))) {
      statement += c;
    }
  }
  return instructions;
}

std::size_t matchingBrace(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : 0;
    depth -= text[i] == '}' ? 1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return text.size();
}

std::string_view firstName(std::string_view header) {
  header = trimmed(header);
  if (header.starts_with('(')) {  // the return value of a .func
    header = trimmed(header.substr(std::min(header.find(')'), header.size() - 1) + 1));
  }
  return header.substr(0, header.find_first_of(" \t\n(;{"));
}

}  // namespace

bool PtxInstruction::hasPart(std::string_view part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool PtxInstruction::begins(std::string_view prefix) const {
  return opcode.starts_with(prefix) && (opcode.size() == prefix.size() || opcode[prefix.size()] == '.');
}

std::vector<PtxFunction> parsePtx(std::string_view ptx) {
  const std::string clean = withoutComments(ptx);
  const std::string_view text = clean;
  std::vector<PtxFunction> functions;
  std::size_t at = 0;
  for (;;) {
    const std::size_t entry = text.find(".entry", at);
    const std::size_t function = text.find(".func", at);
    const std::size_t begin = std::min(entry, function);
    if (begin == std::string_view::npos) {
      return functions;
    }
    const std::size_t header = begin + (begin == entry ? 6 : 5);
    const std::size_t open = text.find_first_of("{;", header);
    if (open == std::string_view::npos) {
      return functions;
    }
    if (text[open] == ';') {  // a declaration
      at = open + 1;
      continue;
    }
    const std::size_t close = matchingBrace(text, open);
    PtxFunction parsed;
    parsed.isEntry = begin == entry;
    parsed.name = firstName(text.substr(header, open - header));
    parsed.directives = text.substr(header, open - header);
    parsed.body = parseBody(text.substr(open + 1, close - open - 1));
    functions.push_back(std::move(parsed));
    at = close;
  }
}

}  // namespace swage::toolchain
