// SPDX-License-Identifier: Apache-2.0
#include "core/verify/operator_policy.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <string_view>

#include "core/verify/operator_call.h"

namespace swage::verify {
namespace {

// Beyond the task's own operators: what a rewrite of a graph needs. Base names between spaces; every overload that
// passes the other checks is meant.
constexpr std::string_view kPureOperators =
    " "
    "_log_softmax _softmax _to_copy abs add addmm addmv alias all amax amin any arange argmax argmin avg_pool1d "
    "avg_pool2d avg_pool3d baddbmm bmm cat ceil chunk clamp clamp_max clamp_min clone constant_pad_nd contiguous "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution cos cross_entropy_loss "
    "cumprod cumsum detach diag diagonal div dot elu empty empty_strided eq erf exp expand expm1 eye fill flatten "
    "flip floor full full_like gather ge gelu group_norm gt hardsigmoid hardswish hardtanh huber_loss index "
    "index_select kl_div layer_norm le leaky_relu lift_fresh_copy linear log log1p log_softmax logcumsumexp "
    "logical_and logical_not logical_or logsumexp lt masked_fill matmul max max_pool1d max_pool2d "
    "max_pool2d_with_indices max_pool3d maximum mean min minimum mish mm mse_loss mul mv narrow native_group_norm "
    "native_layer_norm ne neg norm ones ones_like outer pad permute pow prod reciprocal relu relu6 repeat reshape "
    "rms_norm round rsqrt rsub scaled_dot_product_attention select selu sigmoid sign silu sin slice smooth_l1_loss "
    "softmax softplus split split_with_sizes sqrt squeeze stack std sub sum t tan tanh to transpose tril triu "
    "unbind unsqueeze upsample_bilinear2d upsample_nearest2d var var_mean view view_as where zeros zeros_like ";

bool isPure(std::string_view baseName) {
  return kPureOperators.find(" " + std::string(baseName) + " ") != std::string_view::npos;
}

std::string_view baseName(std::string_view op) {
  const auto first = op.find('.') + 1;
  return op.substr(first, op.rfind('.') - first);
}

}  // namespace

std::string whyForbidden(const std::string& op, const std::set<std::string>& taskOperators) {
  if (!op.starts_with("aten.")) {
    return "only operators of the aten namespace may be called";
  }
  const auto handle = findOperator(op);
  if (!handle) {
    return "this PyTorch has no such operator";
  }
  if (handle->schema().is_mutable()) {
    return "it changes its arguments";
  }
  if (taskOperators.contains(op)) {
    return {};
  }
  // Attention carries this tag for its dropout; import refuses tasks that really draw.
  if (handle->hasTag(at::Tag::nondeterministic_seeded)) {
    return "it draws random numbers";
  }
  return isPure(baseName(op)) ? "" : "it is neither part of the task nor on the list of allowed operators";
}

}  // namespace swage::verify
