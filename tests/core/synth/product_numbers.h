// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"

// What products are tested with: operands, exact results, and how far others are from them.
namespace swage::synth {

// A product of [batch, rows, depth] by [batch, depth, columns], with the strides of its operands.
struct Product {
  std::size_t batch = 1;
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t depth = 1;

  [[nodiscard]] Numbers of(const Numbers& left, const Numbers& right, bool isLeftAlongRows = false,
                           bool isRightAlongDepth = false) const {
    Numbers result;
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
          double sum = 0.0;
          for (std::size_t d = 0; d < depth; ++d) {
            sum += left[b * rows * depth + (isLeftAlongRows ? d * rows + r : r * depth + d)] *
                   right[b * columns * depth + (isRightAlongDepth ? c * depth + d : d * columns + c)];
          }
          result.push_back(sum);
        }
      }
    }
    return result;
  }
};

inline Numbers normalNumbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Numbers numbers(count);
  for (double& number : numbers) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
      sum += random.unit();
    }
    number = static_cast<double>(static_cast<float>(sum));
  }
  return numbers;
}

// Of the L2 norms.
inline double relativeError(const Numbers& got, const Numbers& want) {
  double difference = 0.0;
  double norm = 0.0;
  EXPECT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference / norm);
}

// relu(x @ weight.T + bias): both operands along the depth, tails everywhere.
struct Linear {
  Product product{1, 70, 75, 104};
  GraphBuilder builder;
  Numbers x = normalNumbers(product.rows * product.depth, 1);
  Numbers weight = normalNumbers(product.columns * product.depth, 2);
  Numbers bias = normalNumbers(product.columns, 3);

  explicit Linear(Product sizes = {1, 70, 75, 104}) : product(sizes) {
    const auto as = [](std::size_t size) { return static_cast<std::int64_t>(size); };
    const auto a = builder.input({as(product.rows), as(product.depth)});
    const auto b = builder.input({as(product.columns), as(product.depth)});
    const auto c = builder.input({as(product.columns)});
    builder.output(builder.relu(
        builder.call("aten.linear.default", {arg(a), arg(b), arg(c)}, {as(product.rows), as(product.columns)})));
  }
  [[nodiscard]] Numbers run(const domain::Program& program) const {
    const auto results = runEmulated(program, {toBytes<float>(x), toBytes<float>(weight), toBytes<float>(bias)});
    return results.empty() ? Numbers() : toNumbers<float>(results.front());
  }
  [[nodiscard]] Numbers want() const {
    Numbers result = product.of(x, weight, false, true);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] += bias[i % product.columns];
      result[i] = std::isnan(result[i]) ? result[i] : std::max(result[i], 0.0);
    }
    return result;
  }
};

}  // namespace swage::synth
