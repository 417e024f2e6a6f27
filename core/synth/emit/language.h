// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/domain/target.h"
#include "core/synth/region.h"

namespace swage::synth {

// An expression with how strongly its outermost operator binds, so that no more parentheses are written than needed.
struct Expression {
  enum Binding : std::uint8_t { Ternary, Or, And, Equality, Relation, Sum, Term, Unary, Atom };
  std::string text;
  Binding binding = Atom;
};

// What differs between C++ and CUDA C++ in the text of a kernel. Functions that neither language has are in the helpers
// (patterns/<target>/helpers.*), under the names that stand here.
class Language {
 public:
  [[nodiscard]] static const Language& of(domain::Target target);

  explicit Language(domain::Target target) : m_target(target) {}

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
  [[nodiscard]] std::string_view unroll() const { return m_target == domain::Target::Cuda ? "#pragma unroll" : ""; }

 private:
  [[nodiscard]] Expression math(std::string_view function, Compute type, const std::string& args) const;

  domain::Target m_target;
};

// `inner` as an operand of an operator that binds like `outer`, in parentheses where it needs them. The right operand
// of an operator that groups to the left needs them for its own kind too.
enum class Side : std::uint8_t { Left, Right };
[[nodiscard]] std::string operand(const Expression& inner, Expression::Binding outer, Side side = Side::Left);

}  // namespace swage::synth
