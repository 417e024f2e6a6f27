// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/compilation.h"
#include "core/toolchain/compiler.h"

// The toolchain as the tests of this folder find it on this machine.
namespace swage::toolchain {

[[nodiscard]] bool sandboxWorks();
[[nodiscard]] bool hasNvrtc();

// Sandboxed where the machine allows it.
[[nodiscard]] ToolchainOptions testOptions();
[[nodiscard]] std::string compilerProgram();
[[nodiscard]] std::string dataFile(const std::string& name);

[[nodiscard]] domain::CompileRequest cpuRequest(std::string source);
[[nodiscard]] domain::CompileRequest cudaRequest(std::string source);

[[nodiscard]] domain::CompileOutcome compileOnce(const domain::CompileRequest& request,
                                                 const ProcessLimits& limits = {});
// Fails the test, with the log, when the request does not compile.
[[nodiscard]] domain::CompiledBinary compiled(const domain::CompileRequest& request);
// Fails the test when the request compiles.
[[nodiscard]] domain::CompileFailed failed(const domain::CompileRequest& request, const ProcessLimits& limits = {});

}  // namespace swage::toolchain

#define SWAGE_NEEDS_SANDBOX()                                \
  if (!sandboxWorks()) {                                     \
    GTEST_SKIP() << "bubblewrap cannot run on this machine"; \
  }                                                          \
  static_cast<void>(0)
#define SWAGE_NEEDS_NVRTC()                                          \
  if (!hasNvrtc()) {                                                 \
    GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)"; \
  }                                                                  \
  static_cast<void>(0)
