// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/synth/lowering.h"
#include "core/synth/rewriting/rules.h"

// Normalisations by the moments of their channels, and as a part of the weights before them.
namespace swage::synth {
namespace {

using domain::Argument;
using domain::Shape;
using domain::ValueId;
using Numbers = std::vector<std::int64_t>;

// A few operators with their results' shapes.
class Arithmetic {
 public:
  explicit Arithmetic(GraphEdit& edit) : m_edit(edit) {}

  ValueId add(ValueId a, ValueId b) { return binary("aten.add.Tensor", a, b); }
  ValueId sub(ValueId a, ValueId b) { return binary("aten.sub.Tensor", a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary("aten.mul.Tensor", a, b); }
  ValueId add(ValueId a, double b) { return scalar("aten.add.Tensor", a, b); }
  ValueId mul(ValueId a, double b) { return scalar("aten.mul.Tensor", a, b); }
  ValueId rsqrt(ValueId a) { return m_edit.call("aten.rsqrt.default", {argument(a)}, m_edit.shape(a)); }
  ValueId mean(ValueId a, std::int64_t dim, bool keepsDim) {
    Shape shape = m_edit.shape(a);
    if (keepsDim) {
      shape[static_cast<std::size_t>(dim)] = 1;
    } else {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
    }
    return m_edit.call("aten.mean.dim", {argument(a), argument(Numbers{dim}), argument(keepsDim)}, shape);
  }

 private:
  // One of them has the shape of the result.
  ValueId binary(const char* op, ValueId a, ValueId b) {
    const bool isFirst = elementsOf(m_edit.shape(a)) >= elementsOf(m_edit.shape(b));
    return m_edit.call(op, {argument(a), argument(b)}, m_edit.shape(isFirst ? a : b));
  }
  ValueId scalar(const char* op, ValueId a, double b) {
    return m_edit.call(op, {argument(a), argument(b)}, m_edit.shape(a));
  }

  GraphEdit& m_edit;
};

// Which dimensions behind the channel a mean goes over: all of them, perhaps with the channel's.
struct SpatialMean {
  ValueId input;
  bool hasChannel = false;
};

std::optional<SpatialMean> spatialMeanOf(const NodeView& node) {
  const std::string& op = node.node().op;
  const auto input = node.tensor(0, "self");
  if (!input || node.has(99, "dtype")) {
    return std::nullopt;
  }
  const std::size_t rank = node.type(*input).shape.size();
  if (rank < 3) {
    return std::nullopt;
  }
  if (op.starts_with("aten.adaptive_avg_pool")) {
    const Shape& shape = node.type(node.result()).shape;
    const bool isWhole =
        shape.size() == rank && std::all_of(shape.begin() + 2, shape.end(), [](auto n) { return n == 1; });
    return isWhole ? std::optional(SpatialMean{*input, false}) : std::nullopt;
  }
  const auto named = op == "aten.mean.dim" ? node.integers(1, "dim") : std::nullopt;
  if (!named) {
    return std::nullopt;
  }
  Numbers dims;
  for (const std::int64_t dim : *named) {
    dims.push_back(wrapDim(dim, rank));
  }
  std::sort(dims.begin(), dims.end());
  for (const std::int64_t first : {1, 2}) {
    Numbers wanted;
    for (std::int64_t dim = first; dim < static_cast<std::int64_t>(rank); ++dim) {
      wanted.push_back(dim);
    }
    if (dims == wanted) {
      return SpatialMean{*input, first == 1};
    }
  }
  return std::nullopt;
}

// The mean and the (biased) variance of each channel of each sample, [N, C].
struct ChannelMoments {
  ValueId mean;
  ValueId variance;
};

ChannelMoments channelMoments(GraphEdit& edit, ValueId x) {
  const Shape& shape = edit.shape(x);
  Numbers dims;
  for (std::size_t dim = 2; dim < shape.size(); ++dim) {
    dims.push_back(static_cast<std::int64_t>(dim));
  }
  const Shape channels{shape[0], shape[1]};
  const ValueId mean = edit.call("aten.mean.dim", {argument(x), argument(dims), argument(false)}, channels);
  const ValueId variance = edit.call("aten.var.correction", {argument(x), argument(dims)}, channels,
                                     {{"correction", argument(std::int64_t{0})}});
  return {mean, variance};
}

// What a group consists of has the mean of the means, and as its variance the mean of the variances and of the squared
// distances of the means.
//   group norm:  y = w_c (x - m_g) / sqrt(v_g + e) + b_c,  so mean(y) = w_c (m_c - m_g) / sqrt(v_g + e) + b_c
bool meanOfGroupNorm(GraphEdit& edit, const SpatialMean& mean, const NodeView& norm) {
  const auto x = norm.tensor(0, "input");
  const auto groups = norm.integer(1, "num_groups");
  if (!x || !groups || *groups < 1 || !edit.isReadOnce(mean.input) || edit.shape(*x).size() < 3) {
    return false;
  }
  Arithmetic on(edit);
  const ChannelMoments moments = channelMoments(edit, *x);
  const Shape channels = edit.shape(moments.mean);
  const Shape grouped{channels[0], *groups, channels[1] / *groups};
  const ValueId means = edit.reshaped(moments.mean, grouped);
  const ValueId distance = on.sub(means, on.mean(means, 2, true));
  const ValueId variances = edit.reshaped(moments.variance, grouped);
  const ValueId spread = on.add(variances, on.mul(distance, distance));
  const ValueId deviation = on.rsqrt(on.add(on.mean(spread, 2, true), norm.number(4, "eps").value_or(1e-5)));
  ValueId y = edit.reshaped(on.mul(distance, deviation), channels);
  if (const auto weight = norm.tensor(2, "weight")) {
    y = on.mul(y, *weight);
  }
  if (const auto bias = norm.tensor(3, "bias")) {
    y = on.add(y, *bias);
  }
  edit.replace(edit.anchor().result(), mean.hasChannel ? on.mean(y, 1, false) : y);
  return true;
}

// The same with the statistics of a batch, which are results themselves.
bool meanOfBatchNorm(GraphEdit& edit, const SpatialMean& mean, const NodeView& norm) {
  const auto x = norm.tensor(0, "input");
  const auto runningMean = norm.tensor(3, "running_mean");
  const auto runningVariance = norm.tensor(4, "running_var");
  const bool isTrained = norm.flag(5, "training").value_or(false);
  if (!x || !runningMean || !runningVariance || !isTrained || !edit.isReadOnce(mean.input) ||
      edit.shape(*x).size() < 3) {
    return false;
  }
  for (const std::size_t index : {1U, 2U, 3U, 4U}) {
    const bool isStatistic = index > 2;
    if (norm.result(index).isValid() && !(isStatistic && edit.isOutputOnly(norm.result(index)))) {
      return false;
    }
  }
  Arithmetic on(edit);
  const ChannelMoments moments = channelMoments(edit, *x);
  const ValueId batchMean = on.mean(moments.mean, 0, false);
  const ValueId distance = on.sub(moments.mean, batchMean);
  const ValueId batchVariance = on.mean(on.add(moments.variance, on.mul(distance, distance)), 0, false);
  const ValueId deviation = on.rsqrt(on.add(batchVariance, norm.number(7, "eps").value_or(1e-5)));
  ValueId y = on.mul(distance, deviation);
  if (const auto weight = norm.tensor(1, "weight")) {
    y = on.mul(y, *weight);
  }
  if (const auto bias = norm.tensor(2, "bias")) {
    y = on.add(y, *bias);
  }
  const double momentum = norm.number(6, "momentum").value_or(0.1);
  const auto count = static_cast<double>(elementsOf(edit.shape(*x)) / edit.shape(*x)[1]);
  const auto update = [&](ValueId running, ValueId batch, double factor) {
    const ValueId kept = on.mul(running, 1.0 - momentum);
    return on.add(kept, on.mul(batch, momentum * factor));
  };
  if (norm.result(3).isValid()) {
    edit.replace(norm.result(3), update(*runningMean, batchMean, 1.0));
  }
  if (norm.result(4).isValid()) {
    edit.replace(norm.result(4), update(*runningVariance, batchVariance, count / (count - 1.0)));
  }
  edit.replace(edit.anchor().result(), mean.hasChannel ? on.mean(y, 1, false) : y);
  return true;
}

bool meanOfNormalised(GraphEdit& edit) {
  const auto mean = spatialMeanOf(edit.anchor());
  const auto norm = mean ? edit.maker(mean->input) : std::nullopt;
  if (!norm || edit.type(mean->input).dtype != domain::ScalarType::Float32) {
    return false;
  }
  if (norm->node().op == "aten.group_norm.default") {
    return meanOfGroupNorm(edit, *mean, *norm);
  }
  return norm->node().op == "aten._native_batch_norm_legit_functional.default" && meanOfBatchNorm(edit, *mean, *norm);
}

// --- batch norm with fixed statistics ----------------------------------------------------------------------------

struct FixedNorm {
  ValueId input;
  std::optional<ValueId> weight;
  std::optional<ValueId> bias;
  ValueId mean;
  ValueId variance;
  double epsilon = 1e-5;
};

std::optional<FixedNorm> fixedNormOf(const NodeView& node) {
  const std::string& op = node.node().op;
  const bool isBatchNorm = op == "aten.batch_norm.default";
  if (op != "aten._native_batch_norm_legit_no_training.default" &&
      !(isBatchNorm && node.flag(5, "training") == std::optional(false))) {
    return std::nullopt;
  }
  const auto input = node.tensor(0, "input");
  const auto mean = node.tensor(3, "running_mean");
  const auto variance = node.tensor(4, "running_var");
  if (!input || !mean || !variance || node.result(1).isValid() || node.result(2).isValid()) {
    return std::nullopt;
  }
  return FixedNorm{*input,
                   node.tensor(1, "weight"),
                   node.tensor(2, "bias"),
                   *mean,
                   *variance,
                   node.number(isBatchNorm ? 7 : 6, "eps").value_or(1e-5)};
}

// The dimension of the weights that numbers the channels of the result; no value: nothing can be folded into them.
std::optional<std::size_t> channelOfWeight(const NodeView& node, std::size_t rank) {
  const std::string& op = node.node().op;
  if (op == "aten.linear.default") {
    return rank == 2 ? std::optional<std::size_t>(0) : std::nullopt;
  }
  if (op.starts_with("aten.conv_transpose")) {
    return node.integer(6, "groups").value_or(1) == 1 ? std::optional<std::size_t>(1) : std::nullopt;
  }
  const bool isConvolution =
      op.starts_with("aten.conv1d") || op.starts_with("aten.conv2d") || op.starts_with("aten.conv3d");
  return isConvolution ? std::optional<std::size_t>(0) : std::nullopt;
}

//   s = w / sqrt(v + e):  (W x + b - m) s + beta  =  (s W) x + (b - m) s + beta
bool foldBatchNorm(GraphEdit& edit) {
  const NodeView anchor = edit.anchor();
  const auto norm = fixedNormOf(anchor);
  const auto product = norm && edit.isReadOnce(norm->input) ? edit.maker(norm->input) : std::nullopt;
  if (!product || edit.type(norm->input).dtype != domain::ScalarType::Float32) {
    return false;
  }
  const Shape result = edit.shape(norm->input);
  const auto channel = channelOfWeight(*product, result.size());
  const auto weight = product->tensor(1, "weight");
  if (!channel || !weight || product->node().args.size() < 2) {
    return false;
  }
  Arithmetic on(edit);
  ValueId scale = on.rsqrt(on.add(norm->variance, norm->epsilon));
  if (norm->weight) {
    scale = on.mul(*norm->weight, scale);
  }
  Shape along(edit.shape(*weight).size(), 1);
  along[*channel] = edit.shape(scale)[0];
  const ValueId scaled = on.mul(*weight, edit.reshaped(scale, along));
  const auto bias = product->tensor(2, "bias");
  ValueId shift = bias ? on.mul(on.sub(*bias, norm->mean), scale) : on.mul(on.mul(norm->mean, scale), -1.0);
  if (norm->bias) {
    shift = on.add(shift, *norm->bias);
  }
  std::vector<Argument> args = product->node().args;
  args[1] = argument(scaled);
  if (args.size() < 3) {
    args.resize(3);
  }
  args[2] = argument(shift);
  edit.replace(anchor.result(), edit.call(product->node().op, std::move(args), result));
  return true;
}

}  // namespace

void registerNormalisationRules(std::vector<GraphRule>& rules) {
  rules.push_back({"mean of normalised", meanOfNormalised});
  rules.push_back({"fold batch norm", foldBatchNorm});
}

}  // namespace swage::synth
