// SPDX-License-Identifier: Apache-2.0
#include "core/domain/compilation.h"

namespace swage::domain {

CompileRequest compileRequest(const Program& program, const DeviceInfo& device) {
  return {.language = program.language,
          .source = program.source,
          .entries = program.entries(),
          .architecture = architectureFor(program.language, device),
          .flags = program.compileFlags,
          .parts = program.parts};
}

Evaluation evaluationOf(const CompileFailed& failure) {
  if (failure.reason == CompileFailureReason::Refused) {
    return Rejected{.rule = "code check", .detail = failure.log};
  }
  return failure;
}

}  // namespace swage::domain
