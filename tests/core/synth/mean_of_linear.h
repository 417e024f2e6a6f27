// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/core/synth/graph_builder.h"

namespace swage::synth {

// y = linear(x) - s, of which the mean over the features is taken.
inline GraphBuilder meanOfLinear(bool keep) {
  GraphBuilder b;
  const auto x = b.input({16, 64});
  const auto weight = b.input({32, 64});
  const auto bias = b.input({32});
  const auto shift = b.input({32});
  const auto y = b.call("aten.linear.default", {arg(x), arg(weight), arg(bias)}, {16, 32});
  const auto moved = b.like("aten.sub.Tensor", y, {arg(shift)});
  b.output(
      b.call("aten.mean.dim", {arg(moved), listArg({1}), arg(keep)}, keep ? domain::Shape{16, 1} : domain::Shape{16}));
  return b;
}

}  // namespace swage::synth
