// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/domain/graph.h"

// What Swage knows of PyTorch's operators, once. Functions take the name that a graph has ("aten.softmax.int"); what
// they say holds for every overload. How an operator becomes a kernel is in core/synth/lower_*.cpp, and only operators
// of this table can; which of them disappear at import is in resources/bridge/swage_bridge/cleanup.py, because that
// depends on the overload and on how its tensors lie.
namespace swage::domain {

// What an operator does with the elements of its operands.
enum class AtenWork : std::uint8_t {
  Other,
  Elementwise,  // every element of the result needs its own of the operands; views of all elements are among them
  Normalising,  // as above, and all elements of a row as well
  Reducing,     // every result needs many elements, all elements are needed by some
  Product,
};

[[nodiscard]] bool isAten(std::string_view op);
// "aten.softmax.int" is "softmax".
[[nodiscard]] std::string_view atenName(std::string_view op);

[[nodiscard]] bool isKnownAten(std::string_view op);
[[nodiscard]] AtenWork atenWork(std::string_view op);
// Beyond the operators of the task itself, a plan may call these: what a rewrite of a graph needs. None of them is
// random or changes its arguments.
[[nodiscard]] bool isPureAten(std::string_view op);
// Its result is a list of tensors, also where that has one.
[[nodiscard]] bool returnsList(std::string_view op);
[[nodiscard]] bool isConvolution(std::string_view op);
// A batch norm in training mode of which nobody reads what it saves for gradients. Its functional operator stands for
// what a module calls, which sums in another order.
[[nodiscard]] bool isModuleBatchNorm(const Node& node);

}  // namespace swage::domain
