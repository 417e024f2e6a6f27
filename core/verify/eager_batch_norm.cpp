// SPDX-License-Identifier: Apache-2.0
#include "core/verify/eager_batch_norm.h"

#include <ATen/ops/batch_norm.h>

namespace swage::verify {

torch::jit::Stack runTrainingBatchNorm(const torch::jit::Stack& arguments, const at::Tensor& mean,
                                       const at::Tensor& variance) {
  const auto optional = [](const c10::IValue& value) { return value.toOptional<at::Tensor>(); };
  torch::jit::Stack results;
  results.emplace_back(at::batch_norm(arguments[0].toTensor(), optional(arguments[1]), optional(arguments[2]), mean,
                                      variance, arguments[5].toBool(), arguments[6].toDouble(), arguments[7].toDouble(),
                                      /*cudnn_enabled=*/true));
  results.emplace_back(at::Tensor());
  results.emplace_back(at::Tensor());
  results.emplace_back(mean);
  results.emplace_back(variance);
  return results;
}

}  // namespace swage::verify
