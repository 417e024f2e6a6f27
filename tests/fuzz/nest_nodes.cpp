// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fuzz/random_graph.h"

// Products, convolutions, pooling, scans, and moves of data.
namespace swage::fuzz {
namespace {

constexpr std::int64_t kMaxElements = 6000;

std::int64_t countOf(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

// A number from `low` to `high`.
std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(high - low + 1)));
}

// A new input of random numbers, for the other operand of a product.
ValueId weight(GraphDraft& draft, const Shape& shape, ScalarType type) {
  return draft.writer().input(shape, type, {Draw::Kind::Normal, 0, 2}, true);
}

bool addLinear(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape& shape = w.shape(x);
  const std::int64_t columns = between(draft.random(), 1, 40);
  Shape result = shape;
  result.back() = columns;
  if (countOf(result) > kMaxElements) {
    return false;
  }
  const ScalarType type = w.dtype(x);
  Arguments arguments{arg(x), arg(weight(draft, {columns, shape.back()}, type))};
  if (draft.random().chance(0.6)) {
    arguments.push_back(arg(weight(draft, {columns}, type)));
  }
  draft.keep(w.call("aten.linear.default", std::move(arguments), result, type));
  return true;
}

bool addMatmul(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  const std::int64_t columns = between(draft.random(), 1, 40);
  Shape other{shape.back(), columns};
  Shape result = shape;
  result.back() = columns;
  if (draft.random().chance(0.3)) {  // the same batch, or one that is broadcast
    for (std::size_t dim = shape.size() > 2 ? shape.size() - 2 : 0; dim-- > 0;) {
      other.insert(other.begin(), draft.random().chance(0.3) ? 1 : shape[dim]);
    }
  }
  if (shape.size() == 1) {
    result = {columns};
  }
  if (countOf(result) > kMaxElements) {
    return false;
  }
  draft.keep(w.call("aten.matmul.default", {arg(x), arg(weight(draft, other, w.dtype(x)))}, result, w.dtype(x)));
  return true;
}

// How a window lies on one dimension; `result` is how often it fits.
struct Slide {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t result = 0;
};

Slide randomSlide(Random& random, std::int64_t extent) {
  Slide slide;
  slide.size = between(random, 1, 4);
  slide.stride = between(random, 1, 3);
  slide.padding = between(random, 0, slide.size / 2);
  slide.dilation = random.chance(0.3) ? 2 : 1;
  const std::int64_t span = slide.dilation * (slide.size - 1) + 1;
  slide.result = extent + 2 * slide.padding < span ? 0 : (extent + 2 * slide.padding - span) / slide.stride + 1;
  return slide;
}

// The window over the last `dims` dimensions of a shape; empty where it does not fit.
std::vector<Slide> randomWindow(Random& random, const Shape& shape, std::size_t dims) {
  std::vector<Slide> window;
  for (std::size_t dim = shape.size() - dims; dim < shape.size(); ++dim) {
    window.push_back(randomSlide(random, shape[dim]));
    if (window.back().result < 1) {
      return {};
    }
  }
  return window;
}

template <class Member>
Argument listOf(const std::vector<Slide>& window, Member member) {
  std::vector<std::int64_t> numbers;
  for (const Slide& slide : window) {
    numbers.push_back(slide.*member);
  }
  return listArg(numbers);
}

bool addConvolution(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  const std::size_t dims = shape.size() - 2;
  const std::vector<Slide> window = randomWindow(draft.random(), shape, dims);
  if (window.empty()) {
    return false;
  }
  const std::int64_t groups = draft.random().chance(0.3) ? shape[1] : 1;
  const std::int64_t outputs = groups * between(draft.random(), 1, groups > 1 ? 2 : 8);
  Shape kernel{outputs, shape[1] / groups};
  Shape result{shape[0], outputs};
  for (const Slide& slide : window) {
    kernel.push_back(slide.size);
    result.push_back(slide.result);
  }
  if (countOf(result) > kMaxElements || countOf(kernel) > kMaxElements) {
    return false;
  }
  const ScalarType type = w.dtype(x);
  const Argument bias = draft.random().chance(0.5) ? arg(weight(draft, {outputs}, type)) : noArg();
  draft.keep(w.call("aten.conv" + std::to_string(dims) + "d.default",
                    {arg(x), arg(weight(draft, kernel, type)), bias, listOf(window, &Slide::stride),
                     listOf(window, &Slide::padding), listOf(window, &Slide::dilation), arg(groups)},
                    result, type));
  return true;
}

bool addTransposedConvolution(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  const std::size_t dims = shape.size() - 2;
  const std::int64_t outputs = between(draft.random(), 1, 5);
  Shape kernel{shape[1], outputs};
  Shape result{shape[0], outputs};
  std::vector<Slide> window;
  for (std::size_t dim = 2; dim < shape.size(); ++dim) {
    Slide slide = randomSlide(draft.random(), shape[dim]);
    slide.result = (shape[dim] - 1) * slide.stride - 2 * slide.padding + slide.dilation * (slide.size - 1) + 1;
    kernel.push_back(slide.size);
    result.push_back(slide.result);
    window.push_back(slide);
  }
  const bool isEmpty = std::any_of(result.begin(), result.end(), [](std::int64_t size) { return size < 1; });
  if (isEmpty || countOf(result) > kMaxElements) {
    return false;
  }
  const ScalarType type = w.dtype(x);
  const std::string op = "aten.conv_transpose" + std::to_string(dims) + (dims == 1 ? "d.default" : "d.input");
  draft.keep(w.call(op,
                    {arg(x), arg(weight(draft, kernel, type)), noArg(), listOf(window, &Slide::stride),
                     listOf(window, &Slide::padding), listArg(std::vector<std::int64_t>(dims, 0)), arg(std::int64_t{1}),
                     listOf(window, &Slide::dilation)},
                    result, type));
  return true;
}

bool addPooling(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  const std::size_t dims = shape.size() - 2;
  std::vector<Slide> window = randomWindow(draft.random(), shape, dims);
  if (window.empty()) {
    return false;
  }
  const bool isMaximum = draft.random().chance(0.5);
  Shape result(shape.begin(), shape.begin() + 2);
  for (std::size_t i = 0; i < dims; ++i) {
    Slide& slide = window[i];
    slide.dilation = isMaximum ? slide.dilation : 1;
    const std::int64_t span = slide.dilation * (slide.size - 1) + 1;
    result.push_back((shape[i + 2] + 2 * slide.padding - span) / slide.stride + 1);
  }
  Arguments arguments{arg(x), listOf(window, &Slide::size), listOf(window, &Slide::stride),
                      listOf(window, &Slide::padding)};
  const std::string rank = std::to_string(dims) + "d.default";
  if (isMaximum) {
    arguments.push_back(listOf(window, &Slide::dilation));
  } else {
    arguments.insert(arguments.end(), {arg(false), arg(draft.random().chance(0.5))});
  }
  draft.keep(w.call((isMaximum ? "aten.max_pool" : "aten.avg_pool") + rank, std::move(arguments), result, w.dtype(x)));
  return true;
}

bool addScan(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const auto dim = static_cast<std::int64_t>(draft.random().below(w.shape(x).size()));
  const char* op = draft.random().chance(0.8) ? "aten.cumsum.default" : "aten.cumprod.default";
  // From the end between two flips, or read backwards behind one.
  const bool isTurned = draft.random().chance(0.4);
  const Shape shape = w.shape(x);
  const auto turned = [&](ValueId value) {
    return w.call("aten.flip.default", {arg(value), listArg({dim})}, shape, w.dtype(value));
  };
  const ValueId from = isTurned ? turned(x) : x;
  ValueId result = w.call(op, {arg(from), arg(dim)}, shape, w.dtype(x));
  if (isTurned && draft.random().chance(0.8)) {
    result = turned(result);
  }
  draft.keep(result);
  return true;
}

bool addMove(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  if (shape.size() > 1 && draft.random().chance(0.5)) {
    const std::string op = draft.random().chance(0.5) ? "aten.triu.default" : "aten.tril.default";
    draft.keep(w.call(op, {arg(x), arg(between(draft.random(), -2, 2))}, shape, w.dtype(x)));
    return true;
  }
  if (draft.random().chance(0.5)) {
    const auto dim = static_cast<std::int64_t>(draft.random().below(shape.size()));
    const auto place = static_cast<std::size_t>(dim);
    Shape made = shape;
    switch (draft.random().below(3)) {
      case 0:
        draft.keep(w.call("aten.roll.default", {arg(x), listArg({between(draft.random(), -3, 3)}), listArg({dim})},
                          shape, w.dtype(x)));
        return true;
      case 1:
        made.insert(made.begin() + dim, 2);
        draft.keep(w.call(
            "aten.stack.default",
            {domain::Argument{domain::ArgumentList{arg(x), arg(w.input(shape, w.dtype(x), {}, true))}}, arg(dim)}, made,
            w.dtype(x)));
        return true;
      default: break;
    }
    if (shape[place] % 2 == 0 && domain::isFloating(w.dtype(x))) {
      made[place] /= 2;
      draft.keep(w.call("aten.glu.default", {arg(x), arg(dim)}, made, w.dtype(x)));
      return true;
    }
  }
  const std::int64_t before = between(draft.random(), 0, 3);
  const std::int64_t after = between(draft.random(), 0, 3);
  Shape padded = shape;
  padded.back() += before + after;
  draft.keep(w.call("aten.constant_pad_nd.default", {arg(x), listArg({before, after}), arg(draft.number())}, padded,
                    w.dtype(x)));
  return true;
}

// Layers over a sequence; positive weights, with which states settle: others may send them anywhere in a few steps.
bool addRecurrence(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  const ScalarType type = w.dtype(x);
  if (type != ScalarType::Float32 && type != ScalarType::Float64) {
    return false;
  }
  const std::int64_t kind = between(draft.random(), 0, 2);
  const std::int64_t gates = kind == 0 ? 4 : kind == 1 ? 3 : 1;
  const std::int64_t units = between(draft.random(), 1, 9);
  const std::int64_t layers = between(draft.random(), 1, 2);
  const std::int64_t directions = between(draft.random(), 1, 2);
  const bool hasBiases = draft.random().chance(0.7);
  const bool isBatchFirst = draft.random().chance(0.5);
  const Shape state{layers * directions, shape[isBatchFirst ? 0 : 1], units};
  const Shape result{shape[0], shape[1], directions * units};
  if (countOf(result) > kMaxElements) {
    return false;
  }
  const auto positive = [&](const Shape& of) { return arg(w.input(of, type, {Draw::Kind::Positive, 0, 2}, false)); };
  domain::ArgumentList weights;
  for (std::int64_t i = 0; i < state[0]; ++i) {
    weights.push_back(positive({gates * units, i < directions ? shape[2] : directions * units}));
    weights.push_back(positive({gates * units, units}));
    for (int bias = 0; hasBiases && bias < 2; ++bias) {
      weights.push_back(positive({gates * units}));
    }
  }
  const Argument initial = arg(weight(draft, state, type));
  std::vector<std::pair<Shape, ScalarType>> results{{result, type}, {state, type}};
  Argument states = initial;
  if (kind == 0) {
    states = {domain::ArgumentList{initial, arg(weight(draft, state, type))}};
    results.emplace_back(state, type);
  }
  const char* op = kind == 0 ? "aten.lstm.input" : kind == 1 ? "aten.gru.input" : "aten.rnn_tanh.input";
  const std::vector<ValueId> made = w.node(op,
                                           {arg(x),
                                            states,
                                            {std::move(weights)},
                                            arg(hasBiases),
                                            arg(layers),
                                            arg(0.0),
                                            arg(false),
                                            arg(directions == 2),
                                            arg(isBatchFirst)},
                                           results);
  for (const ValueId value : made) {
    draft.keep(value);
  }
  return true;
}

}  // namespace

bool addNest(GraphDraft& draft) {
  const std::optional<ValueId> x = draft.floating();
  if (!x) {
    return false;
  }
  const Shape& shape = draft.writer().shape(*x);
  const bool isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.empty() || isEmpty) {
    return false;
  }
  const bool hasSpace = shape.size() > 2;  // batch, channels, and at least one dimension to slide over
  switch (draft.random().below(7)) {
    case 0: return addLinear(draft, *x);
    case 1: return addMatmul(draft, *x);
    case 2: return hasSpace && addConvolution(draft, *x);
    case 3: return hasSpace && addTransposedConvolution(draft, *x);
    case 4: return hasSpace && addPooling(draft, *x);
    case 5: {
      const bool isSequence = shape.size() == 3 && draft.random().chance(0.5);
      return isSequence ? addRecurrence(draft, *x) : addScan(draft, *x);
    }
    default: return addMove(draft, *x);
  }
}

}  // namespace swage::fuzz
