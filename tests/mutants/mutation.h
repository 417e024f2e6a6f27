// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/domain/language.h"

// Small changes of a kernel's source, of the kinds that people and programs make by mistake.
namespace swage::testing {

enum class MutationKind : std::uint8_t {
  ArithmeticSlip,  // + for -, * for +, minimum for maximum, another constant
  MissingBound,    // a condition is always true
  OffByOne,        // a loop or an extent begins or ends one too early or too late
  DroppedTail,     // a loop runs over whole groups only
  Race,            // a barrier or an atomic is gone
  Equivalent,      // renamed, operands of a commutative operation exchanged, unrolled in another way
};
[[nodiscard]] std::string_view name(MutationKind kind);

struct Mutation {
  MutationKind kind = MutationKind::Equivalent;
  std::string source;  // the whole, changed
  std::string diff;    // "line 12:\n- before\n+ after"
};

// Every mutation of one kernel that the rules can make, without doubles. Text before the kernel, what it has of
// shared functions, stays as it is but for its barriers.
[[nodiscard]] std::vector<Mutation> mutationsOf(std::string_view source, domain::Language language);

// At most `count` of them, drawn so that the kinds are as even as they can be; deterministic.
[[nodiscard]] std::vector<Mutation> drawEvenly(std::vector<Mutation> mutations, std::size_t count, Random& random);

}  // namespace swage::testing
