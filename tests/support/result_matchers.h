// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "core/base/result.h"

namespace swage::testing {

MATCHER(IsOk, "holds a value") {
  if (!arg) {
    *result_listener << "error: " << arg.error().message();
  }
  return arg.has_value();
}

MATCHER_P2(IsError, kind, messageMatcher, "is an error of that kind whose message matches") {
  if (arg.has_value()) {
    *result_listener << "holds a value";
    return false;
  }
  *result_listener << name(arg.error().kind()) << ": " << arg.error().message();
  return arg.error().kind() == kind && ::testing::Value(arg.error().message(), messageMatcher);
}

}  // namespace swage::testing
