// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "core/synth/lowering.h"
#include "core/synth/rewriting/rules.h"

// Sums and means of a matrix product: a product is linear in each operand, so they may be taken of the operand first.
//   sum_n (x W^T + b)_n = x (sum_n W_n) + sum_n b_n
namespace swage::synth {
namespace {

using domain::Shape;
using domain::ValueId;

// A sum or a mean over some dimensions.
struct Reduction {
  bool isMean = false;
  std::vector<std::size_t> dims;
  bool keepsDims = false;
};

std::optional<Reduction> reductionOf(const NodeView& node) {
  const std::string& op = node.node().op;
  const bool isAll = op == "aten.sum.default" || op == "aten.mean.default";
  const auto input = node.tensor(0, "self");
  if (!input || node.has(99, "dtype") || (!isAll && op != "aten.sum.dim_IntList" && op != "aten.mean.dim") ||
      !domain::isFloating(node.type(*input).dtype)) {
    return std::nullopt;
  }
  Reduction reduction{op.starts_with("aten.mean"), {}, !isAll && node.flag(2, "keepdim").value_or(false)};
  const std::size_t rank = node.type(*input).shape.size();
  const auto named = isAll ? std::nullopt : node.integers(1, "dim");
  if (named && !named->empty()) {
    for (const std::int64_t dim : *named) {
      const int wrapped = wrapDim(dim, rank);
      if (wrapped < 0) {
        return std::nullopt;
      }
      reduction.dims.push_back(static_cast<std::size_t>(wrapped));
    }
    std::sort(reduction.dims.begin(), reduction.dims.end());
  } else {
    reduction.dims.resize(rank);
    std::iota(reduction.dims.begin(), reduction.dims.end(), std::size_t{0});
  }
  return reduction;
}

bool contains(const std::vector<std::size_t>& dims, std::size_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

// What is added to a product, or scales it, on the way to the reduction.
struct Link {
  NodeView node;
  ValueId through;  // the operand that leads to the product
  ValueId result;
};

bool isLinear(const NodeView& node) {
  const std::string& op = node.node().op;
  return op == "aten.linear.default" || op == "aten.mm.default" || op == "aten.matmul.default" ||
         op == "aten.bmm.default" || op == "aten.addmm.default";
}

bool hasFactor(const NodeView& node) {
  const double alpha = node.number(2, "alpha").value_or(1.0);
  return alpha != 1.0;
}

bool isSum(const std::string& op) {
  return op == "aten.add.Tensor" || op == "aten.sub.Tensor" || op == "aten.add.Scalar" || op == "aten.sub.Scalar";
}

bool isScale(const std::string& op) {
  return op == "aten.mul.Tensor" || op == "aten.div.Tensor" || op == "aten.mul.Scalar" || op == "aten.div.Scalar";
}

class ReducedProduct {
 public:
  explicit ReducedProduct(GraphEdit& edit) : m_edit(edit) {}

  bool apply() {
    const NodeView anchor = m_edit.anchor();
    const auto reduction = reductionOf(anchor);
    const auto input = anchor.tensor(0, "self");
    if (!reduction || reduction->dims.empty()) {
      return false;
    }
    m_reduction = *reduction;
    m_shape = m_edit.shape(*input);
    const auto product = follow(*input);
    if (!product) {
      return false;
    }
    const auto reduced = multiply(*product);
    if (!reduced) {
      return false;
    }
    ValueId value = *reduced;
    for (auto link = m_links.rbegin(); link != m_links.rend(); ++link) {
      value = repeat(*link, value);
    }
    m_edit.replace(anchor.result(), value);
    return true;
  }

 private:
  // Down the links to the product. Each must be needed for this reduction alone, or nothing is saved.
  std::optional<NodeView> follow(ValueId value) {
    while (m_edit.isReadOnce(value) && m_edit.shape(value) == m_shape) {
      const auto node = m_edit.maker(value);
      if (!node) {
        return std::nullopt;
      }
      if (isLinear(*node)) {
        return node;
      }
      const auto through = throughOf(*node);
      if (!through) {
        return std::nullopt;
      }
      m_links.push_back({*node, *through, value});
      value = *through;
    }
    return std::nullopt;
  }

  std::optional<ValueId> throughOf(const NodeView& node) const {
    const std::string& op = node.node().op;
    const auto first = node.tensor(0, "self");
    const auto second = node.tensor(1, "other");
    if (isScale(op)) {
      const bool isScalar = second ? elementsOf(m_edit.shape(*second)) == 1 : node.number(1, "other").has_value();
      return first && isScalar && !node.has(99, "rounding_mode") ? first : std::nullopt;
    }
    if (!isSum(op) || hasFactor(node) || !first || (!second && !node.number(1, "other"))) {
      return std::nullopt;
    }
    for (const auto& operand : {first, second}) {
      if (operand && m_edit.shape(*operand) == m_shape && leadsToProduct(*operand)) {
        return operand;
      }
    }
    return std::nullopt;
  }

  bool leadsToProduct(ValueId value) const {
    const auto node = m_edit.maker(value);
    if (!node || isLinear(*node)) {
      return node.has_value();
    }
    const auto first = node->tensor(0, "self");
    return (isSum(node->node().op) || isScale(node->node().op)) && first && leadsToProduct(*first);
  }

  // The number of elements of the result that share one of a value without these dimensions.
  [[nodiscard]] std::int64_t extentOf(std::size_t dim) const { return m_shape[dim]; }

  ValueId reduceDims(ValueId value, const std::vector<std::int64_t>& dims) {
    if (dims.empty()) {
      return value;
    }
    Shape shape = m_edit.shape(value);
    for (const std::int64_t dim : dims) {
      shape[static_cast<std::size_t>(dim)] = 1;
    }
    return m_edit.call(m_reduction.isMean ? "aten.mean.dim" : "aten.sum.dim_IntList",
                       {argument(value), argument(dims), argument(true)}, shape);
  }

  // The reduction of a tensor that is broadcast against the product.
  ValueId reduceBroadcast(ValueId value) {
    const Shape& shape = m_edit.shape(value);
    const std::size_t skip = m_shape.size() - shape.size();
    std::vector<std::int64_t> dims;
    std::int64_t repeats = 1;
    for (const std::size_t dim : m_reduction.dims) {
      if (dim >= skip && shape[dim - skip] != 1) {
        dims.push_back(static_cast<std::int64_t>(dim - skip));
      } else {
        repeats *= extentOf(dim);
      }
    }
    const ValueId reduced = reduceDims(value, dims);
    return m_reduction.isMean || repeats == 1
               ? reduced
               : m_edit.call("aten.mul.Tensor", {argument(reduced), argument(static_cast<double>(repeats))},
                             m_edit.shape(reduced));
  }

  [[nodiscard]] Shape reducedShape() const {
    Shape shape = m_shape;
    for (const std::size_t dim : m_reduction.dims) {
      shape[dim] = 1;
    }
    return shape;
  }

  std::optional<ValueId> multiply(const NodeView& product) {
    const std::string& op = product.node().op;
    if (op == "aten.linear.default") {
      return multiplyLinear(product);
    }
    if (op == "aten.addmm.default") {
      if (product.number(3, "beta").value_or(1.0) != 1.0 || product.number(4, "alpha").value_or(1.0) != 1.0) {
        return std::nullopt;
      }
      const auto bias = product.tensor(0, "self");
      const auto value = multiplyMatrices("aten.mm.default", product.tensor(1, "mat1"), product.tensor(2, "mat2"));
      if (!bias || !value) {
        return std::nullopt;
      }
      return m_edit.call("aten.add.Tensor", {argument(*value), argument(reduceBroadcast(*bias))}, reducedShape());
    }
    return multiplyMatrices(op, product.tensor(0, "self"),
                            product.tensor(1, product.has(1, "mat2") ? "mat2" : "other"));
  }

  std::optional<ValueId> multiplyLinear(const NodeView& product) {
    const auto x = product.tensor(0, "input");
    const auto weight = product.tensor(1, "weight");
    const auto bias = product.tensor(2, "bias");
    if (!x || !weight || m_edit.shape(*weight).size() != 2 || m_edit.shape(*x).size() != m_shape.size()) {
      return std::nullopt;
    }
    std::vector<std::int64_t> rows;
    for (const std::size_t dim : m_reduction.dims) {
      if (dim + 1 != m_shape.size()) {
        rows.push_back(static_cast<std::int64_t>(dim));
      }
    }
    const bool isAcross = contains(m_reduction.dims, m_shape.size() - 1);
    const ValueId left = reduceDims(*x, rows);
    const ValueId right = reduceDims(*weight, isAcross ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>());
    const std::optional<ValueId> added = bias ? std::optional(reduceBroadcast(*bias)) : std::nullopt;
    return m_edit.call("aten.linear.default", {argument(left), argument(right), argument(added)}, reducedShape());
  }

  std::optional<ValueId> multiplyMatrices(const std::string& op, std::optional<ValueId> a, std::optional<ValueId> b) {
    if (!a || !b || m_edit.shape(*a).size() < 2 || m_edit.shape(*b).size() < 2) {
      return std::nullopt;
    }
    const std::size_t rank = m_shape.size();
    const std::size_t rankA = m_edit.shape(*a).size();
    const std::size_t rankB = m_edit.shape(*b).size();
    std::vector<std::int64_t> left;
    std::vector<std::int64_t> right;
    for (const std::size_t dim : m_reduction.dims) {
      if (dim + 1 == rank) {
        right.push_back(static_cast<std::int64_t>(rankB - 1));
      } else if (dim + 2 == rank) {
        left.push_back(static_cast<std::int64_t>(rankA - 2));
      } else if (rankB == 2) {
        left.push_back(static_cast<std::int64_t>(dim));
      } else {
        return std::nullopt;  // numbers independent products
      }
    }
    const ValueId x = reduceDims(*a, left);
    const ValueId y = reduceDims(*b, right);
    return m_edit.call(op, {argument(x), argument(y)}, reducedShape());
  }

  // The same link behind the reduced product.
  ValueId repeat(const Link& link, ValueId value) {
    const std::string& op = link.node.node().op;
    const auto first = link.node.tensor(0, "self");
    const auto second = link.node.tensor(1, "other");
    if (isScale(op)) {
      return m_edit.call(op, {argument(value), second ? argument(*second) : argument(*link.node.number(1, "other"))},
                         reducedShape());
    }
    if (!second) {
      const double repeats = m_reduction.isMean ? 1.0 : static_cast<double>(count());
      return m_edit.call(op, {argument(value), argument(*link.node.number(1, "other") * repeats)}, reducedShape());
    }
    const bool isFirst = link.through == *first;
    const ValueId other = reduceBroadcast(isFirst ? *second : *first);
    return m_edit.call(
        op, isFirst ? std::vector{argument(value), argument(other)} : std::vector{argument(other), argument(value)},
        reducedShape());
  }

  [[nodiscard]] std::int64_t count() const {
    std::int64_t elements = 1;
    for (const std::size_t dim : m_reduction.dims) {
      elements *= extentOf(dim);
    }
    return elements;
  }

  GraphEdit& m_edit;
  Reduction m_reduction;
  Shape m_shape;              // of the product and of all links
  std::vector<Link> m_links;  // from the reduction to the product
};

}  // namespace

void registerReductionRules(std::vector<GraphRule>& rules) {
  rules.push_back({"reduce before product", [](GraphEdit& edit) { return ReducedProduct(edit).apply(); }});
}

}  // namespace swage::synth
