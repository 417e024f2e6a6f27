// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/synth/lowering.h"
#include "core/synth/rewriting/rules.h"

// Running results: what stands in front of them without being read.
namespace swage::synth {
namespace {

using domain::Shape;
using domain::ValueId;

bool isZeros(const std::optional<NodeView>& node) {
  return node && (node->node().op == "aten.zeros_like.default" || node->node().op == "aten.zeros.default" ||
                  node->node().op == "aten.new_zeros.default");
}

// Zeros that are joined in front of a tensor, of which a part along another dimension may be cut out.
struct Led {
  std::optional<NodeView> cut;
  NodeView joined;
  ValueId rest;
  std::size_t dim = 0;
  std::int64_t zeros = 0;
};

std::optional<Led> ledBy(const GraphEdit& edit, std::optional<ValueId> value) {
  const std::optional<NodeView> last = edit.maker(value);
  const bool isCut = last && last->node().op == "aten.slice.Tensor";
  const std::optional<NodeView> cut = isCut ? last : std::nullopt;
  const std::optional<NodeView> from = isCut ? edit.maker(last->tensor(0, "self")) : std::optional(last);
  const bool isJoined = from && from->node().op == "aten.cat.default" && edit.isReadOnce(from->result());
  const std::vector<ValueId> parts = isJoined ? domain::inputsOf(from->node()) : std::vector<ValueId>();
  if (parts.size() != 2 || !isZeros(edit.maker(parts[0])) ||
      edit.type(parts[1]).dtype != edit.type(from->result()).dtype) {
    return std::nullopt;
  }
  const std::size_t rank = edit.shape(parts[1]).size();
  const int dim = wrapDim(from->integer(1, "dim").value_or(0), rank);
  const int cutDim = cut ? wrapDim(cut->integer(1, "dim").value_or(0), rank) : -1;
  const bool isCutElsewhere = !cut || (cutDim >= 0 && cutDim != dim && cut->integer(4, "step").value_or(1) == 1 &&
                                       edit.isReadOnce(cut->result()));
  if (dim < 0 || edit.shape(parts[0]).size() != rank || !isCutElsewhere) {
    return std::nullopt;
  }
  const auto along = static_cast<std::size_t>(dim);
  return Led{cut, *from, parts[1], along, edit.shape(parts[0])[along]};
}

// Nothing is copied to stand behind zeros: the scan reads across the edge of the tensor.
bool zerosInFront(GraphEdit& edit) {
  const NodeView scan = edit.anchor();
  const auto dim = scan.integer(1, "dim");
  const auto led = scan.node().op == "aten.cumsum.default" && dim ? ledBy(edit, scan.tensor(0, "self")) : std::nullopt;
  if (!led) {
    return false;
  }
  ValueId rest = led->rest;
  Shape shape = edit.shape(rest);
  if (led->cut) {
    const auto along =
        static_cast<std::size_t>(wrapDim(led->cut->integer(1, "dim").value_or(0), edit.shape(rest).size()));
    const std::int64_t first = led->cut->integer(2, "start").value_or(0);
    const std::int64_t start = std::clamp<std::int64_t>(first < 0 ? first + shape[along] : first, 0, shape[along]);
    domain::TensorType type = edit.type(rest);
    shape[along] = type.shape[along] = edit.shape(led->cut->result())[along];
    rest = edit.viewed(
        "aten.slice.Tensor",
        {argument(rest), argument(static_cast<std::int64_t>(along)), argument(start), argument(start + shape[along])},
        std::move(type));
  }
  std::vector<std::int64_t> padding(2 * (shape.size() - led->dim), 0);
  padding[2 * (shape.size() - 1 - led->dim)] = led->zeros;
  shape[led->dim] += led->zeros;
  const ValueId padded =
      edit.call("aten.constant_pad_nd.default", {argument(rest), argument(padding), argument(0.0)}, shape);
  edit.replace(scan.result(), edit.call(scan.node().op, {argument(padded), argument(*dim)}, shape));
  return true;
}

}  // namespace

void registerScanRules(std::vector<GraphRule>& rules) {
  rules.push_back({"zeros in front", zerosInFront});
}

}  // namespace swage::synth
