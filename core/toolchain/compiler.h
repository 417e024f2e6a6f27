// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/toolchain/cpu_compiler.h"
#include "core/toolchain/cuda_compiler.h"
#include "core/toolchain/process.h"
#include "core/toolchain/sandbox.h"

namespace swage::toolchain {

struct ToolchainOptions {
  SandboxMode sandbox = SandboxMode::Bubblewrap;
  std::string bubblewrap = "bwrap";
  std::string cxx = "g++";
  std::string nvrtc;  // empty: no cuda
  std::vector<std::string> cudaIncludes;
  std::string helperProgram;                 // see CudaCompiler::Options
  std::vector<std::string> helperLibraries;  // see CudaCompiler::Options
  std::string headerCache;                   // see CpuCompiler::Options
};

// Turns one source into one binary and its facts, for any target. Whatever a source does, compile() returns within its
// limits: a failure is a value. Trouble of our own surroundings is a CompileFailed with the
// reason Environment. One thread; SIGPIPE must be ignored.
class Compiler {
 public:
  // Environment error when no target can be compiled for. Does not try the sandbox: checkSandbox does.
  [[nodiscard]] static Result<Compiler> open(const ToolchainOptions& options);

  [[nodiscard]] domain::CompileOutcome compile(const domain::CompileRequest& request, const ProcessLimits& limits);

  // Why a target cannot be compiled for; empty when it can.
  [[nodiscard]] std::string missing(domain::Target target) const;

 private:
  Compiler(Result<CpuCompiler> cpu, Result<CudaCompiler> cuda) : m_cpu(std::move(cpu)), m_cuda(std::move(cuda)) {}

  Result<CpuCompiler> m_cpu;
  Result<CudaCompiler> m_cuda;
};

}  // namespace swage::toolchain
