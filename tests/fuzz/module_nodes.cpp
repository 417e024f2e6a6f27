// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "tests/fuzz/random_graph.h"

// Normalisations and losses with the weights they take, and operators that are left to PyTorch.
namespace swage::fuzz {
namespace {

constexpr double kEpsilon = 1e-5;

// A weight of the module, or none.
Argument weight(GraphDraft& draft, const Shape& shape, ScalarType type, bool mayMiss = true) {
  if (mayMiss && draft.random().chance(0.3)) {
    return noArg();
  }
  return arg(draft.writer().input(shape, type, {Draw::Kind::Positive, 0, 2}, false));
}

bool addLayerNorm(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  if (shape.empty()) {
    return false;
  }
  const std::size_t count = 1 + draft.random().below(std::min<std::size_t>(shape.size(), 2));
  const Shape normalised(shape.end() - static_cast<std::ptrdiff_t>(count), shape.end());
  const ScalarType type = w.dtype(x);
  if (draft.random().chance(0.35)) {
    Arguments arguments{arg(x), listArg(normalised), weight(draft, normalised, type)};
    if (draft.random().chance(0.5)) {
      arguments.push_back(arg(1e-6));
    }
    draft.keep(w.call("aten.rms_norm.default", std::move(arguments), shape, type));
    return true;
  }
  const Argument scale = weight(draft, normalised, type);
  const Argument bias = weight(draft, normalised, type);
  draft.keep(w.call("aten.layer_norm.default", {arg(x), listArg(normalised), scale, bias, arg(kEpsilon)}, shape, type));
  return true;
}

bool addGroupNorm(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  if (shape.size() < 2 || shape[1] == 0) {
    return false;
  }
  std::vector<std::int64_t> divisors;
  for (std::int64_t groups = 1; groups <= shape[1]; ++groups) {
    if (shape[1] % groups == 0) {
      divisors.push_back(groups);
    }
  }
  const std::int64_t groups = draft.random().pick(std::span<const std::int64_t>(divisors));
  const Argument scale = weight(draft, {shape[1]}, w.dtype(x));
  const Argument bias = weight(draft, {shape[1]}, w.dtype(x));
  draft.keep(w.call("aten.group_norm.default", {arg(x), arg(groups), scale, bias, arg(kEpsilon)}, shape, w.dtype(x)));
  return true;
}

bool addInstanceNorm(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  if (shape.size() < 3) {
    return false;
  }
  const Argument scale = weight(draft, {shape[1]}, w.dtype(x));
  const Argument bias = weight(draft, {shape[1]}, w.dtype(x));
  draft.keep(w.call("aten.instance_norm.default",
                    {arg(x), scale, bias, noArg(), noArg(), arg(true), arg(0.1), arg(kEpsilon), arg(false)}, shape,
                    w.dtype(x)));
  return true;
}

bool addBatchNorm(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(x);
  const ScalarType type = w.dtype(x);
  if (shape.size() < 2) {
    return false;
  }
  const Shape channels{shape[1]};
  const Argument scale = weight(draft, channels, type);
  const Argument bias = weight(draft, channels, type);
  const Argument mean = weight(draft, channels, type, false);
  const Argument variance = weight(draft, channels, type, false);
  if (draft.random().chance(0.5)) {
    draft.keep(w.node("aten._native_batch_norm_legit_no_training.default",
                      {arg(x), scale, bias, mean, variance, arg(0.1), arg(kEpsilon)},
                      {{shape, type}, {{0}, type}, {{0}, type}})
                   .front());
    w.dropResult(1);
    w.dropResult(2);
    return true;
  }
  const auto results = w.node("aten._native_batch_norm_legit_functional.default",
                              {arg(x), scale, bias, mean, variance, arg(true), arg(0.1), arg(kEpsilon)},
                              {{shape, type}, {channels, type}, {channels, type}, {channels, type}, {channels, type}});
  w.dropResult(1);
  w.dropResult(2);
  draft.keep(results[3]);
  draft.keep(results[4]);
  draft.keep(results[0]);
  return true;
}

std::pair<Argument, Shape> lossReduction(GraphDraft& draft, const Shape& whole) {
  const auto reduction = static_cast<std::int64_t>(draft.random().below(3));
  return {arg(reduction), reduction == 0 ? whole : Shape()};
}

bool addCrossEntropy(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const auto logits = draft.floating();
  if (!logits || w.shape(*logits).size() < 2 || w.shape(*logits)[1] == 0) {
    return false;
  }
  Shape rows = w.shape(*logits);
  const std::int64_t classes = rows[1];
  rows.erase(rows.begin() + 1);
  const ValueId target = w.input(rows, ScalarType::Int64, {Draw::Kind::Integers, 0, classes}, false);
  const auto [reduction, shape] = lossReduction(draft, rows);
  Arguments arguments{arg(*logits), arg(target), noArg(), reduction};
  if (draft.random().chance(0.4)) {
    arguments.push_back(arg(std::int64_t{draft.random().chance(0.5) ? 0 : -100}));
  }
  draft.keep(w.call("aten.cross_entropy_loss.default", std::move(arguments), shape, w.dtype(*logits)));
  return true;
}

// Sizes of a slice, and the strides it leaves.
void addSlice(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  domain::TensorType type = w.type(x);
  const std::size_t dim = draft.random().below(type.shape.size());
  const std::int64_t size = type.shape[dim];
  const std::int64_t step = draft.random().chance(0.7) ? 1 : 2;
  const auto begin = static_cast<std::int64_t>(draft.random().below(static_cast<std::size_t>(size) + 1));
  type.shape[dim] = (size - begin + step - 1) / step;
  type.strides[dim] *= step;
  draft.keep(w.view("aten.slice.Tensor",
                    {arg(x), arg(static_cast<std::int64_t>(dim)), arg(begin), arg(size), arg(step)}, std::move(type)));
}

void addPermutation(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  const domain::TensorType type = w.type(x);
  std::vector<std::int64_t> order(type.shape.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[draft.random().below(i)]);
  }
  domain::TensorType permuted{type.dtype, {}, {}};
  for (const std::int64_t dim : order) {
    permuted.shape.push_back(type.shape[static_cast<std::size_t>(dim)]);
    permuted.strides.push_back(type.strides[static_cast<std::size_t>(dim)]);
  }
  draft.keep(w.view("aten.permute.default", {arg(x), listArg(order)}, std::move(permuted)));
}

void addDimension(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  domain::TensorType type = w.type(x);
  const std::size_t dim = draft.random().below(type.shape.size() + 1);
  const std::int64_t stride =
      dim < type.shape.size() ? type.strides[dim] * std::max<std::int64_t>(type.shape[dim], 1) : 1;
  type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  type.strides.insert(type.strides.begin() + static_cast<std::ptrdiff_t>(dim), stride);
  const ValueId made = w.view("aten.unsqueeze.default", {arg(x), arg(static_cast<std::int64_t>(dim))}, std::move(type));
  draft.keep(made);
  if (draft.random().chance(0.5) && w.type(made).elementCount() <= 2000) {
    domain::TensorType expanded = w.type(made);
    expanded.shape[dim] = 3;
    expanded.strides[dim] = 0;
    const Argument sizes = listArg(expanded.shape);
    draft.keep(w.view("aten.expand.default", {arg(made), sizes}, std::move(expanded)));
  }
}

void addSelect(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  domain::TensorType type = w.type(x);
  const std::size_t dim = draft.random().below(type.shape.size());
  if (type.shape[dim] == 0) {
    return;
  }
  const auto index = static_cast<std::int64_t>(draft.random().below(static_cast<std::size_t>(type.shape[dim])));
  type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  type.strides.erase(type.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  draft.keep(w.view("aten.select.int", {arg(x), arg(static_cast<std::int64_t>(dim)), arg(index)}, std::move(type)));
}

}  // namespace

bool addNormalisation(GraphDraft& draft) {
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  switch (draft.random().below(6)) {
    case 0:
    case 1: return addLayerNorm(draft, *x);
    case 2: return addGroupNorm(draft, *x);
    case 3: return addInstanceNorm(draft, *x);
    default: return addBatchNorm(draft, *x);
  }
}

bool addLoss(GraphDraft& draft) {
  if (draft.random().chance(0.4)) {
    return addCrossEntropy(draft);
  }
  constexpr std::array<std::string_view, 7> names{"mse_loss",        "l1_loss", "smooth_l1_loss",
                                                  "huber_loss",      "kl_div",  "binary_cross_entropy_with_logits",
                                                  "soft_margin_loss"};
  const std::string_view name = draft.random().pick(std::span<const std::string_view>(names));
  GraphWriter& w = draft.writer();
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  const Shape whole = w.shape(*x);
  const ValueId target = w.input(whole, w.dtype(*x), {Draw::Kind::Positive, 0, 2}, true);
  const auto [reduction, shape] = lossReduction(draft, whole);
  Arguments arguments{arg(*x), arg(target), reduction};
  if (name == "binary_cross_entropy_with_logits") {
    arguments.insert(arguments.end() - 1, {noArg(), noArg()});
  }
  Keywords keywords;
  if ((name == "smooth_l1_loss" || name == "huber_loss") && draft.random().chance(0.5)) {
    arguments.push_back(arg(0.5));
  } else if (name == "kl_div" && draft.random().chance(0.5)) {
    keywords.emplace_back("log_target", arg(true));
  }
  draft.keep(
      w.call("aten." + std::string(name) + ".default", std::move(arguments), shape, w.dtype(*x), std::move(keywords)));
  return true;
}

bool addForeign(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = draft.any();
  const Shape shape = w.shape(x);
  if (shape.empty()) {
    addDimension(draft, x);
    return true;
  }
  const auto dim = static_cast<std::int64_t>(draft.random().below(shape.size()));
  switch (draft.random().below(7)) {
    case 0: addSlice(draft, x); break;
    case 1: addPermutation(draft, x); break;
    case 2: addDimension(draft, x); break;
    case 3: addSelect(draft, x); break;
    case 4: draft.keep(w.call("aten.flip.default", {arg(x), listArg({dim})}, shape, w.dtype(x))); break;
    case 5: {
      const ScalarType type = domain::isFloating(w.dtype(x)) ? w.dtype(x) : ScalarType::Int64;
      draft.keep(w.call("aten.cumsum.default", {arg(x), arg(dim)}, shape, type));
      break;
    }
    default: {
      Shape doubled = shape;
      doubled[static_cast<std::size_t>(dim)] *= 2;
      draft.keep(w.call("aten.cat.default", {{domain::ArgumentList{arg(x), arg(x)}}, arg(dim)}, doubled, w.dtype(x)));
    }
  }
  return true;
}

}  // namespace swage::fuzz
