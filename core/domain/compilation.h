// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"

namespace swage::domain {

// What `swage-compiler` is asked: one source to one binary.
struct CompileRequest {
  Language language = Language::Cpp;
  std::string source;
  std::vector<std::string> entries;    // extern "C" names the plan launches
  std::string architecture;            // "sm_90a"; "native" on a CPU
  std::vector<std::string> flags;      // candidate's own, already checked against the allow-list
  std::vector<SourcePart> parts = {};  // as the program's; a compiler itself knows the source alone
};

struct CompiledBinary {
  std::string bytes;     // cubin, or a shared object
  std::string assembly;  // PTX, or the disassembly of the entries
  std::string log;       // warnings
  std::vector<KernelFacts> kernels;
  std::string binaryHash;  // SHA-256 of what runs, without paths or build ids
  double seconds = 0.0;
};

using CompileOutcome = std::variant<CompiledBinary, CompileFailed>;

// What the compiler is asked for, so that the program runs on the device.
[[nodiscard]] CompileRequest compileRequest(const Program& program, const DeviceInfo& device);

// The compiler also looks at a source before and at a binary after compiling: what it refuses breaks a rule.
[[nodiscard]] Evaluation evaluationOf(const CompileFailed& failure);

}  // namespace swage::domain
