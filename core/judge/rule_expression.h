// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/judge/facts.h"

namespace swage::judge {

// A condition or an estimate over facts, as rules have them: numbers, names of facts, + - * /, comparisons, `and`,
// `or`, `not`, min(a, b), max(a, b), known(fact) and parentheses. True is 1, false 0. Unlike in a calculator a fact may
// be missing, and then what needs it has no value: a rule says nothing about what was not measured. `or` and `and` have
// a value all the same where the other side decides alone.
class RuleExpression {
 public:
  // InvalidInput, with the place: not in this form.
  [[nodiscard]] static Result<RuleExpression> parse(std::string_view text);

  [[nodiscard]] std::optional<double> value(const Facts& facts) const;
  // It has a value, and that is not 0.
  [[nodiscard]] bool holds(const Facts& facts) const;
  // As it was written.
  [[nodiscard]] const std::string& text() const { return m_text; }
  // Names of the facts that it mentions, in order.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  enum class Kind : std::uint8_t {
    Number,
    Fact,
    Known,
    Negate,
    Not,
    Add,
    Subtract,
    Multiply,
    Divide,
    Minimum,
    Maximum,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or
  };
  struct Term {
    Kind kind = Kind::Number;
    double number = 0.0;
    std::string name;
    std::size_t left = 0;  // index of a term
    std::size_t right = 0;
  };
  class Reader;

  [[nodiscard]] std::optional<double> valueOf(std::size_t index, const Facts& facts) const;

  std::string m_text;
  std::vector<Term> m_terms;  // operands stand in front of what uses them; the last one is the whole
};

}  // namespace swage::judge
