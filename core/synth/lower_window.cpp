// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "core/synth/lowering.h"

// What slides a window over the last dimensions: convolutions, transposed ones, and pooling.
namespace swage::synth {
namespace {

using domain::Shape;
using domain::ValueId;
using Coordinate = RegionBuilder::Coordinate;
using Numbers = std::vector<std::int64_t>;

// How a window moves, one number for each dimension it slides over.
struct Window {
  Numbers size;
  Numbers stride;
  Numbers padding;
  Numbers dilation;

  [[nodiscard]] std::size_t dims() const { return size.size(); }
};

// A list with one number for all dimensions, or one for each.
std::optional<Numbers> spread(std::optional<Numbers> given, std::size_t dims, std::int64_t otherwise) {
  if (!given || given->empty()) {
    return Numbers(dims, otherwise);
  }
  if (given->size() == 1) {
    return Numbers(dims, given->front());
  }
  return given->size() == dims ? given : std::nullopt;
}

// The position in the input of element `offset` of the window of a result at `at`, which has its stride.
Coordinate slide(const Window& window, std::size_t dim, std::vector<Coordinate::Term> at, int offset,
                 std::int64_t inputSize, std::int64_t resultSize) {
  Coordinate place;
  place.terms = std::move(at);
  place.terms.push_back({offset, window.dilation[dim]});
  place.offset = -window.padding[dim];
  const std::int64_t last =
      (resultSize - 1) * window.stride[dim] + (window.size[dim] - 1) * window.dilation[dim] - window.padding[dim];
  place.checked = window.padding[dim] > 0 || last >= inputSize;
  return place;
}

// --- convolutions ----------------------------------------------------------------------------------------------------

struct Convolution {
  ValueId input;
  ValueId weight;
  std::optional<ValueId> bias;
  ValueId result;
  Window window;
  std::int64_t groups = 1;
  bool transposed = false;
};

// Where an element of the input lies that a result reads through element `offset` of the kernel.
Coordinate inputPlace(const RegionBuilder& b, const Convolution& c, std::size_t dim, int offset) {
  if (!c.transposed) {
    return slide(c.window, dim, b.along(dim + 2, c.window.stride[dim]), offset, b.type(c.input).shape[dim + 2],
                 b.type(c.result).shape[dim + 2]);
  }
  Coordinate place;
  place.terms = b.along(dim + 2);
  place.terms.push_back({offset, -c.window.dilation[dim]});
  place.offset = c.window.padding[dim];
  place.divisor = c.window.stride[dim];
  place.checked = true;
  return place;
}

bool lowerConvolution(RegionBuilder& b, const Convolution& c) {
  const Frame& frame = b.fullFrame();
  const Shape& input = b.type(c.input).shape;
  const Shape& result = b.type(c.result).shape;
  const int group = c.groups > 1 ? frame[1].front() : -1;
  const int channel = frame[1].back();  // of the result, inside its group
  // Channels that a normalisation behind it cuts into groups of its own.
  const int outer = c.groups == 1 && frame[1].size() == 2 ? frame[1].front() : -1;
  const int from = b.moreAxis(0);  // channel of the input, inside its group
  const std::int64_t inputs = input[1] / c.groups;
  const std::int64_t outputs = result[1] / c.groups;
  const auto inGroups = [&](int axis, std::int64_t size) {
    Coordinate place;
    place.terms.push_back({axis, 1});
    if (group >= 0) {
      place.terms.push_back({group, size});
    }
    return place;
  };
  std::vector<Coordinate> x{Coordinate{{{frame[0].front(), 1}}}, inGroups(from, inputs)};
  // A weight lies as [output][input] of its group, of a transposed convolution as [input][output].
  std::vector<Coordinate> w{inGroups(channel, outputs), Coordinate{{{from, 1}}}};
  if (c.transposed) {
    w = {inGroups(from, inputs), Coordinate{{{channel, 1}}}};
  }
  if (outer >= 0) {
    w[c.transposed ? 1 : 0].terms.push_back({outer, outputs / b.layout().splitOuter});
  }
  for (std::size_t dim = 0; dim < c.window.dims(); ++dim) {
    const int offset = b.moreAxis(dim + 1);
    x.push_back(inputPlace(b, c, dim, offset));
    w.push_back(Coordinate{{{offset, 1}}});
  }
  const auto left = b.readAt(c.input, x);
  const auto right = b.readAt(c.weight, w);
  if (!left || !right) {
    return false;
  }
  int value = b.reduce(FoldKind::Sum, b.call("mul", {*left, *right}));
  if (c.bias) {
    const auto bias = b.read(*c.bias, Frame{frame[1]});
    if (!bias) {
      return false;
    }
    value = b.call("add", {value, *bias});
  }
  // cuDNN's kernels for images as they lie, seen on an H200; those for transposed convolutions and single pixels round
  // ties to even.
  if (!c.transposed && std::any_of(c.window.size.begin(), c.window.size.end(), [](auto size) { return size > 1; })) {
    b.expectTiesAway();
  }
  b.define(c.result, value, frame);
  return true;
}

void addConvolution(const NodeView& node, OperationSink& sink, const Convolution& c) {
  const Shape& result = node.type(c.result).shape;
  const Shape& input = node.type(c.input).shape;
  const auto isFloating = [&](ValueId value) { return domain::isFloating(node.type(value).dtype); };
  if (input.size() != c.window.dims() + 2 || !isFloating(c.input) || !isFloating(c.weight) || c.groups < 1) {
    return;
  }
  Operation operation;
  operation.inputs = {c.input, c.weight};
  if (c.bias) {
    operation.inputs.push_back(*c.bias);
  }
  operation.outputs = {c.result};
  operation.layout.space = result;
  operation.layout.roles.assign(result.size(), AxisRole::M);
  operation.layout.roles[1] = AxisRole::N;
  if (c.groups > 1) {
    operation.layout.splitDim = 1;
    operation.layout.splitOuter = c.groups;
  }
  operation.layout.more.push_back({input[1] / c.groups, AxisRole::K});
  for (const std::int64_t size : c.window.size) {
    operation.layout.more.push_back({size, AxisRole::Window});
  }
  operation.lower = [c](RegionBuilder& b) { return lowerConvolution(b, c); };
  sink.add(std::move(operation));
}

// Padding given as a word: "valid" is none, "same" keeps the size at stride 1.
std::optional<Numbers> paddingOf(const NodeView& node, std::size_t position, const Window& window) {
  const auto word = node.text(position, "padding");
  if (!word) {
    return spread(node.integers(position, "padding"), window.dims(), 0);
  }
  Numbers padding(window.dims(), 0);
  for (std::size_t dim = 0; *word == "same" && dim < window.dims(); ++dim) {
    const std::int64_t both = (window.size[dim] - 1) * window.dilation[dim];
    if (both % 2 != 0) {
      return std::nullopt;  // more on one side than on the other
    }
    padding[dim] = both / 2;
  }
  return padding;
}

// input, weight, bias, stride, padding, dilation, groups
LowerNode convolution(std::size_t dims) {
  return [dims](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "input");
    const auto weight = node.tensor(1, "weight");
    const auto stride = spread(node.integers(3, "stride"), dims, 1);
    const auto dilation = spread(node.integers(5, "dilation"), dims, 1);
    if (!input || !weight || !stride || !dilation || node.type(*weight).shape.size() != dims + 2) {
      return;
    }
    const Shape& shape = node.type(*weight).shape;
    Window window{{shape.begin() + 2, shape.end()}, *stride, {}, *dilation};
    const auto padding = paddingOf(node, 4, window);
    if (!padding) {
      return;
    }
    window.padding = *padding;
    addConvolution(
        node, sink,
        {*input, *weight, node.tensor(2, "bias"), node.result(), window, node.integer(6, "groups").value_or(1), false});
  };
}

// input, weight, bias, stride, padding, output_padding, groups, dilation
LowerNode transposedConvolution(std::size_t dims) {
  return [dims](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "input");
    const auto weight = node.tensor(1, "weight");
    const auto stride = spread(node.integers(3, "stride"), dims, 1);
    const auto padding = spread(node.integers(4, "padding"), dims, 0);
    const auto dilation = spread(node.integers(7, "dilation"), dims, 1);
    if (!input || !weight || !stride || !padding || !dilation || node.type(*weight).shape.size() != dims + 2) {
      return;
    }
    const Shape& shape = node.type(*weight).shape;
    addConvolution(node, sink,
                   {*input, *weight, node.tensor(2, "bias"), node.result(),
                    Window{{shape.begin() + 2, shape.end()}, *stride, *padding, *dilation},
                    node.integer(6, "groups").value_or(1), true});
  };
}

// --- pooling ---------------------------------------------------------------------------------------------------------

struct Pooling {
  ValueId input;
  ValueId result;
  Window window;
  FoldKind kind = FoldKind::Maximum;
  bool countsPadding = true;
  std::optional<double> divisor = {};
};

// How many elements of the window of a result lie inside the input.
int elementsInside(RegionBuilder& b, const Pooling& pool, Compute type) {
  const Shape& input = b.type(pool.input).shape;
  const std::size_t first = input.size() - pool.window.dims();
  int count = -1;
  for (std::size_t dim = 0; dim < pool.window.dims(); ++dim) {
    const auto whole = [&](std::int64_t number) { return b.constant(static_cast<double>(number), Compute::I64); };
    const int at = b.coordinate(b.fullFrame()[first + dim].front());
    const int start =
        b.call("sub", {b.call("mul", {at, whole(pool.window.stride[dim])}), whole(pool.window.padding[dim])});
    const int end = b.call("min", {b.call("add", {start, whole(pool.window.size[dim])}), whole(input[first + dim])});
    const int size = b.convert(b.call("sub", {end, b.call("max", {start, whole(0)})}), type);
    count = count < 0 ? size : b.call("mul", {count, size});
  }
  return count;
}

// The elements that a window sees: read from memory, or computed where this region makes them.
std::optional<int> readWindow(RegionBuilder& b, const Pooling& pool) {
  const Shape& input = b.type(pool.input).shape;
  const Shape& result = b.type(pool.result).shape;
  const std::size_t first = input.size() - pool.window.dims();
  if (!b.layout().tiled.empty()) {
    return b.read(pool.input, *b.elementFrame(input));
  }
  std::vector<Coordinate> places;
  for (std::size_t dim = 0; dim < first; ++dim) {
    places.push_back(Coordinate{{{b.fullFrame()[dim].front(), 1}}});
  }
  for (std::size_t dim = 0; dim < pool.window.dims(); ++dim) {
    places.push_back(slide(pool.window, dim, b.along(first + dim, pool.window.stride[dim]), b.moreAxis(dim),
                           input[first + dim], result[first + dim]));
  }
  return b.readAt(pool.input, places, pool.kind == FoldKind::Maximum ? -std::numeric_limits<double>::infinity() : 0.0);
}

bool lowerPooling(RegionBuilder& b, const Pooling& pool) {
  const bool isMaximum = pool.kind == FoldKind::Maximum;
  const auto x = readWindow(b, pool);
  if (!x) {
    return false;
  }
  int value = b.reduce(pool.kind, *x);
  if (!isMaximum && pool.countsPadding) {
    value = b.over(value, pool.divisor.value_or(static_cast<double>(b.reducedCount())));
  } else if (!isMaximum) {
    value = b.call("div", {value, elementsInside(b, pool, b.typeOf(value))});
  }
  b.define(pool.result, value, b.windowFrame());
  return true;
}

// Elements of a row are folded, as in any reduction.
bool lowerWholePooling(RegionBuilder& b, const Pooling& pool) {
  const auto x = b.read(pool.input, b.fullFrame());
  if (!x) {
    return false;
  }
  int value = b.reduce(pool.kind, *x);
  if (pool.kind != FoldKind::Maximum) {
    value = b.over(value, pool.divisor.value_or(static_cast<double>(b.reducedCount())));
  }
  b.define(pool.result, value, b.reducedFrame(RegionBuilder::KeepDims::Yes));
  return true;
}

// Whether each element of the input is seen by one window at most, and windows see nothing else.
bool cutsIntoTiles(const Pooling& pool, const Shape& input, const Shape& result) {
  const Window& window = pool.window;
  for (std::size_t dim = 0; dim < window.dims(); ++dim) {
    const std::size_t at = input.size() - window.dims() + dim;
    if (window.stride[dim] != window.size[dim] || window.dilation[dim] != 1 || window.padding[dim] != 0 ||
        result[at] * window.size[dim] > input[at]) {
      return false;
    }
  }
  return true;
}

void addPooling(const NodeView& node, OperationSink& sink, const Pooling& pool) {
  const domain::TensorType& input = node.type(pool.input);
  if (!domain::isFloating(input.dtype) || input.shape.size() <= pool.window.dims() || !pool.result.isValid()) {
    return;
  }
  Operation operation;
  operation.inputs = {pool.input};
  operation.outputs = {pool.result};
  operation.layout.space = node.type(pool.result).shape;
  // A window that sees all there is slides nowhere.
  bool isWhole = true;
  for (std::size_t dim = 0; dim < pool.window.dims(); ++dim) {
    const std::size_t at = input.shape.size() - pool.window.dims() + dim;
    isWhole = isWhole && pool.window.padding[dim] == 0 && pool.window.size[dim] == input.shape[at] &&
              operation.layout.space[at] == 1;
  }
  if (isWhole) {
    operation.layout.space = input.shape;
    for (std::size_t dim = input.shape.size() - pool.window.dims(); dim < input.shape.size(); ++dim) {
      operation.layout.reducedDims.push_back(static_cast<int>(dim));
    }
    operation.lower = [pool](RegionBuilder& b) { return lowerWholePooling(b, pool); };
    sink.add(std::move(operation));
    return;
  }
  for (const std::int64_t size : pool.window.size) {
    operation.layout.more.push_back({size, AxisRole::Window});
  }
  if (cutsIntoTiles(pool, input.shape, operation.layout.space)) {
    operation.layout.tiled = input.shape;
  }
  operation.lower = [pool](RegionBuilder& b) { return lowerPooling(b, pool); };
  sink.add(std::move(operation));
}

std::optional<Window> windowOf(const NodeView& node, std::size_t dims) {
  const auto size = spread(node.integers(1, "kernel_size"), dims, 1);
  const auto padding = spread(node.integers(3, "padding"), dims, 0);
  if (!size || !padding) {
    return std::nullopt;
  }
  auto stride = node.integers(2, "stride");
  if (!stride || stride->empty()) {
    stride = size;
  }
  stride = spread(stride, dims, 1);
  return stride ? std::optional(Window{*size, *stride, *padding, Numbers(dims, 1)}) : std::nullopt;
}

// input, kernel_size, stride, padding, dilation, ceil_mode
LowerNode maxPool(std::size_t dims) {
  return [dims](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    auto window = windowOf(node, dims);
    const auto dilation = spread(node.integers(4, "dilation"), dims, 1);
    const bool wantsIndices = node.node().outputs.size() > 1 && node.node().outputs[1].isValid();
    if (input && window && dilation && !wantsIndices) {
      window->dilation = *dilation;
      addPooling(node, sink, {*input, node.result(), *window});
    }
  };
}

// input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
LowerNode averagePool(std::size_t dims) {
  return [dims](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const auto window = windowOf(node, dims);
    if (!input || !window) {
      return;
    }
    Pooling pool{*input, node.result(), *window, FoldKind::Sum};
    pool.divisor = node.number(6, "divisor_override");
    const bool isPadded = std::any_of(window->padding.begin(), window->padding.end(), [](auto n) { return n != 0; });
    pool.countsPadding = !isPadded || node.flag(5, "count_include_pad").value_or(true) || pool.divisor.has_value();
    if (!node.flag(4, "ceil_mode").value_or(false)) {  // else windows hang over the edge and count what is inside
      addPooling(node, sink, pool);
    }
  };
}

// Windows of one size that touch: where the result divides the input.
LowerNode adaptivePool(std::size_t dims, FoldKind kind) {
  return [dims, kind](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const bool wantsIndices = node.node().outputs.size() > 1 && node.node().outputs[1].isValid();
    if (!input || !node.result().isValid() || wantsIndices || node.type(*input).shape.size() <= dims) {
      return;
    }
    const Shape& from = node.type(*input).shape;
    const Shape& to = node.type(node.result()).shape;
    Numbers size;
    for (std::size_t dim = from.size() - dims; dim < from.size(); ++dim) {
      if (to.size() != from.size() || to[dim] < 1 || from[dim] % to[dim] != 0) {
        return;
      }
      size.push_back(from[dim] / to[dim]);
    }
    addPooling(node, sink, {*input, node.result(), {size, size, Numbers(dims, 0), Numbers(dims, 1)}, kind});
  };
}

}  // namespace

void registerWindows(LoweringTable& table) {
  for (const std::size_t dims : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const std::string rank = std::to_string(dims) + "d";
    table["aten.conv" + rank + ".default"] = convolution(dims);
    table["aten.conv" + rank + ".padding"] = convolution(dims);
    table["aten.conv_transpose" + rank + (dims == 1 ? ".default" : ".input")] = transposedConvolution(dims);
    table["aten.max_pool" + rank + ".default"] = maxPool(dims);
    table["aten.max_pool" + rank + "_with_indices.default"] = maxPool(dims);
    table["aten.avg_pool" + rank + ".default"] = averagePool(dims);
    table["aten.adaptive_avg_pool" + rank + ".default"] = adaptivePool(dims, FoldKind::Sum);
    table["aten.adaptive_max_pool" + rank + ".default"] = adaptivePool(dims, FoldKind::Maximum);
  }
}

}  // namespace swage::synth
