// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/domain/graph.h"

// Changes of a task's graph before it is cut into kernels. A candidate that was rewritten is checked against the
// original graph like any other; what is rewritten is part of its genome.
namespace swage::domain {

// Whether a rewritten graph has the same results.
enum class Identity : std::uint8_t {
  Exact,      // the same operations on the same numbers, less those that change nothing
  Algebraic,  // equal in real arithmetic: rounding differs, and so may infinities and NaN
};

struct RewriteRule {
  std::string_view name;  // "reduce before product"
  Identity identity = Identity::Algebraic;
  std::string_view meaning;  // a sentence for people, without its full stop
};
[[nodiscard]] std::span<const RewriteRule> rewriteRules();
// Null: this version has no such rule.
[[nodiscard]] const RewriteRule* findRewriteRule(std::string_view name);

// One application of a rule. Those of a genome are applied one after the other, each to what the ones before made.
struct Rewrite {
  std::string rule;
  ValueId value;      // the result that is computed in another way; values of the original graph keep their ids
  std::string where;  // the line of the model that asked for it, for people; may be empty
  friend bool operator==(const Rewrite&, const Rewrite&) = default;
};
// A rule that is not known counts as algebraic.
[[nodiscard]] bool isAlgebraic(const Rewrite& rewrite);
// What was done, and where, for people: "A sum ... is taken of its operands first (model.py:14), algebraic".
[[nodiscard]] std::string describe(const Rewrite& rewrite);

}  // namespace swage::domain
