// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "tests/fuzz/random_graph.h"

// Chains that the rules of core/synth/rewriting are about, with everything between their ends that these allow.
namespace swage::fuzz {
namespace {

constexpr ScalarType kType = ScalarType::Float32;

std::int64_t size(GraphDraft& draft, std::size_t least, std::size_t most) {
  return static_cast<std::int64_t>(least + draft.random().below(most - least + 1));
}

ValueId normal(GraphDraft& draft, const Shape& shape) {
  return draft.writer().input(shape, kType, {Draw::Kind::Normal, 0, 2}, false);
}

ValueId positive(GraphDraft& draft, const Shape& shape) {
  return draft.writer().input(shape, kType, {Draw::Kind::Positive, 0, 2}, false);
}

Argument maybe(GraphDraft& draft, const Shape& shape) {
  return draft.random().chance(0.3) ? noArg() : arg(normal(draft, shape));
}

Shape without(const Shape& shape, const std::vector<std::int64_t>& dims, bool keep) {
  Shape result;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const bool isGone = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(dim)) != dims.end();
    if (!isGone) {
      result.push_back(shape[dim]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

ValueId reduced(GraphDraft& draft, ValueId x, const std::vector<std::int64_t>& dims, bool isMean) {
  const bool keep = draft.random().chance(0.5);
  GraphWriter& w = draft.writer();
  return w.call(isMean ? "aten.mean.dim" : "aten.sum.dim_IntList", {arg(x), listArg(dims), arg(keep)},
                without(w.shape(x), dims, keep), kType);
}

// What may stand between a product and a sum of it.
ValueId linked(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  while (draft.random().chance(0.5)) {
    switch (draft.random().below(4)) {
      case 0: x = w.call("aten.mul.Tensor", {arg(x), arg(0.75)}, shape, kType); break;
      case 1: x = w.call("aten.div.Tensor", {arg(x), arg(3.0)}, shape, kType); break;
      case 2: x = w.call("aten.add.Tensor", {arg(x), arg(0.5)}, shape, kType); break;
      default: x = w.call("aten.sub.Tensor", {arg(x), arg(normal(draft, {shape.back()}))}, shape, kType);
    }
  }
  return x;
}

void addReducedLinear(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t inputs = size(draft, 1, 40);
  const std::int64_t outputs = size(draft, 1, 40);
  Shape shape{size(draft, 1, 9), inputs};
  if (draft.random().chance(0.3)) {
    shape.insert(shape.begin(), size(draft, 1, 4));
  }
  Shape result = shape;
  result.back() = outputs;
  const ValueId product = w.call(
      "aten.linear.default",
      {arg(normal(draft, shape)), arg(normal(draft, {outputs, inputs})), maybe(draft, {outputs})}, result, kType);
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const std::vector<std::vector<std::int64_t>> choices{{last}, {0}, {0, last}};
  draft.keep(reduced(draft, linked(draft, product), choices[draft.random().below(choices.size())],
                     draft.random().chance(0.5)));
}

void addReducedMatrices(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t batch = size(draft, 1, 4);
  const std::int64_t m = size(draft, 1, 20);
  const std::int64_t n = size(draft, 1, 20);
  const std::int64_t k = size(draft, 1, 30);
  const ValueId product = w.call(
      "aten.bmm.default", {arg(normal(draft, {batch, m, k})), arg(normal(draft, {batch, k, n}))}, {batch, m, n}, kType);
  const std::vector<std::vector<std::int64_t>> choices{{1}, {2}, {1, 2}};
  draft.keep(reduced(draft, linked(draft, product), choices[draft.random().below(choices.size())],
                     draft.random().chance(0.5)));
}

struct Image {
  ValueId value;
  std::int64_t channels = 1;
};

Image image(GraphDraft& draft) {
  const std::int64_t channels = 2 * size(draft, 1, 3);
  return {normal(draft, {size(draft, 1, 3), channels, size(draft, 6, 12), size(draft, 6, 12)}), channels};
}

// Of an image; stride, padding and the kernel the same in both directions.
ValueId convolved(GraphDraft& draft, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                  bool isTransposed) {
  GraphWriter& w = draft.writer();
  const Image x = image(draft);
  const std::int64_t outputs = 2 * size(draft, 1, 4);
  Shape shape = w.shape(x.value);
  shape[1] = outputs;
  for (const std::size_t dim : {2U, 3U}) {
    shape[dim] = isTransposed ? (shape[dim] - 1) * stride - 2 * padding + kernel
                              : (shape[dim] + 2 * padding - kernel) / stride + 1;
  }
  const Shape weight =
      isTransposed ? Shape{x.channels, outputs, kernel, kernel} : Shape{outputs, x.channels, kernel, kernel};
  return w.call(isTransposed ? "aten.conv_transpose2d.input" : "aten.conv2d.default",
                {arg(x.value), arg(normal(draft, weight)), maybe(draft, {outputs}), listArg({stride, stride}),
                 listArg({padding, padding})},
                shape, kType);
}

void addPooledConvolution(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t kernel = draft.random().chance(0.4) ? 1 : 3;
  const ValueId x = convolved(draft, kernel, 1, kernel / 2, false);
  const std::int64_t window = size(draft, 2, 3);
  Shape shape = w.shape(x);
  shape[2] /= window;
  shape[3] /= window;
  draft.keep(w.call("aten.avg_pool2d.default", {arg(x), listArg({window, window})}, shape, kType));
}

void addAveragedConvolution(GraphDraft& draft) {
  const std::int64_t kernel = size(draft, 1, 3);
  const bool isTransposed = draft.random().chance(0.5);
  const ValueId x = convolved(draft, kernel, size(draft, 1, 2), kernel / 2, isTransposed);
  draft.keep(reduced(draft, x, {draft.random().chance(0.5) ? 2 : 3}, true));
}

void addAveragedNorm(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const Image x = image(draft);
  const Shape shape = w.shape(x.value);
  const Shape channels{x.channels};
  ValueId y;
  if (draft.random().chance(0.5)) {
    y = w.call("aten.group_norm.default",
               {arg(x.value), arg(std::int64_t{2}), maybe(draft, channels), maybe(draft, channels), arg(1e-5)}, shape,
               kType);
  } else {
    const Argument weight = maybe(draft, channels);
    const Argument bias = maybe(draft, channels);
    const auto results =
        w.node("aten._native_batch_norm_legit_functional.default",
               {arg(x.value), weight, bias, arg(normal(draft, channels)), arg(positive(draft, channels)), arg(true),
                arg(0.1), arg(1e-5)},
               {{shape, kType}, {channels, kType}, {channels, kType}, {channels, kType}, {channels, kType}});
    w.dropResult(1);
    w.dropResult(2);
    w.output(results[3]);
    w.output(results[4]);
    y = results[0];
  }
  if (draft.random().chance(0.3)) {
    draft.keep(
        w.call("aten.adaptive_avg_pool2d.default", {arg(y), listArg({1, 1})}, {shape[0], shape[1], 1, 1}, kType));
    return;
  }
  draft.keep(reduced(draft, y,
                     draft.random().chance(0.7) ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{1, 2, 3},
                     true));
}

void addFixedNorm(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = convolved(draft, 3, 1, 1, draft.random().chance(0.4));
  const Shape shape = w.shape(x);
  const Shape channels{shape[1]};
  const Argument weight = maybe(draft, channels);
  const Argument bias = maybe(draft, channels);
  draft.keep(
      w.node("aten._native_batch_norm_legit_no_training.default",
             {arg(x), weight, bias, arg(normal(draft, channels)), arg(positive(draft, channels)), arg(0.1), arg(1e-3)},
             {{shape, kType}, {{0}, kType}, {{0}, kType}})
          .front());
  w.dropResult(1);
  w.dropResult(2);
}

void addLinearPair(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t rows = size(draft, 30, 60);
  const std::int64_t inputs = size(draft, 2, 8);
  const std::int64_t hidden = size(draft, 20, 40);
  const std::int64_t outputs = size(draft, 2, 8);
  const ValueId first =
      w.call("aten.linear.default",
             {arg(normal(draft, {rows, inputs})), arg(normal(draft, {hidden, inputs})), maybe(draft, {hidden})},
             {rows, hidden}, kType);
  draft.keep(w.call("aten.linear.default", {arg(first), arg(normal(draft, {outputs, hidden})), maybe(draft, {outputs})},
                    {rows, outputs}, kType));
}

void addStructured(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t n = size(draft, 8, 40);
  const ValueId matrix = normal(draft, {n, n});
  if (draft.random().chance(0.4)) {
    const ValueId diagonal = w.call("aten.diag.default", {arg(normal(draft, {n}))}, {n, n}, kType);
    const bool isLeft = draft.random().chance(0.5);
    draft.keep(
        w.call("aten.mm.default", {arg(isLeft ? diagonal : matrix), arg(isLeft ? matrix : diagonal)}, {n, n}, kType));
    return;
  }
  const ValueId product = w.call("aten.matmul.default", {arg(matrix), arg(normal(draft, {n, n}))}, {n, n}, kType);
  draft.keep(
      w.call(draft.random().chance(0.5) ? "aten.tril.default" : "aten.triu.default", {arg(product)}, {n, n}, kType));
}

void addAxisOfOne(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = normal(draft, {size(draft, 1, 30), 1});
  const Shape shape = w.shape(x);
  switch (draft.random().below(3)) {
    case 0: draft.keep(w.call("aten.softmax.int", {arg(x), arg(std::int64_t{1})}, shape, kType)); break;
    case 1: draft.keep(w.call("aten.log_softmax.int", {arg(x), arg(std::int64_t{-1})}, shape, kType)); break;
    default: draft.keep(w.call("aten.logsumexp.default", {arg(x), listArg({1}), arg(false)}, {shape[0]}, kType));
  }
}

// Zeros in front of what is added up, of which some rows may be cut off.
void addLedScan(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t rows = size(draft, 2, 20);
  const std::int64_t length = size(draft, 1, 40);
  const ValueId x = normal(draft, {rows, length});
  const ValueId first =
      w.call("aten.slice.Tensor", {arg(x), arg(std::int64_t{1}), arg(std::int64_t{0}), arg(std::int64_t{1})}, {rows, 1},
             kType);
  const ValueId zeros = w.call("aten.zeros_like.default", {arg(first)}, {rows, 1}, kType);
  ValueId led = w.call("aten.cat.default", {{domain::ArgumentList{arg(zeros), arg(x)}}, arg(std::int64_t{1})},
                       {rows, length + 1}, kType);
  if (draft.random().chance(0.7)) {
    led = w.call("aten.slice.Tensor", {arg(led), arg(std::int64_t{0}), arg(std::int64_t{0}), arg(std::int64_t{-1})},
                 {rows - 1, length + 1}, kType);
  }
  draft.keep(w.call("aten.cumsum.default", {arg(led), arg(std::int64_t{1})}, w.shape(led), kType));
}

void addAttention(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::int64_t batch = size(draft, 1, 3);
  const std::int64_t queries = size(draft, 1, 40);
  const std::int64_t keys = size(draft, 2, 40);
  const std::int64_t depth = size(draft, 2, 40);
  const std::int64_t columns = size(draft, 1, 40);
  const ValueId q = normal(draft, {batch, 2, queries, depth});
  const ValueId v = normal(draft, {batch, 2, keys, columns});
  const Shape scores{batch, 2, queries, keys};
  const Shape result{batch, 2, queries, columns};
  const Argument mask = maybe(draft, {queries, keys});
  if (draft.random().chance(0.5)) {
    const ValueId k = normal(draft, {batch, 2, keys, depth});
    const bool isCausal = std::holds_alternative<std::monostate>(mask.value) && draft.random().chance(0.5);
    draft.keep(w.call("aten.scaled_dot_product_attention.default",
                      {arg(q), arg(k), arg(v), mask, arg(0.0), arg(isCausal)}, result, kType));
    return;
  }
  const ValueId k = normal(draft, {batch, 2, depth, keys});
  ValueId score = w.call("aten.matmul.default", {arg(q), arg(k)}, scores, kType);
  score = w.call("aten.div.Tensor", {arg(score), arg(3.0)}, scores, kType);
  if (!std::holds_alternative<std::monostate>(mask.value)) {
    score = w.call("aten.add.Tensor", {arg(score), mask}, scores, kType);
  }
  const ValueId weights = w.call("aten.softmax.int", {arg(score), arg(std::int64_t{-1})}, scores, kType);
  draft.keep(w.call("aten.matmul.default", {arg(weights), arg(v)}, result, kType));
}

// Parts that nobody else reads, side by side in one tensor.
void addConcatenation(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const Shape shape = {size(draft, 1, 4), size(draft, 1, 9), size(draft, 1, 24)};
  const std::size_t dim = draft.random().below(shape.size());
  Shape whole = shape;
  whole[dim] = 0;
  domain::ArgumentList parts;
  for (std::int64_t count = size(draft, 2, 4); count > 0; --count) {
    Shape part = shape;
    part[dim] = size(draft, 1, 12);
    whole[dim] += part[dim];
    const ValueId x = linked(draft, normal(draft, part));
    switch (draft.random().below(3)) {
      case 0: parts.push_back(arg(w.call("aten.relu.default", {arg(x)}, part, kType))); break;
      case 1: parts.push_back(arg(w.call("aten.softmax.int", {arg(x), arg(std::int64_t{-1})}, part, kType))); break;
      default: {
        const ValueId y = normal(draft, {part[0], part[2], part[2]});
        parts.push_back(arg(w.call("aten.matmul.default", {arg(x), arg(y)}, part, kType)));
      }
    }
  }
  const ValueId joined =
      w.call("aten.cat.default", {{std::move(parts)}, arg(static_cast<std::int64_t>(dim))}, whole, kType);
  draft.keep(draft.random().chance(0.5) ? joined : linked(draft, joined));
}

}  // namespace

bool addRewritable(GraphDraft& draft) {
  constexpr std::array kChains{addReducedLinear, addReducedMatrices, addPooledConvolution, addAveragedConvolution,
                               addAveragedNorm,  addFixedNorm,       addLinearPair,        addStructured,
                               addAxisOfOne,     addLedScan,         addAttention,         addConcatenation};
  kChains[draft.random().below(kChains.size())](draft);
  return true;
}

}  // namespace swage::fuzz
