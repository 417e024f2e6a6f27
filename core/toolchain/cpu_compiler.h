// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/toolchain/process.h"
#include "core/toolchain/sandbox.h"

namespace swage::toolchain {

// Compiles cpu candidates with the system's C++ compiler, one sandbox for each, checks what was linked, and reads the
// facts from its disassembly. Keeps nothing between compilations but precompiled headers, where it is told to.
class CpuCompiler {
 public:
  struct Options {
    SandboxMode sandbox = SandboxMode::Bubblewrap;
    std::string bubblewrap = "bwrap";
    std::string cxx = "g++";  // a name on PATH, or a path
    std::string headerCache;  // folder of precompiled headers, see HeaderCache; empty: every source reads its headers
  };

  // Environment error when the compiler or binutils' objdump is missing.
  [[nodiscard]] static Result<CpuCompiler> open(const Options& options);

  // The request has been checked by Compiler.
  [[nodiscard]] domain::CompileOutcome compile(const domain::CompileRequest& request,
                                               const ProcessLimits& limits) const;

 private:
  CpuCompiler(Options options, std::string cxx, std::string objdump)
      : m_options(std::move(options)), m_cxx(std::move(cxx)), m_objdump(std::move(objdump)) {}

  Options m_options;
  std::string m_cxx;
  std::string m_objdump;
};

}  // namespace swage::toolchain
