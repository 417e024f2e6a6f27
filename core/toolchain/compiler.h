// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/toolchain/backend.h"

namespace swage::toolchain {

// Turns one source into one binary and its facts, in any language of its table. Whatever a source does, compile()
// returns within its limits: a failure is a value. Trouble of our own surroundings is a CompileFailed with the reason
// Environment. One thread; SIGPIPE must be ignored.
class Compiler {
 public:
  // Environment error when no language can be compiled. Does not try the sandbox: checkSandbox does.
  [[nodiscard]] static Result<Compiler> open(const ToolchainOptions& options,
                                             const BackendTable& backends = BackendTable::builtIn());

  [[nodiscard]] domain::CompileOutcome compile(const domain::CompileRequest& request, const ProcessLimits& limits);

  // Why a language cannot be compiled; empty when it can.
  [[nodiscard]] std::string missing(domain::Language language) const;

 private:
  using Backends = std::map<domain::Language, Result<std::unique_ptr<Backend>>>;
  explicit Compiler(Backends backends) : m_backends(std::move(backends)) {}

  Backends m_backends;
};

}  // namespace swage::toolchain
