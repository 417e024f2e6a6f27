// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/toolchain/backend.h"
#include "core/toolchain/nvrtc_helper.h"
#include "core/toolchain/process.h"
#include "core/toolchain/sandbox.h"

namespace swage::toolchain {

// Compiles CUDA C++ with NVRTC in a sandboxed helper that lives from the first request on. A helper that met a
// limit, crashed, or has served enough is replaced before the next request. One thread.
class CudaCompiler final : public Backend {
 public:
  struct Options {
    SandboxMode sandbox = SandboxMode::Bubblewrap;
    std::string bubblewrap = "bwrap";
    std::string nvrtc;                           // path of libnvrtc.so; libnvrtc-builtins stands beside it
    std::vector<std::string> includes;           // folders with cuda_fp16.h and what else a source may include
    std::string helperProgram;                   // the program that understands --nvrtc-helper
    std::vector<std::string> helperLibraries{};  // of that program, outside of /usr; see librariesOutsideUsr()
  };

  // Environment error when the library is not there. NVRTC itself is loaded by the first compilation.
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(Options options);

  [[nodiscard]] std::optional<std::string> findDefect(const domain::CompileRequest& request) const override;
  [[nodiscard]] BuildOutcome build(const domain::CompileRequest& request, const ProcessLimits& limits) override;
  [[nodiscard]] domain::CompileOutcome describe(const domain::CompileRequest& request, BuiltCode code) const override;

 private:
  explicit CudaCompiler(Options options) : m_options(std::move(options)) {}
  [[nodiscard]] Result<> ensureHelper();
  [[nodiscard]] std::vector<std::string> compilerOptions(const domain::CompileRequest& request) const;
  using Answer = std::variant<NvrtcOutput, ProcessEnd>;
  enum class Threads : unsigned char { One, Several };
  [[nodiscard]] Result<Answer> compile(const domain::CompileRequest& request, const ProcessLimits& limits,
                                       Threads threads);

  Options m_options;
  bool m_maySplit = true;  // until NVRTC could not start threads
  std::optional<NvrtcHelper> m_helper;
};

}  // namespace swage::toolchain
