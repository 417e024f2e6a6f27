// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/toolchain/backend.h"
#include "core/toolchain/process.h"
#include "core/toolchain/sandbox.h"

namespace swage::toolchain {

// Compiles C++ with the system's compiler, one sandbox for each, checks what was linked, and reads the
// facts from its disassembly. Keeps nothing between compilations but precompiled headers, where it is told to.
class CpuCompiler final : public Backend {
 public:
  struct Options {
    SandboxMode sandbox = SandboxMode::Bubblewrap;
    std::string bubblewrap = "bwrap";
    std::string cxx = "g++";  // a name on PATH, or a path
    std::string headerCache;  // folder of precompiled headers, see HeaderCache; empty: every source reads its headers
  };

  // Environment error when the compiler or binutils' objdump is missing.
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const Options& options);

  [[nodiscard]] std::optional<std::string> findDefect(const domain::CompileRequest& request) const override;
  [[nodiscard]] BuildOutcome build(const domain::CompileRequest& request, const ProcessLimits& limits) override;
  [[nodiscard]] domain::CompileOutcome describe(const domain::CompileRequest& request, BuiltCode code) const override;

 private:
  CpuCompiler(Options options, std::string cxx, std::string objdump)
      : m_options(std::move(options)), m_cxx(std::move(cxx)), m_objdump(std::move(objdump)) {}

  Options m_options;
  std::string m_cxx;
  std::string m_objdump;
};

}  // namespace swage::toolchain
