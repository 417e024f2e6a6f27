// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/domain/language.h"
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

// What a compiler left, before anybody has looked at it.
struct BuiltCode {
  std::string bytes;    // cubin, or a shared object
  std::string listing;  // of the whole binary: PTX, or a disassembly
  std::string log;      // warnings
};
using BuildOutcome = std::variant<BuiltCode, domain::CompileFailed>;

// How programs in one language become binaries that are understood: one object for each language, made by the table.
// Whatever a source does, each function returns within the limits: a failure is a value. One thread; SIGPIPE must be
// ignored.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // What of a request is wrong before anything is compiled: its architecture, a flag, or what its source says. Its size
  // and the names of its entries have been looked at.
  [[nodiscard]] virtual std::optional<std::string> findDefect(const domain::CompileRequest& request) const = 0;
  // Runs the compiler, on a request without a defect.
  [[nodiscard]] virtual BuildOutcome build(const domain::CompileRequest& request, const ProcessLimits& limits) = 0;
  // The facts of each kernel, of which its cell follows, and what is shown of it; or why the binary is refused. Runs
  // nothing.
  [[nodiscard]] virtual domain::CompileOutcome describe(const domain::CompileRequest& request,
                                                        BuiltCode code) const = 0;
};

// Environment error when what it needs is not installed. Does not try the sandbox: checkSandbox does.
using OpenBackend = std::function<Result<std::unique_ptr<Backend>>(const ToolchainOptions&)>;

// Who compiles which language. Filled once, then only read.
class BackendTable {
 public:
  // Those of this build: one for each of domain::languages() that core knows.
  [[nodiscard]] static const BackendTable& builtIn();

  // The language must not be there yet.
  void add(domain::Language language, OpenBackend open);
  [[nodiscard]] const std::map<domain::Language, OpenBackend>& all() const { return m_backends; }

 private:
  std::map<domain::Language, OpenBackend> m_backends;
};

}  // namespace swage::toolchain
