// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/synth/emit/frame.h"

// What strategies for attention have in common.
namespace swage::synth {

inline constexpr double kLog2E = 1.4426950408889634;  // exponentials are powers of two
// Halves: so much may a score, as a power of two, be above the one that others are compared with.
inline constexpr double kLargestWeight = 8.0;

// A product over the depth, the maximum and the sum of exponentials of what becomes of its sums, and a product of these
// exponentials with values.
struct AttentionShape {
  std::vector<std::size_t> batch;
  std::vector<std::size_t> rows;  // of queries; none where there is one
  std::vector<std::size_t> columns;
  std::vector<std::size_t> keys;
  std::vector<std::size_t> depth;
  int query = -1;  // prims that are multiplied
  int key = -1;
  int value = -1;
  int products = -1;      // the sum of the first product, from which the score is computed
  int score = -1;         // what the softmax is taken of, but for a causal mask
  int weights = -1;       // the sum of exponentials; -1: nobody needs it by itself
  int total = -1;         // the sum of the second product
  bool isCausal = false;  // keys behind the row of a query do not take part
  double factor = 0.0;    // the score is the product times this; 0: it is more than that
  std::int64_t batchCount = 1;
  std::int64_t rowCount = 1;
  std::int64_t columnCount = 1;
  std::int64_t keyCount = 1;
  std::int64_t depthCount = 1;
};

// No value: the region is something else.
[[nodiscard]] std::optional<AttentionShape> attentionShape(const Region& region);
// How many numbers a score needs beside the product: of a bias, a mask.
[[nodiscard]] std::int64_t loadsOfScore(const Region& region, const AttentionShape& shape);
// What it computes, as the beginning of a comment.
[[nodiscard]] std::string describeAttention(const Region& region, const AttentionShape& shape);

}  // namespace swage::synth
