// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/synth/lowering.h"
#include "core/synth/operations.h"
#include "core/synth/rewriting/rules.h"

// What the structure of a graph says: axes of one element, matrices of which a part is zero, products in a row.
namespace swage::synth {
namespace {

using domain::Argument;
using domain::Shape;
using domain::ValueId;
using Numbers = std::vector<std::int64_t>;

// --- axes of one element -----------------------------------------------------------------------------------------

bool areOfOne(const Shape& shape, const std::optional<Numbers>& dims) {
  if (!dims || dims->empty()) {
    return false;
  }
  return std::all_of(dims->begin(), dims->end(), [&](std::int64_t dim) {
    const int wrapped = wrapDim(dim, shape.size());
    return wrapped >= 0 && shape[static_cast<std::size_t>(wrapped)] == 1;
  });
}

// A softmax along it is one, and its logarithm zero; x - x keeps what is not finite.
bool axisOfOne(GraphEdit& edit) {
  const NodeView node = edit.anchor();
  const std::string& op = node.node().op;
  const auto x = node.tensor(0, "self");
  if (!x || !areOfOne(node.type(*x).shape, node.integers(1, "dim")) ||
      node.type(*x).dtype != node.type(node.result()).dtype) {
    return false;
  }
  const bool isSoftmax = op == "aten.softmax.int" || op == "aten._softmax.default";
  const bool isLogSoftmax = op == "aten.log_softmax.int" || op == "aten._log_softmax.default";
  if (isSoftmax || isLogSoftmax) {
    const Shape& shape = edit.shape(*x);
    const ValueId zero = edit.call("aten.sub.Tensor", {argument(*x), argument(*x)}, shape);
    edit.replace(node.result(),
                 isSoftmax ? edit.call("aten.add.Tensor", {argument(zero), argument(1.0)}, shape) : zero);
    return true;
  }
  const bool isExtremum = (op == "aten.max.dim" || op == "aten.min.dim") && !node.result(1).isValid();
  if (!isExtremum && op != "aten.logsumexp.default" && op != "aten.amax.default" && op != "aten.amin.default") {
    return false;
  }
  edit.replace(node.result(), *x);
  return true;
}

// --- transposes --------------------------------------------------------------------------------------------------

// The order of dimensions that a transpose or a permutation leads to.
std::optional<Numbers> orderOf(const NodeView& node) {
  const std::string& op = node.node().op;
  const auto x = node.tensor(0, "self");
  if (!x) {
    return std::nullopt;
  }
  const std::size_t rank = node.type(*x).shape.size();
  Numbers order(rank);
  for (std::size_t dim = 0; dim < rank; ++dim) {
    order[dim] = static_cast<std::int64_t>(dim);
  }
  if (op == "aten.t.default" && rank == 2) {
    std::swap(order[0], order[1]);
    return order;
  }
  if (op == "aten.permute.default") {
    const auto dims = node.integers(1, "dims");
    if (!dims || dims->size() != rank) {
      return std::nullopt;
    }
    std::transform(dims->begin(), dims->end(), order.begin(), [rank](std::int64_t dim) { return wrapDim(dim, rank); });
    return order;
  }
  const auto first = node.integer(1, "dim0");
  const auto second = node.integer(2, "dim1");
  if (op != "aten.transpose.int" || !first || !second || wrapDim(*first, rank) < 0 || wrapDim(*second, rank) < 0) {
    return std::nullopt;
  }
  std::swap(order[static_cast<std::size_t>(wrapDim(*first, rank))],
            order[static_cast<std::size_t>(wrapDim(*second, rank))]);
  return order;
}

bool doubleTranspose(GraphEdit& edit) {
  const NodeView node = edit.anchor();
  const auto outer = orderOf(node);
  const auto from = outer ? edit.maker(node.tensor(0, "self")) : std::nullopt;
  const auto inner = from ? orderOf(*from) : std::nullopt;
  if (!inner || inner->size() != outer->size()) {
    return false;
  }
  for (std::size_t dim = 0; dim < outer->size(); ++dim) {
    if ((*inner)[static_cast<std::size_t>((*outer)[dim])] != static_cast<std::int64_t>(dim)) {
      return false;
    }
  }
  edit.replace(node.result(), *from->tensor(0, "self"));
  return true;
}

// --- products ----------------------------------------------------------------------------------------------------

// (x V^T + a) W^T + b = x (W V)^T + W a + b
struct TwoLinear {
  NodeView first;
  ValueId x;
  ValueId v;
  ValueId w;
};

std::optional<TwoLinear> twoLinear(const GraphEdit& edit) {
  const NodeView second = edit.anchor();
  const auto middle = second.node().op == "aten.linear.default" ? second.tensor(0, "input") : std::nullopt;
  const auto first = middle && edit.isReadOnce(*middle) ? edit.maker(middle) : std::nullopt;
  if (!first || first->node().op != "aten.linear.default") {
    return std::nullopt;
  }
  const auto x = first->tensor(0, "input");
  const auto v = first->tensor(1, "weight");
  const auto w = second.tensor(1, "weight");
  if (!x || !v || !w || edit.shape(*v).size() != 2 || edit.shape(*w).size() != 2) {
    return std::nullopt;
  }
  return TwoLinear{*first, *x, *v, *w};
}

// Whether the product of the weights, which every call makes anew, is small beside what it saves.
bool paysToJoin(const GraphEdit& edit) {
  const auto two = twoLinear(edit);
  if (!two) {
    return false;
  }
  const auto inputs = static_cast<double>(edit.shape(two->v)[1]);
  const auto hidden = static_cast<double>(edit.shape(two->v)[0]);
  const auto outputs = static_cast<double>(edit.shape(two->w)[0]);
  const double rows = static_cast<double>(elementsOf(edit.shape(edit.anchor().result()))) / outputs;
  return rows * inputs * outputs + inputs * hidden * outputs < rows * hidden * (inputs + outputs);
}

bool joinLinear(GraphEdit& edit) {
  const NodeView second = edit.anchor();
  const auto two = twoLinear(edit);
  if (!two) {
    return false;
  }
  const auto& [first, x, v, w] = *two;
  const ValueId joined = edit.call("aten.mm.default", {argument(w), argument(v)}, {edit.shape(w)[0], edit.shape(v)[1]});
  std::optional<ValueId> bias = second.tensor(2, "bias");
  if (const auto before = first.tensor(2, "bias")) {
    bias = edit.call("aten.linear.default", {argument(*before), argument(w), argument(bias)}, {edit.shape(w)[0]});
  }
  edit.replace(second.result(), edit.call("aten.linear.default", {argument(x), argument(joined), argument(bias)},
                                          edit.shape(second.result())));
  return true;
}

bool isMatrixProduct(const std::string& op) {
  return op == "aten.mm.default" || op == "aten.matmul.default";
}

// diag(a) B: row i of B times a_i; B diag(a): column i.
bool diagonalProduct(GraphEdit& edit) {
  const NodeView product = edit.anchor();
  const auto a = product.tensor(0, "self");
  const auto b = product.tensor(1, product.has(1, "mat2") ? "mat2" : "other");
  if (!isMatrixProduct(product.node().op) || !a || !b) {
    return false;
  }
  for (const bool isLeft : {true, false}) {
    const auto diagonal = edit.maker(isLeft ? *a : *b);
    const auto vector = diagonal && diagonal->node().op == "aten.diag.default" && !diagonal->has(1, "diagonal")
                            ? diagonal->tensor(0, "self")
                            : std::nullopt;
    const ValueId matrix = isLeft ? *b : *a;
    if (!vector || edit.shape(*vector).size() != 1 || edit.shape(matrix).size() != 2) {
      continue;
    }
    const std::int64_t size = edit.shape(*vector)[0];
    const ValueId scale = edit.reshaped(*vector, isLeft ? Shape{size, 1} : Shape{size});
    edit.replace(product.result(),
                 edit.call("aten.mul.Tensor", {argument(matrix), argument(scale)}, edit.shape(matrix)));
    return true;
  }
  return false;
}

// --- triangles ---------------------------------------------------------------------------------------------------

constexpr std::int64_t kBlocks = 8;

// tril(A B) in strips of rows, of which each is multiplied as far as it is kept; triu likewise from the other side.
bool skipTriangle(GraphEdit& edit) {
  const NodeView triangle = edit.anchor();
  const bool isLower = triangle.node().op == "aten.tril.default";
  const auto whole = isLower || triangle.node().op == "aten.triu.default" ? triangle.tensor(0, "self") : std::nullopt;
  const auto product = whole && edit.isReadOnce(*whole) ? edit.maker(whole) : std::nullopt;
  if (!product || !isMatrixProduct(product->node().op) || triangle.integer(1, "diagonal").value_or(0) != 0) {
    return false;
  }
  const auto a = product->tensor(0, "self");
  const auto b = product->tensor(1, product->has(1, "mat2") ? "mat2" : "other");
  if (!a || !b || edit.shape(*a).size() != 2 || edit.shape(*b).size() != 2) {
    return false;
  }
  const std::int64_t rows = edit.shape(*a)[0];
  const std::int64_t columns = edit.shape(*b)[1];
  if (rows != columns || rows < kBlocks) {
    return false;
  }
  const auto slice = [&](ValueId from, std::size_t dim, std::int64_t first, std::int64_t end) {
    domain::TensorType type = edit.type(from);
    type.shape[dim] = end - first;
    return edit.viewed("aten.slice.Tensor",
                       {argument(from), argument(static_cast<std::int64_t>(dim)), argument(first), argument(end)},
                       type);
  };
  std::vector<ValueId> strips;
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    const std::int64_t first = block * rows / kBlocks;
    const std::int64_t end = (block + 1) * rows / kBlocks;
    const std::int64_t from = isLower ? 0 : first;
    const std::int64_t to = isLower ? end : columns;
    const ValueId part =
        edit.call("aten.mm.default", {argument(slice(*a, 0, first, end)), argument(slice(*b, 1, from, to))},
                  {end - first, to - from});
    strips.push_back(edit.call("aten.constant_pad_nd.default",
                               {argument(part), argument(Numbers{from, columns - to}), argument(0.0)},
                               {end - first, columns}));
  }
  const ValueId together =
      edit.call("aten.cat.default", {argument(strips), argument(std::int64_t{0})}, {rows, columns});
  edit.replace(triangle.result(), edit.call(triangle.node().op, {argument(together)}, {rows, columns}));
  return true;
}

// --- concatenations ----------------------------------------------------------------------------------------------

// Parts that nobody else reads can be written where the concatenation has them. Views make nothing that could be
// written elsewhere, and neither do concatenations whose own parts lie in them.
bool concatenateInPlace(GraphEdit& edit) {
  const NodeView node = edit.anchor();
  const std::vector<ValueId> parts = domain::inputsOf(node.node());
  if (node.node().op != "aten.cat.default" || parts.size() < 2) {
    return false;
  }
  const domain::TensorType& whole = edit.type(node.result());
  const int dim = wrapDim(node.integer(1, "dim").value_or(0), whole.shape.size());
  if (dim < 0 || whole.strides != domain::contiguousTensor(whole.dtype, whole.shape).strides) {
    return false;
  }
  const auto canBePart = [&](ValueId part) {
    const auto maker = edit.maker(part);
    return maker && isLowered(maker->node().op) && maker->node().op != kInPlaceConcatenation &&
           maker->node().op != "aten.cat.default" && edit.isReadOnce(part) && edit.type(part).dtype == whole.dtype &&
           edit.shape(part).size() == whole.shape.size() && std::count(parts.begin(), parts.end(), part) == 1;
  };
  if (!std::all_of(parts.begin(), parts.end(), canBePart)) {
    return false;
  }
  for (const ValueId part : parts) {
    edit.layOut(part, whole.strides);
  }
  edit.replace(node.result(), edit.call(std::string(kInPlaceConcatenation),
                                        {argument(parts), argument(static_cast<std::int64_t>(dim))}, whole.shape));
  return true;
}

}  // namespace

void registerStructureRules(std::vector<GraphRule>& rules) {
  rules.push_back({"join linear layers", joinLinear, paysToJoin});
  rules.push_back({"diagonal product", diagonalProduct});
  rules.push_back({"skip triangle", skipTriangle});
  rules.push_back({"axis of one", axisOfOne});
  rules.push_back({"double transpose", doubleTranspose});
  rules.push_back({"concatenate in place", concatenateInPlace});
}

}  // namespace swage::synth
