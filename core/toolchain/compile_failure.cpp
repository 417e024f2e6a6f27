// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/compile_failure.h"

#include <fmt/format.h>

#include "core/toolchain/capped_log.h"

namespace swage::toolchain {
namespace {

using domain::CompileFailed;
using domain::CompileFailureReason;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A compiler driver tells in words how the compiler proper ended.
CompileFailureReason reasonIn(const ProcessResult& result) {
  if (contains(result.output, "File size limit exceeded") || contains(result.output, "No space left on device")) {
    return CompileFailureReason::OutputLimit;
  }
  const bool crashed = result.end == ProcessEnd::Signalled || result.exitCode >= 128 ||
                       contains(result.output, "internal compiler error") ||
                       contains(result.output, "signal terminated program");
  return crashed ? CompileFailureReason::Crash : CompileFailureReason::Error;
}

}  // namespace

CompileFailed environmentFailure(const Error& error) {
  std::string log = error.message();
  if (!error.hint().empty()) {
    log += fmt::format("{}{}", kHintPrefix, error.hint());
  }
  return {CompileFailureReason::Environment, log};
}

std::string writableDataRefusal(std::uint64_t bytes, std::string_view name) {
  const std::string which = name.empty() ? std::string() : fmt::format(" ('{}')", name);
  return fmt::format("has {} bytes of writable module data{}, which keep results from call to call", bytes, which);
}

CompileFailed refused(std::string_view why) {
  return {CompileFailureReason::Refused, std::string(why)};
}

CompileFailed limitFailure(ProcessEnd end, const ProcessLimits& limits, std::string_view log) {
  CompileFailed failed;
  switch (end) {
    case ProcessEnd::TimedOut: failed.reason = CompileFailureReason::Timeout; break;
    case ProcessEnd::MemoryExceeded: failed.reason = CompileFailureReason::MemoryLimit; break;
    case ProcessEnd::OutputExceeded:
    case ProcessEnd::ProcessesExceeded: failed.reason = CompileFailureReason::OutputLimit; break;
    case ProcessEnd::Exited:
    case ProcessEnd::Signalled: failed.reason = CompileFailureReason::Crash; break;
  }
  const std::string what = describeLimit(end, limits);
  failed.log = "the compiler was " + (what.empty() ? "lost: it ended before it had answered" : what) + "\n";
  failed.log += cappedText(log, kMaxLogBytes - failed.log.size());
  return failed;
}

std::optional<CompileFailed> failureOf(const ProcessResult& result, const ProcessLimits& limits,
                                       std::string_view privatePrefix) {
  const std::string log = cleanedLog(result.output, privatePrefix);
  if (!describeLimit(result.end, limits).empty()) {
    return limitFailure(result.end, limits, log);
  }
  if (result.end == ProcessEnd::Exited && result.exitCode == 0) {
    return std::nullopt;
  }
  // Nothing was compiled: bubblewrap itself failed.
  if (log.starts_with("bwrap: ")) {
    return environmentFailure(Error(ErrorKind::Environment, "the sandbox failed: " + log));
  }
  CompileFailed failed{reasonIn(result), log};
  if (result.end == ProcessEnd::Signalled) {
    failed.log = cappedText(fmt::format("the compiler ended with signal {}\n{}", result.signal, log));
  }
  return failed;
}

}  // namespace swage::toolchain
