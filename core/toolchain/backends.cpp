// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/assert.h"
#include "core/toolchain/backend.h"
#include "core/toolchain/cpu_compiler.h"
#include "core/toolchain/cuda_compiler.h"

namespace swage::toolchain {
namespace {

// Who sets the sandbox up.
const std::string& sandboxProgram(const ToolchainOptions& options) {
  return options.sandbox == SandboxMode::Landlock ? options.helperProgram : options.bubblewrap;
}

}  // namespace

const BackendTable& BackendTable::builtIn() {
  static const BackendTable table = [] {
    BackendTable made;
    made.add(domain::Language::Cpp, [](const ToolchainOptions& options) {
      return CpuCompiler::open({options.sandbox, sandboxProgram(options), options.cxx, options.headerCache});
    });
    made.add(domain::Language::CudaCpp, [](const ToolchainOptions& options) {
      return CudaCompiler::open({options.sandbox, sandboxProgram(options), options.nvrtc, options.cudaIncludes,
                                 options.helperProgram, options.helperLibraries});
    });
    return made;
  }();
  return table;
}

void BackendTable::add(domain::Language language, OpenBackend open) {
  const bool isNew = m_backends.emplace(language, std::move(open)).second;
  SWAGE_ASSERT(isNew);
}

}  // namespace swage::toolchain
