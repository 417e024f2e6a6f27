// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/compiler.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/domain/checks.h"
#include "core/toolchain/compile_failure.h"

namespace swage::toolchain {
namespace {

using domain::CompiledBinary;
using domain::CompileOutcome;
using domain::CompileRequest;

constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;

// What of a request is wrong whatever its language is.
std::optional<std::string> findDefect(const CompileRequest& request) {
  if (request.source.size() > kMaxSourceBytes) {
    return fmt::format("the source is larger than {} MiB", kMaxSourceBytes >> 20U);
  }
  for (const std::string& entry : request.entries) {
    if (!domain::isIdentifier(entry)) {
      return fmt::format("'{}' cannot be the name of a kernel", entry);
    }
  }
  return std::nullopt;
}

CompileOutcome compiled(Backend& backend, const CompileRequest& request, const ProcessLimits& limits) {
  if (const auto defect = backend.findDefect(request)) {
    return refused(*defect);
  }
  BuildOutcome built = backend.build(request, limits);
  if (auto* failed = std::get_if<domain::CompileFailed>(&built)) {
    return std::move(*failed);
  }
  return backend.describe(request, std::move(std::get<BuiltCode>(built)));
}

}  // namespace

Result<Compiler> Compiler::open(const ToolchainOptions& options, const BackendTable& backends) {
  Backends opened;
  std::string why;
  std::string hint;
  bool isAnyUsable = false;
  for (const auto& [language, open] : backends.all()) {
    const auto& backend = opened.emplace(language, open(options)).first->second;
    isAnyUsable = isAnyUsable || backend;
    if (!backend) {
      why += (why.empty() ? "" : "; ") + backend.error().message();
      hint = hint.empty() ? backend.error().hint() : hint;
    }
  }
  if (!isAnyUsable) {
    return Error(ErrorKind::Environment, "nothing can be compiled here: " + why, hint);
  }
  return Compiler(std::move(opened));
}

CompileOutcome Compiler::compile(const CompileRequest& request, const ProcessLimits& limits) {
  const auto start = std::chrono::steady_clock::now();
  if (const auto defect = findDefect(request)) {
    return refused(*defect);
  }
  const auto found = m_backends.find(request.language);
  if (found == m_backends.end()) {
    return environmentFailure(Error(ErrorKind::Environment, missing(request.language)));
  }
  if (!found->second) {
    return environmentFailure(found->second.error());
  }
  CompileOutcome outcome = compiled(**found->second, request, limits);
  if (auto* binary = std::get_if<CompiledBinary>(&outcome)) {
    binary->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return outcome;
}

std::string Compiler::missing(domain::Language language) const {
  const auto found = m_backends.find(language);
  if (found == m_backends.end()) {
    return fmt::format("this build has no compiler for the language {}", domain::name(language));
  }
  return found->second ? std::string() : found->second.error().message();
}

}  // namespace swage::toolchain
