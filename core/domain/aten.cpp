// SPDX-License-Identifier: Apache-2.0
#include "core/domain/aten.h"

#include <algorithm>
#include <array>

namespace swage::domain {
namespace {

constexpr std::string_view kPrefix = "aten.";

constexpr unsigned kNoTrait = 0;
constexpr unsigned kPure = 1;  // a plan may call it although the task does not
constexpr unsigned kList = 2;  // its result is a list of tensors, also where that has one

struct Row {
  std::string_view name;
  AtenWork work = AtenWork::Other;
  unsigned traits = kNoTrait;
};

// By name, an underscore in front not counted.
constexpr auto kRows = std::to_array<Row>({
    {"abs", AtenWork::Elementwise, kPure},
    {"adaptive_avg_pool1d", AtenWork::Other, kNoTrait},
    {"adaptive_avg_pool2d", AtenWork::Other, kNoTrait},
    {"adaptive_avg_pool3d", AtenWork::Other, kNoTrait},
    {"adaptive_max_pool1d", AtenWork::Other, kNoTrait},
    {"adaptive_max_pool2d", AtenWork::Other, kNoTrait},
    {"adaptive_max_pool3d", AtenWork::Other, kNoTrait},
    {"add", AtenWork::Elementwise, kPure},
    {"addcdiv", AtenWork::Elementwise, kPure},
    {"addcmul", AtenWork::Elementwise, kNoTrait},
    {"addmm", AtenWork::Product, kPure},
    {"addmv", AtenWork::Other, kPure},
    {"alias", AtenWork::Elementwise, kPure},
    {"all", AtenWork::Other, kPure},
    {"amax", AtenWork::Reducing, kPure},
    {"amin", AtenWork::Reducing, kPure},
    {"any", AtenWork::Other, kPure},
    {"arange", AtenWork::Other, kPure},
    {"argmax", AtenWork::Reducing, kPure},
    {"argmin", AtenWork::Reducing, kPure},
    {"avg_pool1d", AtenWork::Other, kPure},
    {"avg_pool2d", AtenWork::Other, kPure},
    {"avg_pool3d", AtenWork::Other, kPure},
    {"baddbmm", AtenWork::Product, kPure},
    {"batch_norm", AtenWork::Normalising, kNoTrait},
    {"binary_cross_entropy", AtenWork::Other, kNoTrait},
    {"binary_cross_entropy_with_logits", AtenWork::Other, kNoTrait},
    {"bitwise_and", AtenWork::Other, kNoTrait},
    {"bitwise_not", AtenWork::Other, kNoTrait},
    {"bitwise_or", AtenWork::Other, kNoTrait},
    {"bmm", AtenWork::Product, kPure},
    {"cat", AtenWork::Elementwise, kPure},
    {"ceil", AtenWork::Other, kPure},
    {"celu", AtenWork::Elementwise, kNoTrait},
    {"chunk", AtenWork::Other, kPure | kList},
    {"clamp", AtenWork::Elementwise, kPure},
    {"clamp_max", AtenWork::Elementwise, kPure},
    {"clamp_min", AtenWork::Elementwise, kPure},
    {"clone", AtenWork::Elementwise, kPure},
    {"constant_pad_nd", AtenWork::Other, kPure},
    {"contiguous", AtenWork::Elementwise, kPure},
    {"conv1d", AtenWork::Product, kPure},
    {"conv2d", AtenWork::Product, kPure},
    {"conv3d", AtenWork::Product, kPure},
    {"conv_transpose1d", AtenWork::Product, kPure},
    {"conv_transpose2d", AtenWork::Product, kPure},
    {"conv_transpose3d", AtenWork::Product, kPure},
    {"convolution", AtenWork::Product, kPure},
    {"cos", AtenWork::Elementwise, kPure},
    {"cross_entropy_loss", AtenWork::Other, kPure},
    {"cudnn_convolution", AtenWork::Product, kPure},
    {"cudnn_convolution_transpose", AtenWork::Product, kPure},
    {"cummax", AtenWork::Other, kPure},
    {"cummin", AtenWork::Other, kPure},
    {"cumprod", AtenWork::Other, kPure},
    {"cumsum", AtenWork::Normalising, kPure},
    {"detach", AtenWork::Elementwise, kPure},
    {"diag", AtenWork::Other, kPure},
    {"diagonal", AtenWork::Other, kPure},
    {"div", AtenWork::Elementwise, kPure},
    {"divide", AtenWork::Other, kNoTrait},
    {"dot", AtenWork::Other, kPure},
    {"dropout", AtenWork::Other, kNoTrait},
    {"dsplit", AtenWork::Other, kList},
    {"einsum", AtenWork::Other, kNoTrait},
    {"elu", AtenWork::Elementwise, kPure},
    {"empty", AtenWork::Other, kPure},
    {"empty_strided", AtenWork::Other, kPure},
    {"eq", AtenWork::Other, kPure},
    {"erf", AtenWork::Elementwise, kPure},
    {"exp", AtenWork::Elementwise, kPure},
    {"expand", AtenWork::Other, kPure},
    {"expm1", AtenWork::Elementwise, kPure},
    {"eye", AtenWork::Other, kPure},
    {"fill", AtenWork::Other, kPure},
    {"flatten", AtenWork::Elementwise, kPure},
    {"flip", AtenWork::Other, kPure},
    {"floor", AtenWork::Other, kPure},
    {"frac", AtenWork::Elementwise, kPure},
    {"full", AtenWork::Other, kPure},
    {"full_like", AtenWork::Other, kPure},
    {"gather", AtenWork::Other, kPure},
    {"ge", AtenWork::Other, kPure},
    {"gelu", AtenWork::Elementwise, kPure},
    {"glu", AtenWork::Elementwise, kPure},
    {"group_norm", AtenWork::Normalising, kPure},
    {"gru", AtenWork::Other, kNoTrait},
    {"gt", AtenWork::Other, kPure},
    {"hardsigmoid", AtenWork::Elementwise, kPure},
    {"hardswish", AtenWork::Elementwise, kPure},
    {"hardtanh", AtenWork::Elementwise, kPure},
    {"hsplit", AtenWork::Other, kList},
    {"huber_loss", AtenWork::Reducing, kPure},
    {"index", AtenWork::Other, kPure},
    {"index_select", AtenWork::Other, kPure},
    {"instance_norm", AtenWork::Normalising, kNoTrait},
    {"kl_div", AtenWork::Reducing, kPure},
    {"l1_loss", AtenWork::Reducing, kNoTrait},
    {"layer_norm", AtenWork::Normalising, kPure},
    {"le", AtenWork::Other, kPure},
    {"leaky_relu", AtenWork::Elementwise, kPure},
    {"lerp", AtenWork::Elementwise, kNoTrait},
    {"lift_fresh_copy", AtenWork::Other, kPure},
    {"linalg_vector_norm", AtenWork::Reducing, kNoTrait},
    {"linear", AtenWork::Product, kPure},
    {"log", AtenWork::Elementwise, kPure},
    {"log10", AtenWork::Elementwise, kPure},
    {"log1p", AtenWork::Elementwise, kPure},
    {"log2", AtenWork::Elementwise, kPure},
    {"log_sigmoid", AtenWork::Elementwise, kNoTrait},
    {"_log_softmax", AtenWork::Normalising, kPure},
    {"log_softmax", AtenWork::Normalising, kPure},
    {"logaddexp", AtenWork::Elementwise, kPure},
    {"logcumsumexp", AtenWork::Other, kPure},
    {"logical_and", AtenWork::Other, kPure},
    {"logical_not", AtenWork::Other, kPure},
    {"logical_or", AtenWork::Other, kPure},
    {"logsumexp", AtenWork::Reducing, kPure},
    {"lstm", AtenWork::Other, kNoTrait},
    {"lt", AtenWork::Other, kPure},
    {"masked_fill", AtenWork::Other, kPure},
    {"matmul", AtenWork::Product, kPure},
    {"max", AtenWork::Reducing, kPure},
    {"max_pool1d", AtenWork::Other, kPure},
    {"max_pool1d_with_indices", AtenWork::Other, kPure},
    {"max_pool2d", AtenWork::Other, kPure},
    {"max_pool2d_with_indices", AtenWork::Other, kPure},
    {"max_pool3d", AtenWork::Other, kPure},
    {"max_pool3d_with_indices", AtenWork::Other, kPure},
    {"maximum", AtenWork::Elementwise, kPure},
    {"mean", AtenWork::Reducing, kPure},
    {"min", AtenWork::Reducing, kPure},
    {"minimum", AtenWork::Elementwise, kPure},
    {"mish", AtenWork::Elementwise, kPure},
    {"mm", AtenWork::Product, kPure},
    {"mse_loss", AtenWork::Reducing, kPure},
    {"mul", AtenWork::Elementwise, kPure},
    {"multiply", AtenWork::Other, kNoTrait},
    {"mv", AtenWork::Other, kPure},
    {"narrow", AtenWork::Other, kPure},
    {"native_batch_norm", AtenWork::Normalising, kNoTrait},
    {"_native_batch_norm_legit", AtenWork::Normalising, kNoTrait},
    {"_native_batch_norm_legit_functional", AtenWork::Normalising, kNoTrait},
    {"_native_batch_norm_legit_no_training", AtenWork::Normalising, kNoTrait},
    {"native_group_norm", AtenWork::Normalising, kPure},
    {"native_layer_norm", AtenWork::Normalising, kPure},
    {"ne", AtenWork::Other, kPure},
    {"neg", AtenWork::Elementwise, kPure},
    {"nll_loss_nd", AtenWork::Other, kNoTrait},
    {"norm", AtenWork::Reducing, kPure},
    {"ones", AtenWork::Other, kPure},
    {"ones_like", AtenWork::Other, kPure},
    {"outer", AtenWork::Other, kPure},
    {"pad", AtenWork::Other, kPure},
    {"permute", AtenWork::Elementwise, kPure},
    {"pow", AtenWork::Elementwise, kPure},
    {"prelu", AtenWork::Elementwise, kPure},
    {"prod", AtenWork::Reducing, kPure},
    {"reciprocal", AtenWork::Elementwise, kPure},
    {"relu", AtenWork::Elementwise, kPure},
    {"relu6", AtenWork::Elementwise, kPure},
    {"repeat", AtenWork::Other, kPure},
    {"reshape", AtenWork::Elementwise, kPure},
    {"rms_norm", AtenWork::Normalising, kPure},
    {"rnn_relu", AtenWork::Other, kNoTrait},
    {"rnn_tanh", AtenWork::Other, kNoTrait},
    {"roll", AtenWork::Elementwise, kPure},
    {"round", AtenWork::Other, kPure},
    {"rsqrt", AtenWork::Elementwise, kPure},
    {"rsub", AtenWork::Elementwise, kPure},
    {"scaled_dot_product_attention", AtenWork::Product, kPure},
    {"select", AtenWork::Other, kPure},
    {"selu", AtenWork::Elementwise, kPure},
    {"sgn", AtenWork::Elementwise, kPure},
    {"sigmoid", AtenWork::Elementwise, kPure},
    {"sign", AtenWork::Other, kPure},
    {"silu", AtenWork::Elementwise, kPure},
    {"sin", AtenWork::Elementwise, kPure},
    {"slice", AtenWork::Other, kPure},
    {"smooth_l1_loss", AtenWork::Reducing, kPure},
    {"soft_margin_loss", AtenWork::Other, kNoTrait},
    {"_softmax", AtenWork::Normalising, kPure},
    {"softmax", AtenWork::Normalising, kPure},
    {"softplus", AtenWork::Elementwise, kPure},
    {"softsign", AtenWork::Elementwise, kNoTrait},
    {"special_expit", AtenWork::Elementwise, kPure},
    {"split", AtenWork::Other, kPure | kList},
    {"split_copy", AtenWork::Other, kList},
    {"split_with_sizes", AtenWork::Other, kPure | kList},
    {"split_with_sizes_copy", AtenWork::Other, kList},
    {"sqrt", AtenWork::Elementwise, kPure},
    {"square", AtenWork::Elementwise, kNoTrait},
    {"squeeze", AtenWork::Elementwise, kPure},
    {"stack", AtenWork::Elementwise, kPure},
    {"std", AtenWork::Reducing, kPure},
    {"std_mean", AtenWork::Reducing, kPure},
    {"sub", AtenWork::Elementwise, kPure},
    {"subtract", AtenWork::Other, kNoTrait},
    {"sum", AtenWork::Reducing, kPure},
    {"t", AtenWork::Elementwise, kPure},
    {"tan", AtenWork::Other, kPure},
    {"tanh", AtenWork::Elementwise, kPure},
    {"tensor_split", AtenWork::Other, kList},
    {"threshold", AtenWork::Elementwise, kPure},
    {"to", AtenWork::Elementwise, kPure},
    {"_to_copy", AtenWork::Elementwise, kPure},
    {"transpose", AtenWork::Elementwise, kPure},
    {"tril", AtenWork::Other, kPure},
    {"triplet_margin_loss", AtenWork::Other, kPure},
    {"triu", AtenWork::Other, kPure},
    {"true_divide", AtenWork::Other, kNoTrait},
    {"trunc", AtenWork::Other, kNoTrait},
    {"unbind", AtenWork::Other, kPure | kList},
    {"unflatten", AtenWork::Elementwise, kNoTrait},
    {"unsafe_chunk", AtenWork::Other, kList},
    {"unsafe_split", AtenWork::Other, kList},
    {"unsafe_split_with_sizes", AtenWork::Other, kList},
    {"_unsafe_view", AtenWork::Elementwise, kNoTrait},
    {"unsqueeze", AtenWork::Elementwise, kPure},
    {"upsample_bilinear2d", AtenWork::Other, kPure},
    {"upsample_nearest2d", AtenWork::Other, kPure},
    {"var", AtenWork::Reducing, kPure},
    {"var_mean", AtenWork::Other, kPure},
    {"view", AtenWork::Elementwise, kPure},
    {"view_as", AtenWork::Other, kPure},
    {"vsplit", AtenWork::Other, kList},
    {"where", AtenWork::Other, kPure},
    {"zeros", AtenWork::Other, kPure},
    {"zeros_like", AtenWork::Other, kPure},
});

const Row* find(std::string_view op) {
  const std::string_view name = atenName(op);
  const auto row = std::find_if(kRows.begin(), kRows.end(), [name](const Row& known) { return known.name == name; });
  return row == kRows.end() ? nullptr : &*row;
}

bool has(std::string_view op, unsigned trait) {
  const Row* row = find(op);
  return row != nullptr && (row->traits & trait) != 0;
}

}  // namespace

bool isAten(std::string_view op) {
  return op.starts_with(kPrefix);
}

std::string_view atenName(std::string_view op) {
  if (isAten(op)) {
    op.remove_prefix(kPrefix.size());
  }
  return op.substr(0, op.find('.'));
}

bool isKnownAten(std::string_view op) {
  return find(op) != nullptr;
}

AtenWork atenWork(std::string_view op) {
  const Row* row = find(op);
  return row == nullptr ? AtenWork::Other : row->work;
}

bool isPureAten(std::string_view op) {
  return has(op, kPure);
}

bool returnsList(std::string_view op) {
  return has(op, kList);
}

bool isConvolution(std::string_view op) {
  const std::string_view name = atenName(op);
  return name.starts_with("conv") || name.starts_with("_convolution") || name.starts_with("cudnn_convolution");
}

bool isModuleBatchNorm(const Node& node) {
  return node.op == "aten._native_batch_norm_legit_functional.default" && node.outputs.size() == 5 &&
         !node.outputs[1].isValid() && !node.outputs[2].isValid();
}

}  // namespace swage::domain
