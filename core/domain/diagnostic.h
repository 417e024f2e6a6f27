// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/evaluation.h"

namespace swage::domain {

// One message of a compiler, an assembler or a check, and where in the candidate's source it belongs.
struct Diagnostic {
  enum class Severity : std::uint8_t { Error, Warning, Note };
  Severity severity = Severity::Error;
  int line = 0;         // of the source, 1-based; 0: of no line of it
  int column = 0;       // 1-based, in bytes; 0: not known
  int length = 0;       // in bytes; 0: not known
  std::string place;    // where else it belongs, when it has no line: "cuda_fp16.h:12", "line 30 of the PTX"
  std::string message;  // the first line of it
  std::string option;   // what turns a warning off: "-Wunused-variable", "177-D"
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};
[[nodiscard]] std::string_view name(Diagnostic::Severity severity);

// Reads what g++ and clang++, NVRTC, ptxas and the checks of the source print. A program is compiled as it stands, with
// its prelude as a part of it, so that the compilers count the lines that are recorded. Text in no known form gives one
// error without a line, so that nothing is lost; an empty text gives none.
[[nodiscard]] std::vector<Diagnostic> parseDiagnostics(std::string_view log);

// Of a candidate: what kept it from being compiled, or the warnings of its compiler.
[[nodiscard]] std::vector<Diagnostic> diagnosticsOf(const std::optional<Evaluation>& evaluation,
                                                    std::string_view compileLog);

}  // namespace swage::domain
