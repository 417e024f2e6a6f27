// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/compiler.h"

#include <chrono>
#include <variant>

#include <fmt/format.h>

#include "core/domain/checks.h"
#include "core/toolchain/compile_failure.h"
#include "core/toolchain/flags.h"
#include "core/toolchain/source_check.h"

namespace swage::toolchain {
namespace {

using domain::CompiledBinary;
using domain::CompileOutcome;
using domain::CompileRequest;
using domain::Target;

constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;

// What of a request is wrong before anything is compiled.
std::optional<std::string> findDefect(const CompileRequest& request) {
  if (request.source.size() > kMaxSourceBytes) {
    return fmt::format("the source is larger than {} MiB", kMaxSourceBytes >> 20U);
  }
  if (!isArchitectureName(request.target, request.architecture)) {
    return fmt::format("'{}' is not an architecture of target {}", request.architecture, domain::name(request.target));
  }
  for (const std::string& entry : request.entries) {
    if (!domain::isIdentifier(entry)) {
      return fmt::format("'{}' cannot be the name of a kernel", entry);
    }
  }
  if (const auto flag = refusedFlag(request.target, request.flags)) {
    return fmt::format("the flag '{}' is not allowed for target {}", *flag, domain::name(request.target));
  }
  return findRefusal(request.target, request.source);
}

}  // namespace

Result<Compiler> Compiler::open(const ToolchainOptions& options) {
  auto cpu = CpuCompiler::open({options.sandbox, options.bubblewrap, options.cxx, options.headerCache});
  auto cuda = CudaCompiler::open({options.sandbox, options.bubblewrap, options.nvrtc, options.cudaIncludes,
                                  options.helperProgram, options.helperLibraries});
  if (!cpu && !cuda) {
    return Error(ErrorKind::Environment,
                 fmt::format("nothing can be compiled here: {}; {}", cpu.error().message(), cuda.error().message()),
                 cpu.error().hint());
  }
  return Compiler(std::move(cpu), std::move(cuda));
}

CompileOutcome Compiler::compile(const CompileRequest& request, const ProcessLimits& limits) {
  const auto start = std::chrono::steady_clock::now();
  if (const auto defect = findDefect(request)) {
    return refused(*defect);
  }
  if (request.target == Target::Cpu && !m_cpu) {
    return environmentFailure(m_cpu.error());
  }
  if (request.target == Target::Cuda && !m_cuda) {
    return environmentFailure(m_cuda.error());
  }
  CompileOutcome outcome =
      request.target == Target::Cpu ? m_cpu->compile(request, limits) : m_cuda->compile(request, limits);
  if (auto* binary = std::get_if<CompiledBinary>(&outcome)) {
    binary->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return outcome;
}

std::string Compiler::missing(Target target) const {
  if (target == Target::Cpu) {
    return m_cpu ? std::string() : m_cpu.error().message();
  }
  return m_cuda ? std::string() : m_cuda.error().message();
}

}  // namespace swage::toolchain
