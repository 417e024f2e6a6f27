// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <utility>

#include "core/base/error.h"

namespace swage {

// A value or the Error that kept us from it. Derived from tl::expected, not an alias, so that
// [[nodiscard]] warns when a result is dropped. Result<bool> is banned by review: use an enum.
template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  using Base = tl::expected<T, Error>;

 public:
  using Base::Base;
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(Base base) : Base(std::move(base)) {}                   // NOLINT(google-explicit-constructor)
};

}  // namespace swage

#define SWAGE_DETAIL_CONCAT2(a, b) a##b
#define SWAGE_DETAIL_CONCAT(a, b) SWAGE_DETAIL_CONCAT2(a, b)

// Returns the error of `expression` from the enclosing function; drops its value.
#define SWAGE_TRY(expression)                          \
  do {                                                 \
    if (auto swageTried = (expression); !swageTried) { \
      return std::move(swageTried).error();            \
    }                                                  \
  } while (false)

// Declares or assigns `target` from the value of `expression`, or returns its error.
#define SWAGE_TRY_ASSIGN(target, expression) \
  SWAGE_DETAIL_TRY_ASSIGN(SWAGE_DETAIL_CONCAT(swageTried, __LINE__), target, expression)
#define SWAGE_DETAIL_TRY_ASSIGN(temporary, target, expression) \
  auto temporary = (expression);                               \
  if (!temporary) {                                            \
    return std::move(temporary).error();                       \
  }                                                            \
  target = std::move(*temporary)
