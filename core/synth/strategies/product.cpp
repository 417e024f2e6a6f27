// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/product.h"

#include <algorithm>

namespace swage::synth {
namespace {

// The operands that a prim is computed from. False: also from something else than tensors.
bool collectOperands(const Region& region, int prim, std::vector<int>& operands) {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  switch (self.kind) {
    case Prim::Kind::Constant: return true;
    case Prim::Kind::Load: operands.push_back(self.operand); return true;
    case Prim::Kind::Call:
      return std::all_of(self.args.begin(), self.args.end(),
                         [&](int arg) { return collectOperands(region, arg, operands); });
    default: return false;
  }
}

bool walksAlongAny(const Region& region, const std::vector<int>& operands, const std::vector<std::size_t>& axes) {
  return std::any_of(operands.begin(), operands.end(), [&](int operand) {
    return std::any_of(axes.begin(), axes.end(), [&](std::size_t axis) {
      return region.operands[static_cast<std::size_t>(operand)].walksAlong(axis);
    });
  });
}

}  // namespace

bool walksAlongAny(const Region& region, int prim, const std::vector<std::size_t>& axes) {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  if (self.kind == Prim::Kind::Load) {
    const Operand& operand = region.operands[static_cast<std::size_t>(self.operand)];
    return std::any_of(axes.begin(), axes.end(), [&](std::size_t axis) { return operand.walksAlong(axis); });
  }
  return std::any_of(self.args.begin(), self.args.end(), [&](int arg) { return walksAlongAny(region, arg, axes); });
}

bool isShort(const Region& region, int prim) {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  if (self.kind == Prim::Kind::Load) {
    const domain::ScalarType type = region.operands[static_cast<std::size_t>(self.operand)].dtype;
    return type == domain::ScalarType::Float16 || type == domain::ScalarType::BFloat16;
  }
  return std::all_of(self.args.begin(), self.args.end(), [&](int arg) { return isShort(region, arg); });
}

std::optional<ProductShape> productShape(const Region& region) {
  if (region.kind() != NestKind::Contract || region.folds.size() != 1 || !region.elementStores.empty() ||
      region.folds.front().kind != FoldKind::Sum) {
    return std::nullopt;
  }
  const Prim& input = region.prims[static_cast<std::size_t>(region.folds.front().input)];
  if (input.kind != Prim::Kind::Call || input.function != "mul") {
    return std::nullopt;
  }
  ProductShape shape;
  shape.batch = axesOf(region, AxisRole::Batch);
  shape.rows = axesOf(region, AxisRole::M);
  shape.columns = axesOf(region, AxisRole::N);
  shape.depth = foldedAxes(region);
  for (const int side : input.args) {
    std::vector<int> operands;
    if (!collectOperands(region, side, operands)) {
      return std::nullopt;
    }
    const bool hasRows = walksAlongAny(region, operands, shape.rows);
    const bool hasColumns = walksAlongAny(region, operands, shape.columns);
    if (hasRows == hasColumns) {
      return std::nullopt;
    }
    (hasRows ? shape.left : shape.right) = side;
  }
  if (shape.left < 0 || shape.right < 0) {
    return std::nullopt;
  }
  shape.batchCount = positions(region, shape.batch);
  shape.rowCount = positions(region, shape.rows);
  shape.columnCount = positions(region, shape.columns);
  shape.depthCount = positions(region, shape.depth);
  return shape;
}

bool isContiguousAlong(const Region& region, int prim, const std::vector<std::size_t>& axes) {
  std::vector<int> operands;
  collectOperands(region, prim, operands);
  return !axes.empty() && std::all_of(operands.begin(), operands.end(), [&](int index) {
    const Operand& operand = region.operands[static_cast<std::size_t>(index)];
    if (operand.strides[axes.back()] == 1) {
      return true;
    }
    return std::any_of(operand.bounds.begin(), operand.bounds.end(), [&](const Bound& bound) {
      return bound.factors[axes.back()] == 1 && bound.stride == 1 && bound.divisor == 1;
    });
  });
}

void storeResult(KernelWriter& writer, const Region& region, const std::string& sum) {
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    if (region.prims[prim].kind == Prim::Kind::Folded) {
      writer.bind(static_cast<int>(prim), {sum});
    }
  }
  writer.compute(storedPrims(region.groupStores));
  writer.store(region.groupStores);
}

std::int64_t bytesOfElement(const Region& region, int prim) {
  std::vector<int> operands;
  collectOperands(region, prim, operands);
  std::int64_t bytes = 0;
  for (const int operand : operands) {
    bytes += static_cast<std::int64_t>(domain::byteSize(region.operands[static_cast<std::size_t>(operand)].dtype));
  }
  return bytes;
}

std::int64_t bytesOfResult(const Region& region, const ProductShape& shape) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < region.operands.size(); ++i) {
    const std::vector<int> self{static_cast<int>(i)};
    const bool isWhole = (shape.rows.empty() || walksAlongAny(region, self, shape.rows)) &&
                         (shape.columns.empty() || walksAlongAny(region, self, shape.columns));
    if (isWhole) {
      bytes += static_cast<std::int64_t>(domain::byteSize(region.operands[i].dtype));
    }
  }
  return bytes;
}

}  // namespace swage::synth
