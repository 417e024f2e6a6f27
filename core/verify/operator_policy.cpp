// SPDX-License-Identifier: Apache-2.0
#include "core/verify/operator_policy.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include "core/domain/aten.h"
#include "core/verify/operator_call.h"

namespace swage::verify {

std::string whyForbidden(const std::string& op, const std::set<std::string>& taskOperators) {
  if (!domain::isAten(op)) {
    return "only operators of the aten namespace may be called";
  }
  const auto handle = findOperator(op);
  if (!handle) {
    return "this PyTorch has no such operator";
  }
  if (handle->schema().is_mutable()) {
    return "it changes its arguments";
  }
  if (taskOperators.contains(op)) {
    return {};
  }
  // Attention carries this tag for its dropout; import refuses tasks that really draw.
  if (handle->hasTag(at::Tag::nondeterministic_seeded)) {
    return "it draws random numbers";
  }
  return domain::isPureAten(op) ? "" : "it is neither part of the task nor on the list of allowed operators";
}

}  // namespace swage::verify
