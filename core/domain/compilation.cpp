// SPDX-License-Identifier: Apache-2.0
#include "core/domain/compilation.h"

namespace swage::domain {

Evaluation evaluationOf(const CompileFailed& failure) {
  if (failure.reason == CompileFailureReason::Refused) {
    return Rejected{.rule = "code check", .detail = failure.log};
  }
  return failure;
}

}  // namespace swage::domain
