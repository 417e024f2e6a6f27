// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

namespace swage::verify {

// The results of a batch norm in training mode (domain::isModuleBatchNorm), computed as a module computes them: by
// at::batch_norm, which updates the running statistics in place and may choose cuDNN. The operator of the graph sums
// otherwise, and behind layers that round to TF32 the two are further apart than KernelBench tolerates. `arguments` are
// the operator's; `mean` and `variance`, the running statistics, are the last two results. The second and third result,
// which are there for gradients, are undefined. May throw c10::Error.
[[nodiscard]] torch::jit::Stack runTrainingBatchNorm(const torch::jit::Stack& arguments, const at::Tensor& mean,
                                                     const at::Tensor& variance);

}  // namespace swage::verify
