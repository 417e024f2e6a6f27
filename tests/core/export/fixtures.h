// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/export/modelnew.h"

namespace swage::exporting::testing {

// forward(x) = relu(x), one kernel, no state.
[[nodiscard]] ModelNewInput reluExport(domain::DeviceKind target = domain::DeviceKind::Cpu);

// The same on CUDA, by a kernel that takes a tensor map of the input and one of the output.
[[nodiscard]] ModelNewInput mapExport();

// forward(x) = (relu(linear(x)), [linear(x)]), and a buffer that counts the calls: an operator, a kernel that takes a
// number, a scratch buffer set to zero, parameters, a buffer mutation and a nested result.
[[nodiscard]] ModelNewInput countingLinearExport();

// forward(x) = nine linear layers one after the other, and a buffer that counts the calls: operators alone, and more
// state than is looked up tensor by tensor.
[[nodiscard]] ModelNewInput deepExport();

// forward(x) = (relu(2 norm(x)), 2 norm(x)) for a batch norm in training mode, which is left to PyTorch.
[[nodiscard]] ModelNewInput batchNormExport();

}  // namespace swage::exporting::testing
