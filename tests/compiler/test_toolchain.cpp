// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/test_toolchain.h"

#include <csignal>

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace swage::toolchain {
namespace {

// One for all tests of this program, so that the CUDA helper is started once.
Compiler* sharedCompiler() {
  static Result<Compiler> compiler = [] {
    std::signal(SIGPIPE, SIG_IGN);
    return Compiler::open(testOptions());
  }();
  return compiler ? &*compiler : nullptr;
}

}  // namespace

bool sandboxWorks() {
  static const bool works = checkSandbox("bwrap").has_value();
  return works;
}

bool hasNvrtc() {
  return !std::string_view(SWAGE_TEST_NVRTC).empty();
}

ToolchainOptions testOptions() {
  ToolchainOptions options;
  options.sandbox = sandboxWorks() ? SandboxMode::Bubblewrap : SandboxMode::None;
  options.nvrtc = SWAGE_TEST_NVRTC;
  if (const std::string folder = SWAGE_TEST_CUDA_INCLUDE; !folder.empty()) {
    options.cudaIncludes.push_back(folder);
  }
  options.helperProgram = compilerProgram();
  return options;
}

std::string compilerProgram() {
  return SWAGE_TEST_COMPILER;
}

std::string dataFile(const std::string& name) {
  auto text = readTextFile(std::filesystem::path(SWAGE_TEST_DATA) / name);
  EXPECT_TRUE(text.has_value()) << name;
  return text ? std::move(*text) : std::string();
}

domain::CompileRequest cpuRequest(std::string source) {
  // One architecture for all machines: the cells of "native" depend on the machine.
  return {domain::Language::Cpp, std::move(source), {"kernel"}, "x86-64-v3", {}};
}

domain::CompileRequest cudaRequest(std::string source) {
  return {domain::Language::CudaCpp, std::move(source), {"kernel"}, "sm_90a", {}};
}

domain::CompileOutcome compileOnce(const domain::CompileRequest& request, const ProcessLimits& limits) {
  Compiler* compiler = sharedCompiler();
  if (compiler == nullptr) {
    return domain::CompileFailed{domain::CompileFailureReason::Error, "no toolchain"};
  }
  return compiler->compile(request, limits);
}

domain::CompiledBinary compiled(const domain::CompileRequest& request) {
  auto outcome = compileOnce(request);
  if (const auto* failure = std::get_if<domain::CompileFailed>(&outcome)) {
    ADD_FAILURE() << "does not compile:\n" << failure->log << "\n" << request.source;
    return {};
  }
  return std::get<domain::CompiledBinary>(std::move(outcome));
}

domain::CompileFailed failed(const domain::CompileRequest& request, const ProcessLimits& limits) {
  auto outcome = compileOnce(request, limits);
  if (std::holds_alternative<domain::CompiledBinary>(outcome)) {
    ADD_FAILURE() << "compiles, and must not:\n" << request.source.substr(0, 500);
    return {};
  }
  return std::get<domain::CompileFailed>(std::move(outcome));
}

}  // namespace swage::toolchain
