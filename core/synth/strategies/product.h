// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// What loading one element of the prim reads, in bytes.
[[nodiscard]] std::int64_t bytesOfElement(const Region& region, int prim);
// What storing one result, with what follows the product, writes and reads of tensors as large as the result, in bytes.
[[nodiscard]] std::int64_t bytesOfResult(const Region& region, const ProductShape& shape);

}  // namespace swage::synth
