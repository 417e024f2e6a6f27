// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/emit/frame.h"

// What strategies for products have in common.
namespace swage::synth {

// The axes of a product and the two sides that it multiplies: prims of the operand with the rows, and of that with the
// columns of the result.
struct ProductShape {
  std::vector<std::size_t> batch;
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;
  std::vector<std::size_t> depth;
  int left = -1;
  int right = -1;
  std::int64_t batchCount = 1;
  std::int64_t rowCount = 1;
  std::int64_t columnCount = 1;
  std::int64_t depthCount = 1;
};

// No value: not a sum of products of one prim that has the rows, and another that has the columns.
[[nodiscard]] std::optional<ProductShape> productShape(const Region& region);
// Whether neighbours along the last of these axes are neighbours in memory for all that the prim loads.
[[nodiscard]] bool isContiguousAlong(const Region& region, int prim, const std::vector<std::size_t>& axes);
// Whether some operand that the prim is computed from has one of these axes.
[[nodiscard]] bool walksAlongAny(const Region& region, int prim, const std::vector<std::size_t>& axes);
// Whether the prim is computed from numbers of 16 bits alone.
[[nodiscard]] bool isShort(const Region& region, int prim);
// Computes what follows the product from its sum, and stores it. The coordinates of the result must be bound.
void storeResult(KernelWriter& writer, const Region& region, const std::string& sum);
// What loading one element of the prim reads, in bytes.
[[nodiscard]] std::int64_t bytesOfElement(const Region& region, int prim);
// What storing one result, with what follows the product, writes and reads of tensors as large as the result, in bytes.
[[nodiscard]] std::int64_t bytesOfResult(const Region& region, const ProductShape& shape);

}  // namespace swage::synth
