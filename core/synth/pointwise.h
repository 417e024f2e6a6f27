// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "core/synth/lowering.h"

// What the lowerings of element-wise operators share.
namespace swage::synth {

// The result's scalar from those of the operands.
using PointwiseFormula = std::function<int(RegionBuilder&, const std::vector<int>&)>;

// One operation whose only result is `formula` of `operands`, broadcast against each other.
void addPointwise(const NodeView& node, OperationSink& sink, const std::vector<domain::ValueId>& operands,
                  PointwiseFormula formula);

[[nodiscard]] domain::ScalarType typeOfResult(const NodeView& node);
// The type arithmetic on a result of this type is done in.
[[nodiscard]] Compute computeOf(const NodeView& node);
[[nodiscard]] int constantLike(RegionBuilder& b, int x, double number);
// A number as PyTorch compares elements of a type with it, or puts it in their place: rounded to that type. In
// registers a 16-bit float is an F32, which may lie between the number and what it is rounded to.
[[nodiscard]] double asStored(double number, domain::ScalarType type);

}  // namespace swage::synth
