// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/synth/lowering.h"
#include "core/synth/rewriting/rules.h"

// Attention that a model writes out, softmax(q k^T * scale + mask) v, as one operation, whose scores no kernel writes;
// and the other way round, where heads are too large for the registers of one.
namespace swage::synth {
namespace {

using domain::Argument;
using domain::Shape;
using domain::ValueId;

constexpr std::int64_t kLargestHead = 256;  // of the kernels for attention

std::int64_t sizeFromEnd(const Shape& shape, std::size_t dim) {
  return shape[shape.size() - dim];
}

bool isMatmul(const NodeView& node) {
  return node.node().op == "aten.matmul.default" || node.node().op == "aten.bmm.default";
}

std::optional<ValueId> secondOperand(const NodeView& node) {
  return node.tensor(1, node.has(1, "mat2") ? "mat2" : "other");
}

// The last two dimensions exchanged, as a view: what it is a view of, where it is one itself.
ValueId lastTwoTurned(GraphEdit& edit, ValueId value) {
  const auto node = edit.maker(value);
  const std::size_t rank = edit.shape(value).size();
  if (node && node->node().op == "aten.transpose.int") {
    const int first = wrapDim(node->integer(1, "dim0").value_or(0), rank);
    const int second = wrapDim(node->integer(2, "dim1").value_or(0), rank);
    const auto last = static_cast<int>(rank) - 1;
    if (std::min(first, second) == last - 1 && std::max(first, second) == last) {
      return *node->tensor(0, "self");
    }
  }
  domain::TensorType type = edit.type(value);
  std::swap(type.shape[rank - 2], type.shape[rank - 1]);
  std::swap(type.strides[rank - 2], type.strides[rank - 1]);
  return edit.viewed("aten.transpose.int", {argument(value), argument(std::int64_t{-2}), argument(std::int64_t{-1})},
                     std::move(type));
}

// --- as one operation ------------------------------------------------------------------------------------------------

class WrittenOut {
 public:
  explicit WrittenOut(GraphEdit& edit) : m_edit(edit) {}

  // Reads what leads to the anchor. False: it is no attention.
  bool find() {
    const NodeView anchor = m_edit.anchor();
    const auto weights = anchor.tensor(0, "self");
    const auto value = secondOperand(anchor);
    if (!isMatmul(anchor) || !weights || !value) {
      return false;
    }
    m_value = *value;
    const auto softmax = softmaxOf(*weights);
    const auto scores = softmax ? m_edit.maker(followMask(*softmax)) : std::nullopt;
    if (!scores || !isMatmul(*scores) || m_isOver) {
      return false;
    }
    m_query = *scores->tensor(0, "self");
    m_key = *secondOperand(*scores);
    return agree(anchor);
  }

  void replace() {
    const NodeView anchor = m_edit.anchor();
    const Shape& shape = m_edit.shape(anchor.result());
    const ValueId key = lastTwoTurned(m_edit, m_key);
    std::optional<ValueId> mask = m_mask;
    if (m_isMaskOfOthers) {
      mask = m_edit.call("aten.logical_not.default", {argument(*m_mask)}, m_edit.shape(*m_mask));
    }
    const ValueId result = m_edit.call(
        "aten.scaled_dot_product_attention.default",
        {argument(m_query), argument(key), argument(m_value), argument(mask), argument(0.0), argument(false)}, shape,
        {{"scale", argument(m_scale)}});
    m_edit.replace(anchor.result(), result);
  }

  [[nodiscard]] std::int64_t depth() const { return m_edit.shape(m_query).back(); }
  [[nodiscard]] std::int64_t columns() const { return m_edit.shape(m_value).back(); }

 private:
  // What a softmax along the last dimension is taken of; in between only what changes nothing.
  [[nodiscard]] std::optional<ValueId> softmaxOf(ValueId weights) const {
    const auto node = m_edit.isReadOnce(weights) ? m_edit.maker(weights) : std::nullopt;
    if (!node) {
      return std::nullopt;
    }
    const std::string& op = node->node().op;
    const auto input = node->tensor(0, op == "aten.dropout.default" ? "input" : "self");
    if (op == "aten.dropout.default" && input &&
        (node->number(1, "p").value_or(1.0) == 0.0 || !node->flag(2, "train").value_or(true))) {
      return softmaxOf(*input);
    }
    if ((op != "aten.softmax.int" && op != "aten._softmax.default") || !input) {
      return std::nullopt;
    }
    const std::size_t rank = m_edit.shape(weights).size();
    const bool isLast = wrapDim(node->integer(1, "dim").value_or(0), rank) + 1 == static_cast<int>(rank);
    return isLast && m_edit.type(*input).dtype == m_edit.type(weights).dtype ? input : std::nullopt;
  }

  // From what the softmax is taken of to the product: at most one mask, then factors.
  ValueId followMask(ValueId value) {
    const auto node = m_edit.isReadOnce(value) ? m_edit.maker(value) : std::nullopt;
    if (!node) {
      m_isOver = true;
      return value;
    }
    const std::string& op = node->node().op;
    const auto first = node->tensor(0, "self");
    const auto second = node->tensor(1, "other");
    if (op == "aten.masked_fill.Scalar" && first && followNothing(*node)) {
      m_mask = node->tensor(1, "mask");
      m_isMaskOfOthers = true;
      return followFactors(*first);
    }
    const bool isSum = op == "aten.add.Tensor" && first && second && node->number(2, "alpha").value_or(1.0) == 1.0;
    if (isSum && m_edit.shape(*first) == m_edit.shape(value)) {
      m_mask = second;
      return followFactors(*first);
    }
    return followFactors(value);
  }

  [[nodiscard]] bool followNothing(const NodeView& node) const {
    const double filled = node.number(2, "value").value_or(0.0);
    return std::isinf(filled) && filled < 0.0;
  }

  ValueId followFactors(ValueId value) {
    while (m_edit.isReadOnce(value)) {
      const auto node = m_edit.maker(value);
      const std::string op = node ? node->node().op : std::string();
      const bool isMul = op == "aten.mul.Tensor" || op == "aten.mul.Scalar";
      const bool isDiv = (op == "aten.div.Tensor" || op == "aten.div.Scalar") && !node->has(99, "rounding_mode");
      const auto factor = isMul || isDiv ? node->number(1, "other") : std::nullopt;
      const auto input = factor ? node->tensor(0, "self") : std::nullopt;
      if (!input || !(*factor > 0.0)) {
        return value;
      }
      m_scale = isMul ? m_scale * *factor : m_scale / *factor;
      value = *input;
    }
    m_isOver = true;  // somebody else needs the scores
    return value;
  }

  // Whether the operands are such that attention is one operation.
  [[nodiscard]] bool agree(const NodeView& anchor) const {
    const Shape& shape = m_edit.shape(anchor.result());
    const Shape& query = m_edit.shape(m_query);
    const Shape& key = m_edit.shape(m_key);
    const Shape& value = m_edit.shape(m_value);
    const std::size_t rank = shape.size();
    const domain::ScalarType type = m_edit.type(m_query).dtype;
    const bool areAlike = m_edit.type(m_key).dtype == type && m_edit.type(m_value).dtype == type;
    if (rank < 3 || query.size() != rank || key.size() != rank || value.size() != rank || !areAlike ||
        !domain::isFloating(type)) {
      return false;
    }
    for (std::size_t dim = 0; dim + 2 < rank; ++dim) {
      if (query[dim] != shape[dim] || key[dim] != shape[dim] || value[dim] != shape[dim]) {
        return false;
      }
    }
    if (m_mask) {
      const domain::TensorType& mask = m_edit.type(*m_mask);
      const bool isKind = m_isMaskOfOthers ? mask.dtype == domain::ScalarType::Bool : mask.dtype == type;
      if (!isKind || mask.shape.size() < 2 || mask.shape.size() > rank) {
        return false;
      }
    }
    return sizeFromEnd(key, 1) == sizeFromEnd(value, 2) && sizeFromEnd(key, 2) == sizeFromEnd(query, 1);
  }

  GraphEdit& m_edit;
  ValueId m_query;
  ValueId m_key;  // lastTwoTurned
  ValueId m_value;
  std::optional<ValueId> m_mask;
  bool m_isMaskOfOthers = false;  // of those that do not take part
  bool m_isOver = false;          // something in between is needed elsewhere
  double m_scale = 1.0;
};

bool inOnePass(GraphEdit& edit) {
  WrittenOut attention(edit);
  if (!attention.find()) {
    return false;
  }
  attention.replace();
  return true;
}

bool fitsOnePass(const GraphEdit& edit) {
  GraphEdit reading = edit;
  WrittenOut attention(reading);
  return attention.find() && std::max(attention.depth(), attention.columns()) <= kLargestHead;
}

// --- as products -----------------------------------------------------------------------------------------------------

// Of floats alone: halves would be rounded once more.
bool asProducts(GraphEdit& edit) {
  const NodeView node = edit.anchor();
  const auto query = node.tensor(0, "query");
  const auto key = node.tensor(1, "key");
  const auto value = node.tensor(2, "value");
  if (node.node().op != "aten.scaled_dot_product_attention.default" || !query || !key || !value ||
      node.number(4, "dropout_p").value_or(0.0) != 0.0 || node.flag(5, "is_causal").value_or(false) ||
      node.has(3, "attn_mask") || edit.type(*query).dtype != domain::ScalarType::Float32) {
    return false;
  }
  const Shape& shape = edit.shape(node.result());
  for (const ValueId operand : {*query, *key, *value}) {
    const Shape& own = edit.shape(operand);
    if (own.size() != shape.size() || own.size() < 3 || !std::equal(own.begin(), own.end() - 2, shape.begin())) {
      return false;
    }
  }
  Shape scores = shape;
  scores.back() = sizeFromEnd(edit.shape(*key), 2);
  const double scale =
      node.number(6, "scale").value_or(1.0 / std::sqrt(static_cast<double>(edit.shape(*query).back())));
  // Named axes, so that the key need not be lastTwoTurned.
  std::string batch(shape.size() - 2, 'a');
  std::iota(batch.begin(), batch.end(), 'a');
  const std::string equation = batch + "xz," + batch + "yz->" + batch + "xy";
  const ValueId products =
      edit.call("aten.einsum.default", {Argument{equation}, argument(std::vector<ValueId>{*query, *key})}, scores);
  const ValueId scaled = edit.call("aten.mul.Tensor", {argument(products), argument(scale)}, scores);
  const ValueId weights = edit.call("aten.softmax.int", {argument(scaled), argument(std::int64_t{-1})}, scores);
  edit.replace(node.result(), edit.call("aten.matmul.default", {argument(weights), argument(*value)}, shape));
  return true;
}

bool hasLargeHeads(const GraphEdit& edit) {
  const NodeView node = edit.anchor();
  const auto query = node.tensor(0, "query");
  const auto value = node.tensor(2, "value");
  return query && value && !edit.shape(*query).empty() && !edit.shape(*value).empty() &&
         std::max(edit.shape(*query).back(), edit.shape(*value).back()) > kLargestHead;
}

}  // namespace

void registerAttentionRules(std::vector<GraphRule>& rules) {
  rules.push_back({"attention in one pass", inOnePass, fitsOnePass});
  rules.push_back({"attention as products", asProducts, hasLargeHeads});
}

}  // namespace swage::synth
