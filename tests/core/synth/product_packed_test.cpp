// SPDX-License-Identifier: Apache-2.0
// Products of packed operands on the CPU, in tiles of many sizes, compiled and run against loops in double.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

constexpr int kGenomes = 8;

// Runs programs that have the graph as one region of this pattern, each with other parameters.
void expectInAnyTiles(const GraphBuilder& b, const std::vector<Numbers>& inputs, const Numbers& want) {
  const auto synthesizer = makeSynthesizer(b.graph(), cpuDevice());
  std::vector<Bytes> bytes;
  std::transform(inputs.begin(), inputs.end(), std::back_inserter(bytes), toBytes<float>);
  std::set<std::string> seen;
  Random random(5);
  for (int i = 0; i < 4000 && seen.size() < kGenomes; ++i) {
    const domain::Genome genome = synthesizer->fresh(random);
    const bool isPacked = genome.regions.size() == 1 && genome.regions[0].pattern == "product_packed";
    if (!isPacked || !seen.insert(domain::canonicalText(genome)).second) {
      continue;
    }
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value()) << program.error().message();
    const std::vector<Bytes> results = runOnCpu(*program, bytes);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), want, 1e-4), "") << program->source;
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kGenomes));
}

std::int64_t elementsOf(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

// Rows, columns and depths that fill no tile, and a batch that one operand is broadcast along.
TEST(PackedProducts, OfBatchesWithWhatFollows) {
  constexpr std::int64_t kBatch = 2;
  constexpr std::int64_t kRows = 61;
  constexpr std::int64_t kColumns = 70;
  constexpr std::int64_t kDepth = 150;
  const Numbers left = randomNumbers(kBatch * kRows * kDepth, 1);
  const Numbers right = randomNumbers(kDepth * kColumns, 2);
  const Numbers bias = randomNumbers(kColumns, 3);
  GraphBuilder b;
  const auto x = b.input({kBatch, kRows, kDepth});
  const auto y = b.input({kDepth, kColumns});
  const auto z = b.input({kColumns});
  b.output(b.relu(b.add(b.call("aten.matmul.default", {arg(x), arg(y)}, {kBatch, kRows, kColumns}), z)));
  Numbers want;
  for (std::int64_t row = 0; row < kBatch * kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      double sum = bias[static_cast<std::size_t>(column)];
      for (std::int64_t k = 0; k < kDepth; ++k) {
        sum +=
            left[static_cast<std::size_t>(row * kDepth + k)] * right[static_cast<std::size_t>(k * kColumns + column)];
      }
      want.push_back(std::max(sum, 0.0));
    }
  }
  expectInAnyTiles(b, {left, right, bias}, want);
}

// Both operands have the depth innermost.
TEST(PackedProducts, OfALinearLayer) {
  constexpr std::int64_t kRows = 96;
  constexpr std::int64_t kColumns = 192;
  constexpr std::int64_t kDepth = 256;
  const Numbers input = randomNumbers(kRows * kDepth, 4);
  const Numbers weight = randomNumbers(kColumns * kDepth, 5);
  GraphBuilder b;
  const auto x = b.input({kRows, kDepth});
  const auto w = b.input({kColumns, kDepth});
  b.output(b.call("aten.linear.default", {arg(x), arg(w)}, {kRows, kColumns}));
  Numbers want;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < kDepth; ++k) {
        sum +=
            input[static_cast<std::size_t>(row * kDepth + k)] * weight[static_cast<std::size_t>(column * kDepth + k)];
      }
      want.push_back(sum);
    }
  }
  expectInAnyTiles(b, {input, weight}, want);
}

// One operand is read through windows, with zeros outside.
TEST(PackedProducts, OfWindows) {
  const std::vector<std::int64_t> shape{2, 5, 9, 11};
  const std::vector<std::int64_t> windows{20, 5, 3, 3};
  const Numbers input = randomNumbers(elementsOf(shape), 6);
  const Numbers weight = randomNumbers(elementsOf(windows), 7);
  GraphBuilder b;
  const auto x = b.input(shape);
  const auto w = b.input(windows);
  b.output(b.call("aten.conv2d.default",
                  {arg(x), arg(w), domain::Argument{}, listArg({1, 1}), listArg({1, 1}), listArg({1, 1}), arg(1)},
                  {2, 20, 9, 11}));
  Numbers want;
  for (std::int64_t image = 0; image < 2; ++image) {
    for (std::int64_t out = 0; out < 20; ++out) {
      for (std::int64_t place = 0; place < 99; ++place) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < 45; ++k) {
          const std::int64_t y = place / 11 + k / 3 % 3 - 1;
          const std::int64_t column = place % 11 + k % 3 - 1;
          if (y >= 0 && y < 9 && column >= 0 && column < 11) {
            sum += input[static_cast<std::size_t>(((image * 5 + k / 9) * 9 + y) * 11 + column)] *
                   weight[static_cast<std::size_t>(out * 45 + k)];
          }
        }
        want.push_back(sum);
      }
    }
  }
  expectInAnyTiles(b, {input, weight}, want);
}

// Two products of one file, whose vectors differ in size.
TEST(PackedProducts, WithVectorsOfTwoSizesInOneFile) {
  constexpr std::int64_t kRows = 20;
  constexpr std::int64_t kWidth = 64;
  const Numbers input = randomNumbers(kRows * kWidth, 8);
  const Numbers first = randomNumbers(kWidth * kWidth, 9);
  const Numbers second = randomNumbers(kWidth * kWidth, 10);
  GraphBuilder b;
  const auto x = b.input({kRows, kWidth});
  const auto w = b.input({kWidth, kWidth});
  const auto v = b.input({kWidth, kWidth});
  const auto between = b.call("aten.linear.default", {arg(x), arg(w)}, {kRows, kWidth});
  b.output(b.call("aten.linear.default", {arg(between), arg(v)}, {kRows, kWidth}));
  const auto times = [](const Numbers& left, const Numbers& weight) {
    Numbers product;
    for (std::size_t i = 0; i < kRows * kWidth; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < kWidth; ++k) {
        sum += left[i / kWidth * kWidth + k] * weight[i % kWidth * kWidth + k];
      }
      product.push_back(sum);
    }
    return product;
  };
  const auto synthesizer = makeSynthesizer(b.graph(), cpuDevice());
  Random random(6);
  for (int i = 0; i < 4000; ++i) {
    const domain::Genome genome = synthesizer->fresh(random);
    const bool hasTwoSizes = genome.regions.size() == 2 && genome.regions[0].pattern == "product_packed" &&
                             genome.regions[1].pattern == "product_packed" &&
                             genome.regions[0].parameters.at("vector") != genome.regions[1].parameters.at("vector");
    if (!hasTwoSizes) {
      continue;
    }
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value()) << program.error().message();
    const std::vector<Bytes> results =
        runOnCpu(*program, {toBytes<float>(input), toBytes<float>(first), toBytes<float>(second)});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), times(times(input, first), second), 1e-4), "")
        << program->source;
    return;
  }
  FAIL() << "no genome has vectors of two sizes";
}

}  // namespace
}  // namespace swage::synth
