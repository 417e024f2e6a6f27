// SPDX-License-Identifier: Apache-2.0
#include "core/verify/operator_policy.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <variant>

#include "core/domain/aten.h"
#include "core/verify/operator_call.h"

namespace swage::verify {
namespace {

using domain::Argument;

bool isZero(const Argument& argument) {
  const auto* real = std::get_if<double>(&argument.value);
  const auto* whole = std::get_if<std::int64_t>(&argument.value);
  return (real != nullptr && *real == 0.0) || (whole != nullptr && *whole == 0);
}

// Attention carries the tag of what draws random numbers for its dropout alone.
bool isAttentionWithoutDropout(const domain::Node& call) {
  constexpr std::size_t kDropout = 4;
  if (call.op != "aten.scaled_dot_product_attention.default") {
    return false;
  }
  const auto named = std::find_if(call.kwargs.begin(), call.kwargs.end(),
                                  [](const auto& argument) { return argument.first == "dropout_p"; });
  if (named != call.kwargs.end()) {
    return isZero(named->second);
  }
  return call.args.size() <= kDropout || isZero(call.args[kDropout]);
}

}  // namespace

std::string whyForbidden(const domain::Node& call, const std::set<std::string>& taskOperators) {
  const std::string& op = call.op;
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
  if (handle->hasTag(at::Tag::nondeterministic_seeded) && !isAttentionWithoutDropout(call)) {
    return "it draws random numbers";
  }
  return domain::isPureAten(op) ? "" : "it is neither part of the task nor on the list of allowed operators";
}

}  // namespace swage::verify
