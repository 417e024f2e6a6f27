// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/synth/region.h"

// Text of the scalar program: expressions of prims and the running state of folds. Functions named fn_* and the
// conversions are in the preludes of the languages.
namespace swage::synth {

[[nodiscard]] std::string_view computeName(Compute type);
[[nodiscard]] std::string constantText(const Prim& prim);

// Statements that compute some per-element prims from an Element `e`, a Group `q` and the index `r`.
class ScalarWriter {
 public:
  ScalarWriter(const Region& program, const std::vector<int>& wanted);
  // The same, with one prim taken from the variable `kept` instead of being computed.
  ScalarWriter(const Region& program, const std::vector<int>& wanted, int kept);

  // "  const float v7 = v3 * q.g5;" for everything `wanted` needs, in order.
  [[nodiscard]] std::string statements() const;
  // How a prim is written where it is used, after the statements.
  [[nodiscard]] std::string name(int prim) const;
  // The expression of a Call, with arguments written by `argument`; constants are written in place.
  [[nodiscard]] std::string call(int prim, const std::function<std::string(int)>& argument) const;

 private:
  void collect(int prim, std::vector<bool>& seen);

  const Region& m_program;
  int m_kept = -1;
  std::vector<int> m_order;
};

// One array of the state of a fold; the arrays have one entry for each lane.
struct StateField {
  std::string name;
  std::string_view type;
};
// A sum of float32: in what its lanes are kept, and whether that loses anything, is for the prelude of the language.
inline constexpr std::string_view kSumOfFloat = "Sum32";
[[nodiscard]] std::vector<StateField> stateFields(const Region& program, int fold);
[[nodiscard]] std::string stateIdentity(const Region& program, int fold, std::string_view state, std::string_view lane);
[[nodiscard]] std::string stateAccumulate(const Region& program, int fold, std::string_view state,
                                          std::string_view lane, std::string_view value);
[[nodiscard]] std::string stateMerge(const Region& program, int fold, std::string_view state, std::string_view lane,
                                     std::string_view other, std::string_view otherLane);
// A total of many states. Its sums have fields for what rounding took from them, named after the fold; folds that
// sum no floating-point numbers have none.
[[nodiscard]] std::vector<StateField> lostFields(const Region& program, int fold);
[[nodiscard]] std::string totalAdd(const Region& program, int fold, std::string_view total, std::string_view state,
                                   std::string_view lane);
// Gives the state what the total has lost.
[[nodiscard]] std::string totalSettle(const Region& program, int fold, std::string_view state, std::string_view total,
                                      std::string_view lane);
[[nodiscard]] std::string stateResult(const Region& program, int fold, int slot, std::string_view state);

}  // namespace swage::synth
