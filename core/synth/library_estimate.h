// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/device_info.h"
#include "core/domain/graph.h"

namespace swage::synth {

// About how long PyTorch takes for a node that is left to it on a GPU, in seconds, as far as that differs between
// plans: convolutions, by what cuDNN reaches. Of anything else 0: views cost nothing, and what no kernel can compute
// every plan leaves to PyTorch.
[[nodiscard]] double libraryEstimate(const domain::Graph& graph, const domain::Node& node,
                                     const domain::DeviceInfo& device);

}  // namespace swage::synth
