// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <string_view>

namespace swage::verify {

// `_native_batch_norm_legit_functional` stands for what a module in training mode calls: at::batch_norm, which updates
// the running statistics in place and may choose cuDNN. Other sums than the operator's own: behind layers that round to
// TF32 the two are further apart than KernelBench tolerates.
[[nodiscard]] bool isTrainingBatchNorm(std::string_view op);

// The results of that operator, computed as a module does. `arguments` are the operator's; `mean` and `variance`, the
// running statistics, are updated in place and are the last two results. The second and third result, which are there
// for gradients, are undefined. May throw c10::Error.
[[nodiscard]] torch::jit::Stack runTrainingBatchNorm(const torch::jit::Stack& arguments, const at::Tensor& mean,
                                                     const at::Tensor& variance);

}  // namespace swage::verify
