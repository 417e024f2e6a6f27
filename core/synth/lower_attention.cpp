// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "core/synth/lowering.h"

// Attention: softmax(query key^T scale + mask) value, as one chain of a product, a maximum with a sum of exponentials,
// and a product. The scores in between are elements of the region and no tensor.
namespace swage::synth {
namespace {

using domain::ValueId;
using Term = RegionBuilder::Coordinate::Term;

constexpr double kNothing = std::numeric_limits<double>::infinity();

struct Attention {
  ValueId query;
  ValueId key;
  ValueId value;
  ValueId result;
  std::optional<ValueId> mask = {};  // of bool: what takes part; of floats: added to the scores
  double scale = 1.0;
  bool isCausal = false;
  std::int64_t keyHeads = 0;  // of grouped queries: neighbouring heads of the query share one of the key; 0: none
};

// Axes of the region that dimensions lie on.
struct AttentionPlaces {
  int rows = 0;
  int columns = 0;
  int keys = 0;
  int depth = 0;
};

std::int64_t fromEnd(const domain::Shape& shape, std::size_t dim) {
  return shape[shape.size() - dim];
}

// The coordinates of an operand whose last two dimensions lie on these axes. The dimensions before them are those of
// the result, or of size 1; of grouped queries the last of them is the outer part of the heads.
std::vector<RegionBuilder::Coordinate> matrixPlaces(const RegionBuilder& b, const domain::Shape& shape, int first,
                                                    int second) {
  std::vector<RegionBuilder::Coordinate> places(shape.size());
  const domain::Shape& space = b.layout().space;
  const std::size_t skip = space.size() - shape.size();
  for (std::size_t dim = 0; dim + 2 < shape.size(); ++dim) {
    const std::vector<int>& axes = b.fullFrame()[dim + skip];
    if (shape[dim] == 1) {
      continue;
    }
    const bool isGrouped = shape[dim] != space[dim + skip];
    if (axes.size() == 1 || isGrouped) {
      places[dim].terms.push_back(Term{axes.front(), 1});
    } else {
      places[dim].terms = {Term{axes.front(), space[dim + skip] / b.layout().splitOuter}, Term{axes.back(), 1}};
    }
  }
  const auto put = [&](std::size_t dim, int axis) {
    if (dim < shape.size() && shape[dim] != 1) {
      places[dim].terms.push_back(Term{axis, 1});
    }
  };
  put(shape.size() - 2, first);
  put(shape.size() - 1, second);
  return places;
}

// What the softmax is taken of.
std::optional<int> scoreOf(RegionBuilder& b, const Attention& attention, const AttentionPlaces& places) {
  const auto query =
      b.readAt(attention.query, matrixPlaces(b, b.type(attention.query).shape, places.rows, places.depth));
  const auto key = b.readAt(attention.key, matrixPlaces(b, b.type(attention.key).shape, places.keys, places.depth));
  if (!query || !key) {
    return std::nullopt;
  }
  int score = b.reduceDepth(FoldKind::Sum, b.call("mul", {*query, *key}));
  const Compute type = b.typeOf(score);
  if (attention.scale != 1.0) {
    score = b.call("mul", {score, b.constant(attention.scale, type)});
  }
  const int nothing = b.constant(-kNothing, type);
  if (attention.mask) {
    const auto mask =
        b.readAt(*attention.mask, matrixPlaces(b, b.type(*attention.mask).shape, places.rows, places.keys));
    if (!mask) {
      return std::nullopt;
    }
    score = b.typeOf(*mask) == Compute::Bool ? b.call("select", {*mask, score, nothing}, type)
                                             : b.call("add", {score, b.convert(*mask, type)});
  }
  if (attention.isCausal) {
    const int isPast = b.call("le", {b.coordinate(places.keys), b.coordinate(places.rows)}, Compute::Bool);
    score = b.call("select", {isPast, score, nothing}, type);
  }
  return score;
}

bool lowerChain(RegionBuilder& b, const Attention& attention) {
  const std::size_t rank = b.layout().space.size();
  const AttentionPlaces places{b.fullFrame()[rank - 2].front(), b.fullFrame()[rank - 1].front(), b.moreAxis(0),
                               b.moreAxis(1)};
  const auto score = scoreOf(b, attention, places);
  const auto value =
      b.readAt(attention.value, matrixPlaces(b, b.type(attention.value).shape, places.keys, places.columns));
  if (!score || !value) {
    return false;
  }
  const Compute type = b.typeOf(*score);
  const int largest = b.reduce(FoldKind::SoftmaxPair, *score);
  const int weights = b.secondResult(largest, type);
  const int weight = b.call("exp", {b.call("sub", {*score, largest})});
  const int total = b.reduce(FoldKind::Sum, b.call("mul", {weight, *value}));
  int result = b.call("mul", {total, b.call("reciprocal", {weights})});
  if (attention.mask) {
    // Where nothing takes part PyTorch has zeros.
    const int isEmpty = b.call("eq", {weights, b.constant(0.0, type)}, Compute::Bool);
    result = b.call("select", {isEmpty, b.constant(0.0, type), result}, type);
  }
  b.define(attention.result, result, b.fullFrame());
  return true;
}

// Whether the shapes are those of the result, broadcast; heads may be grouped.
bool shapesAgree(const NodeView& node, const Attention& attention) {
  const domain::Shape& query = node.type(attention.query).shape;
  const domain::Shape& key = node.type(attention.key).shape;
  const domain::Shape& value = node.type(attention.value).shape;
  const domain::Shape& result = node.type(attention.result).shape;
  const std::size_t rank = result.size();
  if (rank < 2 || query.size() != rank || key.size() != rank || value.size() != rank) {
    return false;
  }
  for (std::size_t dim = 0; dim + 2 < rank; ++dim) {
    const bool isHeads = attention.keyHeads > 0 && dim + 3 == rank;
    const std::int64_t others = isHeads ? attention.keyHeads : result[dim];
    for (const auto& [shape, size] :
         {std::pair(&query, result[dim]), std::pair(&key, others), std::pair(&value, others)}) {
      if ((*shape)[dim] != size && (*shape)[dim] != 1) {
        return false;
      }
    }
  }
  if (attention.mask) {
    const domain::Shape& mask = node.type(*attention.mask).shape;
    for (std::size_t dim = 1; dim <= mask.size(); ++dim) {
      const std::int64_t size = dim > rank ? 0 : dim == 1 ? fromEnd(key, 2) : fromEnd(result, dim);
      if (fromEnd(mask, dim) != 1 && fromEnd(mask, dim) != size) {
        return false;
      }
    }
    if (mask.size() < 2) {
      return false;
    }
  }
  return fromEnd(query, 2) == fromEnd(result, 2) && fromEnd(value, 1) == fromEnd(result, 1) &&
         fromEnd(key, 2) == fromEnd(value, 2) && fromEnd(key, 1) == fromEnd(query, 1);
}

std::optional<Attention> attentionOf(const NodeView& node) {
  const auto query = node.tensor(0, "query");
  const auto key = node.tensor(1, "key");
  const auto value = node.tensor(2, "value");
  if (!query || !key || !value || node.number(4, "dropout_p").value_or(0.0) != 0.0) {
    return std::nullopt;
  }
  Attention attention{*query, *key, *value, node.result(), node.tensor(3, "attn_mask")};
  attention.isCausal = node.flag(5, "is_causal").value_or(false);
  const domain::Shape& shape = node.type(*query).shape;
  const bool isGrouped = node.flag(7, "enable_gqa").value_or(false);
  if (shape.size() < 2 || (isGrouped && (shape.size() < 3 || node.type(*key).shape.size() != shape.size()))) {
    return std::nullopt;
  }
  attention.scale = node.number(6, "scale").value_or(1.0 / std::sqrt(static_cast<double>(shape.back())));
  if (isGrouped && fromEnd(node.type(*key).shape, 3) != fromEnd(shape, 3)) {
    attention.keyHeads = fromEnd(node.type(*key).shape, 3);
  }
  const bool isFloating = domain::isFloating(node.type(*query).dtype) && domain::isFloating(node.type(*value).dtype) &&
                          node.type(*key).dtype == node.type(*query).dtype;
  const bool isEven = attention.keyHeads == 0 || fromEnd(shape, 3) % attention.keyHeads == 0;
  const bool hasBoth = attention.mask && attention.isCausal;
  return isFloating && isEven && !hasBoth && shapesAgree(node, attention) ? std::optional(attention) : std::nullopt;
}

void lowerAttention(const NodeView& node, OperationSink& sink) {
  const auto attention = attentionOf(node);
  if (!attention) {
    return;
  }
  const domain::Shape& result = node.type(attention->result).shape;
  const std::int64_t keys = fromEnd(node.type(attention->key).shape, 2);
  const std::int64_t depth = fromEnd(node.type(attention->query).shape, 1);
  if (keys < 2 || depth < 2) {
    return;  // no product, or no choice between keys
  }
  Operation operation;
  operation.inputs = {attention->query, attention->key, attention->value};
  if (attention->mask) {
    operation.inputs.push_back(*attention->mask);
  }
  operation.outputs = {attention->result};
  operation.layout.space = result;
  operation.layout.roles.assign(result.size(), AxisRole::Batch);
  operation.layout.roles[result.size() - 2] = AxisRole::M;
  operation.layout.roles[result.size() - 1] = AxisRole::N;
  operation.layout.more = {{keys, AxisRole::K}, {depth, AxisRole::Depth}};
  if (attention->keyHeads > 0) {
    operation.layout.splitDim = static_cast<int>(result.size()) - 3;
    operation.layout.splitOuter = attention->keyHeads;
  }
  operation.lower = [attention = *attention](RegionBuilder& b) { return lowerChain(b, attention); };
  sink.add(std::move(operation));
}

}  // namespace

void registerAttention(LoweringTable& table) {
  table["aten.scaled_dot_product_attention.default"] = lowerAttention;
}

}  // namespace swage::synth
