// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What is known about writing fast kernels, in pieces that can be found again.
namespace swage::domain {

// Where a piece comes from.
enum class PatternOrigin : std::uint8_t {
  Catalogue,  // patterns/ of Swage
  Record,     // kernels that won a search on this machine
  Triton,     // the installed Triton
  Inductor,   // the installed PyTorch's compiler
  Cutlass,    // a checkout that the user has named
  DataSheet,  // facts about a GPU
};
[[nodiscard]] std::string_view name(PatternOrigin origin);  // "catalogue", "data sheet"
[[nodiscard]] std::optional<PatternOrigin> parsePatternOrigin(std::string_view text);

struct PatternEntry {
  std::string key;  // of all pieces: "catalogue/cuda/row_split"
  PatternOrigin origin = PatternOrigin::Catalogue;
  std::string title;    // one line
  std::string summary;  // a few sentences
  std::string body;     // source or facts, or their beginning
  std::string place;    // where the whole is: a file with a line, a project with a candidate
  // What it is about, in lower case. Empty: not known. Of types and architectures empty means all.
  std::vector<std::string> operators;      // "softmax", "matmul"
  std::vector<std::string> types;          // "float32"
  std::vector<std::string> architectures;  // "sm_90", "x86-64"
  std::vector<std::string> bottlenecks;    // "memory", "latency"
};

}  // namespace swage::domain
