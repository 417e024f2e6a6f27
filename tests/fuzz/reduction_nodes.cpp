// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

#include "tests/fuzz/random_graph.h"

// Nodes that reduce dimensions, and those whose results depend on whole rows.
namespace swage::fuzz {
namespace {

struct Dims {
  std::vector<std::int64_t> written;  // as the node has them: some from the end
  std::vector<std::size_t> wrapped;
};

Dims someDims(GraphDraft& draft, const Shape& shape, std::size_t atMost) {
  Dims dims;
  if (shape.empty()) {
    return {{draft.random().chance(0.5) ? 0 : -1}, {}};
  }
  std::vector<std::size_t> all(shape.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::size_t count = 1 + draft.random().below(std::min(atMost, all.size()));
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + draft.random().below(all.size() - i)]);
    // The last one more often: that is where reductions are.
    if (i == 0 && draft.random().chance(0.4)) {
      std::iter_swap(all.begin(), std::max_element(all.begin(), all.end()));
    }
    const auto dim = static_cast<std::int64_t>(all[i]);
    dims.wrapped.push_back(all[i]);
    dims.written.push_back(draft.random().chance(0.5) ? dim : dim - static_cast<std::int64_t>(shape.size()));
  }
  return dims;
}

Shape reducedShape(const Shape& shape, const Dims& dims, bool keep) {
  Shape result;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const bool isReduced = std::find(dims.wrapped.begin(), dims.wrapped.end(), dim) != dims.wrapped.end();
    if (!isReduced) {
      result.push_back(shape[dim]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

ScalarType summed(ScalarType type) {
  return domain::isFloating(type) ? type : ScalarType::Int64;
}

using Names = std::span<const std::string_view>;

bool addOverAll(GraphDraft& draft) {
  constexpr std::array<std::string_view, 6> names{"sum", "mean", "prod", "max", "min", "sum"};
  GraphWriter& w = draft.writer();
  const std::string_view name = draft.random().pick(Names(names));
  const ValueId x = draft.any();
  const ScalarType type = w.dtype(x);
  if (name == "mean" && !domain::isFloating(type)) {
    return false;
  }
  const bool keepsType = name == "max" || name == "min";
  draft.keep(w.call("aten." + std::string(name) + ".default", {arg(x)}, {}, keepsType ? type : summed(type)));
  return true;
}

bool addOverDims(GraphDraft& draft) {
  constexpr std::array<std::string_view, 6> names{"sum.dim_IntList", "mean.dim",          "amax.default",
                                                  "amin.default",    "logsumexp.default", "sum.dim_IntList"};
  GraphWriter& w = draft.writer();
  const std::string_view name = draft.random().pick(Names(names));
  const ValueId x = draft.any();
  const Shape shape = w.shape(x);
  const ScalarType type = w.dtype(x);
  const bool needsFloat = name == "mean.dim" || name == "logsumexp.default";
  if (needsFloat && !domain::isFloating(type)) {
    return false;
  }
  const Dims dims = someDims(draft, shape, 3);
  const bool keep = draft.random().chance(0.5);
  ScalarType result = name == "sum.dim_IntList" ? summed(type) : type;
  Keywords keywords;
  const bool mayWiden = name == "sum.dim_IntList" || name == "mean.dim";
  if (mayWiden && draft.random().chance(0.15)) {
    result = draft.random().chance(0.5) ? ScalarType::Float64 : ScalarType::Float32;
    keywords.emplace_back("dtype", arg(result));
  }
  Arguments arguments{arg(x), listArg(dims.written)};
  if (keep || draft.random().chance(0.3)) {
    arguments.push_back(arg(keep));
  }
  draft.keep(w.call("aten." + std::string(name), std::move(arguments), reducedShape(shape, dims, keep), result,
                    std::move(keywords)));
  return true;
}

bool addOverOneDim(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = draft.any();
  const Shape shape = w.shape(x);
  const Dims dims = someDims(draft, shape, 1);
  const bool keep = draft.random().chance(0.5);
  const Shape result = reducedShape(shape, dims, keep);
  const Arguments arguments{arg(x), arg(dims.written[0]), arg(keep)};
  const bool isMax = draft.random().chance(0.5);
  switch (draft.random().below(3)) {
    case 0: draft.keep(w.call("aten.prod.dim_int", arguments, result, summed(w.dtype(x)))); return true;
    case 1: {
      const std::string op = isMax ? "aten.argmax.default" : "aten.argmin.default";
      if (draft.random().chance(0.2)) {
        draft.keep(w.call(op, {arg(x)}, {}, ScalarType::Int64));
      } else {
        draft.keep(w.call(op, arguments, result, ScalarType::Int64));
      }
      return w.dtype(x) != ScalarType::Bool;
    }
    default: break;
  }
  const auto results =
      w.node(isMax ? "aten.max.dim" : "aten.min.dim", arguments, {{result, w.dtype(x)}, {result, ScalarType::Int64}});
  const std::size_t unused = draft.random().below(4);  // 0 and 1: that result
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i == unused) {
      w.dropResult(i);
    } else {
      draft.keep(results[i]);
    }
  }
  return true;
}

bool addNorm(GraphDraft& draft) {
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  GraphWriter& w = draft.writer();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array<double, 7> orders{2.0, 2.0, 1.0, kInfinity, -kInfinity, 3.0, 0.0};
  const double order = draft.random().pick(std::span<const double>(orders));
  const Shape shape = w.shape(*x);
  const Dims dims = someDims(draft, shape, 2);
  const bool keep = draft.random().chance(0.5);
  const Shape result = reducedShape(shape, dims, keep);
  switch (draft.random().below(4)) {
    case 0:
    case 1:
      draft.keep(w.call("aten.linalg_vector_norm.default", {arg(*x), arg(order), listArg(dims.written), arg(keep)},
                        result, w.dtype(*x)));
      break;
    case 2:
      draft.keep(w.call("aten.norm.ScalarOpt_dim", {arg(*x), arg(order), listArg(dims.written), arg(keep)}, result,
                        w.dtype(*x)));
      break;
    default: draft.keep(w.call("aten.norm.Scalar", {arg(*x), arg(order)}, {}, w.dtype(*x)));
  }
  return true;
}

bool addVariance(GraphDraft& draft) {
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(*x);
  const Dims dims = someDims(draft, shape, 2);
  const bool keep = draft.random().chance(0.5);
  Keywords keywords;
  if (draft.random().chance(0.7)) {
    keywords.emplace_back("correction", arg(static_cast<std::int64_t>(draft.random().below(3))));
  }
  keywords.emplace_back("keepdim", arg(keep));
  const bool isRoot = draft.random().chance(0.5);
  const Shape reduced = reducedShape(shape, dims, keep);
  if (draft.random().chance(0.3)) {
    const std::vector<ValueId> both =
        w.node(isRoot ? "aten.std_mean.correction" : "aten.var_mean.correction", {arg(*x), listArg(dims.written)},
               {{reduced, w.dtype(*x)}, {reduced, w.dtype(*x)}}, std::move(keywords));
    draft.keep(both[0]);
    draft.keep(both[1]);
    return true;
  }
  draft.keep(w.call(isRoot ? "aten.std.correction" : "aten.var.correction", {arg(*x), listArg(dims.written)}, reduced,
                    w.dtype(*x), std::move(keywords)));
  return true;
}

bool addSoftmax(GraphDraft& draft) {
  constexpr std::array<std::string_view, 4> names{"softmax.int", "log_softmax.int", "_softmax.default",
                                                  "_log_softmax.default"};
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(*x);
  const std::string_view name = draft.random().pick(Names(names));
  Arguments arguments{arg(*x), arg(someDims(draft, shape, 1).written[0])};
  ScalarType result = w.dtype(*x);
  if (name.starts_with('_')) {
    arguments.push_back(arg(false));
  } else if (draft.random().chance(0.15)) {
    result = draft.random().chance(0.5) ? ScalarType::Float64 : ScalarType::Float32;
    arguments.push_back(arg(result));
  }
  draft.keep(w.call("aten." + std::string(name), std::move(arguments), shape, result));
  return true;
}

}  // namespace

bool addReduction(GraphDraft& draft) {
  switch (draft.random().below(9)) {
    case 0: return addOverAll(draft);
    case 1:
    case 2: return addOverDims(draft);
    case 3:
    case 4: return addOverOneDim(draft);
    case 5: return addNorm(draft);
    case 6: return addVariance(draft);
    default: return addSoftmax(draft);
  }
}

}  // namespace swage::fuzz
