// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "core/synth/lowering.h"
#include "core/synth/rewriting/rules.h"

// Averages of a convolution's result: a convolution is linear in its input and in its weights, so they may be taken of
// either first.
namespace swage::synth {
namespace {

using domain::Argument;
using domain::Shape;
using domain::ValueId;
using Numbers = std::vector<std::int64_t>;

// More slices of the input than that cost more than they save.
constexpr std::int64_t kMostTaps = 8;
// A sum over a part of an axis is the whole less the rest where the rest is at most this part of it.
constexpr std::int64_t kFewMissing = 4;

// conv{1,2,3}d or conv_transpose{1,2,3}d with numbers for its padding.
struct Convolution {
  std::string op;
  ValueId input;
  ValueId weight;
  std::optional<ValueId> bias;
  Numbers stride;
  Numbers padding;
  Numbers outputPadding;
  Numbers dilation;
  std::int64_t groups = 1;
  bool isTransposed = false;

  [[nodiscard]] std::size_t dims() const { return stride.size(); }
  [[nodiscard]] std::vector<Argument> arguments() const {
    std::vector<Argument> args{argument(input), argument(weight), argument(bias), argument(stride), argument(padding)};
    if (isTransposed) {
      args.insert(args.end(), {argument(outputPadding), argument(groups), argument(dilation)});
    } else {
      args.insert(args.end(), {argument(dilation), argument(groups)});
    }
    return args;
  }
};

// One number for all dimensions, or one for each.
std::optional<Numbers> spread(const std::optional<Numbers>& given, std::size_t dims, std::int64_t otherwise) {
  if (!given || given->empty()) {
    return Numbers(dims, otherwise);
  }
  if (given->size() == 1) {
    return Numbers(dims, given->front());
  }
  return given->size() == dims ? given : std::nullopt;
}

std::optional<Convolution> convolutionOf(const std::optional<NodeView>& node) {
  if (!node) {
    return std::nullopt;
  }
  const std::string& op = node->node().op;
  const bool isTransposed = op.starts_with("aten.conv_transpose");
  const auto input = node->tensor(0, "input");
  const auto weight = node->tensor(1, "weight");
  const bool isPlain = op == "aten.conv1d.default" || op == "aten.conv2d.default" || op == "aten.conv3d.default";
  if ((!isPlain && !isTransposed) || !input || !weight) {
    return std::nullopt;
  }
  const std::size_t dims = node->type(*weight).shape.size() - 2;
  const auto stride = spread(node->integers(3, "stride"), dims, 1);
  const auto padding = spread(node->integers(4, "padding"), dims, 0);
  const auto outputPadding = spread(isTransposed ? node->integers(5, "output_padding") : std::nullopt, dims, 0);
  const auto dilation = spread(node->integers(isTransposed ? 7 : 5, "dilation"), dims, 1);
  // Without a batch, or in another order of elements, it is left alone.
  const bool isUsual = node->type(*input).shape.size() == dims + 2 && node->type(*input).isContiguous() &&
                       node->type(node->result()).isContiguous();
  if (!stride || !padding || !outputPadding || !dilation || !isUsual) {
    return std::nullopt;
  }
  return Convolution{op,
                     *input,
                     *weight,
                     node->tensor(2, "bias"),
                     *stride,
                     *padding,
                     *outputPadding,
                     *dilation,
                     node->integer(6, "groups").value_or(1),
                     isTransposed};
}

bool areAll(const Numbers& numbers, std::int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(), [value](std::int64_t number) { return number == value; });
}

// avg_pool{1,2,3}d that counts whole windows inside its input.
struct Pooling {
  ValueId input;
  Numbers size;
  Numbers stride;
};

std::optional<Pooling> poolingOf(const NodeView& node) {
  const std::string& op = node.node().op;
  const auto input = node.tensor(0, "self");
  if (!op.starts_with("aten.avg_pool") || !input || node.type(*input).shape.size() < 3) {
    return std::nullopt;
  }
  const std::size_t dims = node.type(*input).shape.size() - 2;
  const auto size = spread(node.integers(1, "kernel_size"), dims, 1);
  const auto given = node.integers(2, "stride");
  const auto stride = spread(given && !given->empty() ? given : size, dims, 1);
  const auto padding = spread(node.integers(3, "padding"), dims, 0);
  const bool isPlain = !node.flag(4, "ceil_mode").value_or(false) && !node.has(6, "divisor_override");
  if (!size || !stride || !padding || !areAll(*padding, 0) || !isPlain) {
    return std::nullopt;
  }
  return Pooling{*input, *size, *stride};
}

ValueId convolve(GraphEdit& edit, const Convolution& convolution, const Shape& shape) {
  return edit.call(convolution.op, convolution.arguments(), shape);
}

// An average of the values that a convolution of single pixels makes is that of the pixels.
bool poolBefore(GraphEdit& edit) {
  const NodeView anchor = edit.anchor();
  const auto pooling = poolingOf(anchor);
  auto convolution =
      pooling && edit.isReadOnce(pooling->input) ? convolutionOf(edit.maker(pooling->input)) : std::nullopt;
  if (!convolution || convolution->isTransposed || !areAll(convolution->stride, 1) ||
      !areAll(convolution->padding, 0)) {
    return false;
  }
  const Shape& weight = edit.shape(convolution->weight);
  const bool isPixel = std::all_of(weight.begin() + 2, weight.end(), [](std::int64_t extent) { return extent == 1; });
  if (!isPixel) {
    return false;
  }
  const Shape result = edit.shape(anchor.result());
  Shape pooled = result;
  pooled[1] = edit.shape(convolution->input)[1];
  std::vector<Argument> args = anchor.node().args;
  args.front() = argument(convolution->input);
  convolution->input = edit.call(anchor.node().op, std::move(args), pooled);
  edit.replace(anchor.result(), convolve(edit, *convolution, result));
  return true;
}

// An average of windows of results is one convolution with a larger kernel: the average of the shifted kernels.
bool poolInside(GraphEdit& edit) {
  const NodeView anchor = edit.anchor();
  const auto pooling = poolingOf(anchor);
  auto convolution =
      pooling && edit.isReadOnce(pooling->input) ? convolutionOf(edit.maker(pooling->input)) : std::nullopt;
  if (!convolution || convolution->isTransposed || !areAll(convolution->stride, 1) ||
      !areAll(convolution->dilation, 1)) {
    return false;
  }
  Shape padded = edit.shape(convolution->weight);
  Shape larger = padded;
  Numbers margins;
  double before = 1.0;
  double after = 1.0;
  for (std::size_t dim = convolution->dims(); dim-- > 0;) {
    const std::int64_t margin = pooling->size[dim] - 1;
    margins.insert(margins.end(), {margin, margin});
    before *= static_cast<double>(padded[dim + 2] * pooling->stride[dim]);
    larger[dim + 2] += margin;
    padded[dim + 2] += 2 * margin;
    after *= static_cast<double>(larger[dim + 2]);
  }
  if (after >= before) {
    return false;  // more work for each result than there were results
  }
  const ValueId wide = edit.call("aten.constant_pad_nd.default",
                                 {argument(convolution->weight), argument(margins), argument(0.0)}, padded);
  convolution->weight = edit.call(
      anchor.node().op, {argument(wide), argument(pooling->size), argument(Numbers(convolution->dims(), 1))}, larger);
  convolution->stride = pooling->stride;
  edit.replace(anchor.result(), convolve(edit, *convolution, edit.shape(anchor.result())));
  return true;
}

// --- a mean along one axis ---------------------------------------------------------------------------------------

struct AxisMean {
  ValueId input;
  std::size_t dim = 0;  // of the tensor
};

std::optional<AxisMean> axisMeanOf(const NodeView& node) {
  const auto input = node.tensor(0, "self");
  const auto dims = node.integers(1, "dim");
  if (node.node().op != "aten.mean.dim" || !input || !dims || dims->size() != 1 || node.has(99, "dtype")) {
    return std::nullopt;
  }
  const int dim = wrapDim(dims->front(), node.type(*input).shape.size());
  return dim >= 2 ? std::optional(AxisMean{*input, static_cast<std::size_t>(dim)}) : std::nullopt;
}

// The positions of an input, [first, end) in steps, that one element of the kernel meets on its way along an axis.
struct Tap {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  auto operator<=>(const Tap&) const = default;
};

std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

Tap tapOf(const Convolution& c, std::size_t axis, std::int64_t element, std::int64_t inputs, std::int64_t results) {
  const std::int64_t offset = element * c.dilation[axis] - c.padding[axis];
  const std::int64_t stride = c.stride[axis];
  if (c.isTransposed) {
    // Input i adds to result i * stride + offset.
    const std::int64_t first = std::max<std::int64_t>(ceilDiv(-offset, stride), 0);
    return {first, std::max(first, std::min(inputs, ceilDiv(results - offset, stride))), 1};
  }
  // Result i reads input i * stride + offset.
  const std::int64_t first = std::max<std::int64_t>(ceilDiv(-offset, stride), 0) * stride + offset;
  const std::int64_t end = std::min(inputs, (results - 1) * stride + offset + 1);
  return {first, std::max(first, end), stride};
}

class MeanOfConvolution {
 public:
  MeanOfConvolution(GraphEdit& edit, Convolution convolution, std::size_t dim)
      : m_edit(edit), m_convolution(std::move(convolution)), m_dim(dim) {}

  // The sum over the axis of what each element of the kernel meets; side by side they are an input whose only result
  // along the axis is the sum of all.
  bool write(const Shape& results, ValueId replaced) {
    Convolution& c = m_convolution;
    const std::size_t axis = m_dim - 2;
    const std::int64_t size = m_edit.shape(c.weight)[m_dim];
    const std::int64_t inputs = m_edit.shape(c.input)[m_dim];
    if (size > kMostTaps) {
      return false;
    }
    std::vector<ValueId> sums;
    for (std::int64_t element = 0; element < size; ++element) {
      const Tap tap = tapOf(c, axis, element, inputs, results[m_dim]);
      if (tap.first >= tap.end) {
        return false;  // an element of the kernel that meets nothing but padding
      }
      sums.push_back(sumOf(tap));
    }
    if (c.isTransposed) {
      std::reverse(sums.begin(), sums.end());
    }
    Shape shape = m_edit.shape(c.input);
    shape[m_dim] = size;
    const ValueId together =
        size == 1
            ? sums.front()
            : m_edit.call("aten.cat.default", {argument(sums), argument(static_cast<std::int64_t>(m_dim))}, shape);
    c.input =
        m_edit.call("aten.div.Tensor", {argument(together), argument(static_cast<double>(results[m_dim]))}, shape);
    c.stride[axis] = 1;
    c.dilation[axis] = 1;
    c.padding[axis] = c.isTransposed ? size - 1 : 0;
    c.outputPadding[axis] = 0;
    Shape reduced = results;
    reduced[m_dim] = 1;
    m_edit.replace(replaced, convolve(m_edit, c, reduced));
    return true;
  }

 private:
  [[nodiscard]] Argument dimension() const { return argument(static_cast<std::int64_t>(m_dim)); }

  ValueId slice(const Tap& tap) {
    domain::TensorType type = m_edit.type(m_convolution.input);
    type.shape[m_dim] = (tap.end - tap.first + tap.step - 1) / tap.step;
    type.strides[m_dim] *= tap.step;
    return m_edit.viewed(
        "aten.slice.Tensor",
        {argument(m_convolution.input), dimension(), argument(tap.first), argument(tap.end), argument(tap.step)}, type);
  }

  // The sum of all less that of the ends, so that the input is read once for all elements of the kernel.
  ValueId sumWithout(const Tap& all, const Tap& tap) {
    ValueId sum = sumOf(all);
    for (const Tap& end : {Tap{0, tap.first, 1}, Tap{tap.end, all.end, 1}}) {
      if (end.first < end.end) {
        const ValueId part = end.end - end.first == 1 ? slice(end) : sumOf(end);
        sum = m_edit.call("aten.sub.Tensor", {argument(sum), argument(part)}, m_edit.shape(sum));
      }
    }
    m_sums.emplace(tap, sum);
    return sum;
  }

  ValueId sumOf(const Tap& tap) {
    if (const auto known = m_sums.find(tap); known != m_sums.end()) {
      return known->second;
    }
    const Tap all{0, m_edit.shape(m_convolution.input)[m_dim], 1};
    const bool isAll = tap == all;
    const std::int64_t missing = tap.first + (all.end - tap.end);
    if (tap.step == 1 && !isAll && missing * kFewMissing < all.end) {
      return sumWithout(all, tap);
    }
    const ValueId from = isAll ? m_convolution.input : slice(tap);
    Shape shape = m_edit.shape(from);
    shape[m_dim] = 1;
    const ValueId sum =
        m_edit.call("aten.sum.dim_IntList",
                    {argument(from), argument(Numbers{static_cast<std::int64_t>(m_dim)}), argument(true)}, shape);
    m_sums.emplace(tap, sum);
    return sum;
  }

  GraphEdit& m_edit;
  Convolution m_convolution;
  std::size_t m_dim;
  std::map<Tap, ValueId> m_sums;
};

bool meanBefore(GraphEdit& edit) {
  const NodeView anchor = edit.anchor();
  const auto mean = axisMeanOf(anchor);
  const auto convolution = mean && edit.isReadOnce(mean->input) ? convolutionOf(edit.maker(mean->input)) : std::nullopt;
  return convolution &&
         MeanOfConvolution(edit, *convolution, mean->dim).write(edit.shape(mean->input), anchor.result());
}

// --- layouts ---------------------------------------------------------------------------------------------------------

domain::TensorType channelsLast(domain::TensorType type) {
  type.strides.assign(type.shape.size(), 0);
  std::int64_t stride = 1;
  type.strides[1] = stride;
  stride *= type.shape[1];
  for (std::size_t dim = type.shape.size(); dim-- > 2;) {
    type.strides[dim] = stride;
    stride *= type.shape[dim];
  }
  type.strides[0] = stride;
  return type;
}

ValueId laidOut(GraphEdit& edit, ValueId value, domain::TensorType type, std::string format) {
  return edit.viewed("aten.clone.default", {argument(value)}, std::move(type),
                     {{"memory_format", {domain::MemoryFormatArgument{std::move(format)}}}});
}

ValueId laidOutLast(GraphEdit& edit, ValueId value) {
  const domain::TensorType type = channelsLast(edit.type(value));
  return laidOut(edit, value, type, type.shape.size() == 4 ? "channels_last" : "channels_last_3d");
}

enum class Library : std::uint8_t { AsItLies, ChannelsLast, Searched };

// By operators that nothing here makes kernels of. cuDNN's own take their padding first.
std::pair<std::string, std::vector<Argument>> libraryCall(const Convolution& c, Library library) {
  std::vector<Argument> args{argument(c.input), argument(c.weight)};
  if (library != Library::Searched) {
    args.insert(args.end(),
                {argument(std::optional<ValueId>()), argument(c.stride), argument(c.padding), argument(c.dilation),
                 argument(c.isTransposed), argument(c.outputPadding), argument(c.groups)});
    return {"aten.convolution.default", std::move(args)};
  }
  args.push_back(argument(c.padding));
  if (c.isTransposed) {
    args.push_back(argument(c.outputPadding));
  }
  const bool isDeterministic = false;
  const bool mayUseTf32 = true;  // as PyTorch does by itself
  args.insert(args.end(), {argument(c.stride), argument(c.dilation), argument(c.groups), argument(true),
                           argument(isDeterministic), argument(mayUseTf32)});
  return {c.isTransposed ? "aten.cudnn_convolution_transpose.default" : "aten.cudnn_convolution.default",
          std::move(args)};
}

// The bias is added afterwards, by whatever kernel follows: PyTorch has one of its own for it.
bool callLibrary(GraphEdit& edit, Library library) {
  const NodeView anchor = edit.anchor();
  auto convolution = convolutionOf(anchor);
  const bool isLast = library != Library::AsItLies;
  if (!convolution || (isLast && convolution->dims() < 2) || !domain::isFloating(edit.type(convolution->input).dtype)) {
    return false;
  }
  const domain::TensorType result = edit.type(anchor.result());
  const domain::TensorType type = isLast ? channelsLast(result) : result;
  if (isLast) {
    convolution->input = laidOutLast(edit, convolution->input);
    convolution->weight = laidOutLast(edit, convolution->weight);
  }
  const auto [op, args] = libraryCall(*convolution, library);
  ValueId value = edit.viewed(op, args, type);
  if (convolution->bias) {
    Shape shape(result.shape.size() - 1, 1);
    shape.front() = result.shape[1];
    const ValueId bias = edit.reshaped(*convolution->bias, shape);
    value = edit.viewed("aten.add.Tensor", {argument(value), argument(bias)}, type);
  }
  edit.replace(anchor.result(), isLast ? laidOut(edit, value, result, "contiguous_format") : value);
  return true;
}

// With one channel both layouts are the same.
bool hasChannels(const GraphEdit& edit) {
  const auto convolution = convolutionOf(edit.anchor());
  return convolution && edit.shape(convolution->input)[1] > 1;
}

}  // namespace

void registerConvolutionRules(std::vector<GraphRule>& rules) {
  rules.push_back({"pool before convolution", poolBefore});
  rules.push_back({"pool in convolution", poolInside});
  rules.push_back({"mean before convolution", meanBefore});
  rules.push_back(
      {kLibraryConvolution, [](GraphEdit& edit) { return callLibrary(edit, Library::AsItLies); }, nullptr, true});
  rules.push_back({kLaidOutConvolution, [](GraphEdit& edit) { return callLibrary(edit, Library::ChannelsLast); },
                   hasChannels, true});
  rules.push_back(
      {kSearchedConvolution, [](GraphEdit& edit) { return callLibrary(edit, Library::Searched); }, hasChannels, true});
}

}  // namespace swage::synth
