// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/language.h"
#include "core/synth/region.h"

namespace swage::synth {

// An expression with how strongly its outermost operator binds, so that no more parentheses are written than needed.
struct Expression {
  enum Binding : std::uint8_t { Ternary, Or, And, Equality, Relation, Sum, Term, Unary, Atom };
  std::string text;
  Binding binding = Atom;
};

// The text of expressions in one language of the family of C, C++ and CUDA C++ so far: `of` has the row of each.
// Functions that no such language has are in the helpers (patterns/<folder>/helpers.*), under the names that stand
// here.
class Dialect {
 public:
  // The language must be one that is written so.
  [[nodiscard]] static const Dialect& of(domain::Language language);

  // What stands in a language for operations on floats; empty: the operator itself does.
  struct Floats {
    std::string_view exponential;
    std::string_view expm1;
    std::string_view sigmoid = {};
    std::string_view inverse = {};  // 1 / x of an x that is at least 1
    std::string_view ratio = {};    // x / y of a y that the compiler knows
  };

  // `unroll` stands before a loop that is to be unrolled, empty where the compiler does so by itself.
  Dialect(std::string_view unroll, const Floats& floats) : m_unroll(unroll), m_floats(floats) {}

  [[nodiscard]] std::string_view typeName(Compute type) const;
  // The type of a tensor's elements in memory.
  [[nodiscard]] std::string_view storageName(domain::ScalarType type) const;
  [[nodiscard]] std::string constant(double number, Compute type) const;
  // `function` is the name of a prim; `type` is the type it computes in.
  [[nodiscard]] Expression call(std::string_view function, Compute type, const std::vector<Expression>& args) const;
  // From memory to registers and back.
  [[nodiscard]] Expression loaded(std::string element, domain::ScalarType type) const;
  [[nodiscard]] std::string stored(const Expression& value, Compute from, domain::ScalarType type) const;
  // Unrolls the loop on the next line; empty where the compiler does so by itself.
  [[nodiscard]] std::string_view unroll() const { return m_unroll; }

 private:
  [[nodiscard]] Expression math(std::string_view function, Compute type, const std::string& args) const;
  // A function of this language in the place of an operator on floats, where it has one.
  [[nodiscard]] std::optional<Expression> ofFloats(std::string_view function,
                                                   const std::vector<Expression>& args) const;

  std::string_view m_unroll;
  Floats m_floats;
};

// `inner` as an operand of an operator that binds like `outer`, in parentheses where it needs them. The right operand
// of an operator that groups to the left needs them for its own kind too.
enum class Side : std::uint8_t { Left, Right };
[[nodiscard]] std::string operand(const Expression& inner, Expression::Binding outer, Side side = Side::Left);

}  // namespace swage::synth
