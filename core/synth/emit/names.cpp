// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/names.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace swage::synth {

const std::set<std::string>& reservedWords() {
  static const std::set<std::string> words{
      "auto",     "bool",    "break",      "case",        "char",       "class",     "const",    "continue", "default",
      "delete",   "do",      "double",     "else",        "enum",       "false",     "float",    "for",      "if",
      "inline",   "int",     "long",       "namespace",   "new",        "operator",  "private",  "public",   "return",
      "short",    "signed",  "sizeof",     "static",      "struct",     "switch",    "template", "this",     "true",
      "typename", "union",   "unsigned",   "using",       "void",       "volatile",  "while",    "exp",      "log",
      "tanh",     "erf",     "sin",        "cos",         "log1p",      "expm1",     "sqrt",     "pow",      "floor",
      "ceil",     "trunc",   "abs",        "min",         "max",        "maximum",   "minimum",  "absolute", "signOf",
      "inside",   "half",    "arguments",  "div",         "index",      "round",     "y0",       "y1",       "j0",
      "j1",       "asm",     "section",    "constructor", "destructor", "ifunc",     "alias",    "weakref",  "optimize",
      "naked",    "noinit",  "persistent", "register",    "logistic",   "invert",    "divide",   "alignas",  "alignof",
      "catch",    "compl",   "concept",    "constexpr",   "decltype",   "explicit",  "export",   "extern",   "friend",
      "goto",     "mutable", "noexcept",   "nullptr",     "protected",  "requires",  "throw",    "typedef",  "typeid",
      "xor",      "bitand",  "bitor",      "linux",       "unix",       "threadIdx", "blockIdx", "blockDim", "gridDim",
      "warpSize", "int4",    "expf",       "logf",        "tanhf",      "erff",      "sinf",     "cosf",     "log1pf",
      "expm1f",   "sqrtf",   "powf",       "floorf",      "ceilf",      "truncf",    "fabs",     "fabsf",    "memcpy"};
  return words;
}

std::string identifier(std::string_view name) {
  std::string text;
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  for (const char c : name) {
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
    text.insert(0, "v");
  }
  return text;
}

std::string_view resultName(const Prim& prim, FoldKind fold) {
  if (prim.kind != Prim::Kind::Folded) {
    static const std::map<std::string_view, std::string_view> names{
        {"add", "total"},          {"sub", "difference"}, {"mul", "product"}, {"div", "quotient"},
        {"exp", "power"},          {"max", "larger"},     {"min", "smaller"}, {"select", "chosen"},
        {"convert", "value"},      {"neg", "negative"},   {"sqrt", "root"},   {"rsqrt", "inverse_root"},
        {"reciprocal", "inverse"}, {"abs", "magnitude"}};
    const auto found = names.find(prim.function);
    return found == names.end() ? std::string_view("value") : found->second;
  }
  switch (fold) {
    case FoldKind::Sum: return "sum";
    case FoldKind::Product: return "product";
    case FoldKind::Maximum: return "largest";
    case FoldKind::Minimum: return "smallest";
    default: return "found";
  }
}

}  // namespace swage::synth
