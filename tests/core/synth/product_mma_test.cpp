// SPDX-License-Identifier: Apache-2.0
// What products on tensor cores compute, by the emulation: layouts, tails, batches, modes, and the accuracy of each.
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <ostream>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"
#include "tests/core/synth/product_numbers.h"

namespace swage::synth {
namespace {

using Changes = std::map<std::string, std::int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The program of a graph whose product is made by the pattern, with these parameters.
domain::Program mmaProgram(const domain::Graph& graph, const Changes& changes) {
  domain::DeviceInfo device = cudaDevice();
  device.multiprocessors = 3;
  const auto synthesizer = Synthesizer::create(graph, device, emulatedCatalogue());
  if (!synthesizer) {
    ADD_FAILURE() << synthesizer.error().message();
    return {};
  }
  const Changes small{{"tile_rows", 64}, {"tile_columns", 64}, {"warp_rows", 32}, {"warp_columns", 32},
                      {"stages", 2},     {"tile_depth", 32},   {"promote", 64},   {"persistent", 0}};
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    bool isFound = false;
    for (domain::RegionGene& gene : genome.regions) {
      if (gene.pattern == "product_mma") {
        isFound = true;
        for (const Changes* all : {&small, &changes}) {
          for (const auto& [name, value] : *all) {
            gene.parameters.at(name) = value;
          }
        }
      }
    }
    if (isFound) {
      auto program = (*synthesizer)->realise(genome);
      EXPECT_TRUE(program.has_value()) << program.error().message();
      EXPECT_EQ(domain::findDefect(program->plan), "");
      return program.value_or(domain::Program());
    }
  }
  ADD_FAILURE() << "no seed uses the pattern";
  return {};
}

struct Setting {
  const char* name;
  Changes changes;
  double limit;
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

class MmaProducts : public ::testing::TestWithParam<Setting> {};

// Two roundings of float for sums over 104; what the parts leave out is below that.
TEST_P(MmaProducts, OfFloatsAreAsExactAsFloat) {
  const Linear linear;
  EXPECT_LT(relativeError(linear.run(mmaProgram(linear.builder.graph(), GetParam().changes)), linear.want()),
            GetParam().limit);
}

INSTANTIATE_TEST_SUITE_P(
    All, MmaProducts,
    ::testing::Values(Setting{"Halves", {{"mode", 1}}, 2e-7}, Setting{"BFloats", {{"mode", 2}}, 2e-7},
                      Setting{"SeveralTilesForABlock", {{"mode", 1}, {"persistent", 1}}, 2e-7},
                      Setting{"DeepSteps", {{"mode", 1}, {"tile_depth", 64}, {"promote", 32}}, 2e-7},
                      Setting{"ManyStages", {{"mode", 1}, {"stages", 4}, {"promote", 128}}, 3e-7},
                      Setting{"WideWarps", {{"mode", 1}, {"warp_rows", 16}, {"warp_columns", 64}}, 2e-7},
                      Setting{
                          "TallWarps", {{"mode", 2}, {"warp_rows", 64}, {"warp_columns", 16}, {"promote", 32}}, 2e-7}),
    [](const auto& each) { return each.param.name; });

TEST(MmaProduct, TakesOperandsInAnyLayout) {
  const Product product{1, 72, 66, 40};
  const Numbers x = normalNumbers(product.rows * product.depth, 4);
  const Numbers y = normalNumbers(product.columns * product.depth, 5);
  for (const bool isLeftAlongRows : {false, true}) {
    GraphBuilder b;
    const auto left = isLeftAlongRows ? b.input({40, 72}) : b.input({72, 40});
    const auto right = b.input({40, 66});
    const domain::Argument both{domain::ArgumentList{arg(left), arg(right)}};
    b.output(
        b.call("aten.einsum.default", {{std::string(isLeftAlongRows ? "zx,zy->xy" : "xz,zy->xy")}, both}, {72, 66}));
    const auto results = runEmulated(mmaProgram(b.graph(), {}), {toBytes<float>(x), toBytes<float>(y)});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_LT(relativeError(toNumbers<float>(results[0]), product.of(x, y, isLeftAlongRows)), 2e-7);
  }
}

TEST(MmaProduct, MultipliesBatches) {
  const Product product{3, 9, 70, 33};
  GraphBuilder b;
  const auto x = b.input({3, 9, 33});
  const auto y = b.input({3, 33, 70});
  b.output(b.call("aten.bmm.default", {arg(x), arg(y)}, {3, 9, 70}));
  const Numbers left = normalNumbers(3 * 9 * 33, 6);
  const Numbers right = normalNumbers(3 * 33 * 70, 7);
  const auto results = runEmulated(mmaProgram(b.graph(), {}), {toBytes<float>(left), toBytes<float>(right)});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_LT(relativeError(toNumbers<float>(results[0]), product.of(left, right)), 2e-7);
}

TEST(MmaProduct, OfATensorWithItselfHasOneOperandAndTwoSplits) {
  const Product product{1, 65, 65, 20};
  GraphBuilder b;
  const auto x = b.input({65, 20});
  const domain::Argument both{domain::ArgumentList{arg(x), arg(x)}};
  b.output(b.call("aten.einsum.default", {{std::string("xz,yz->xy")}, both}, {65, 65}));
  const Numbers numbers = normalNumbers(65 * 20, 10);
  const auto results = runEmulated(mmaProgram(b.graph(), {}), {toBytes<float>(numbers)});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_LT(relativeError(toNumbers<float>(results[0]), product.of(numbers, numbers, false, true)), 2e-7);
}

TEST(MmaProduct, TakesRowsOfSeveralAxesAndShortSums) {
  for (const std::int64_t depth : {2, 33}) {
    const Product product{1, 2 * 3 * 9, 13, static_cast<std::size_t>(depth)};
    GraphBuilder b;
    const auto x = b.input({2, 3, 9, depth});
    const auto y = b.input({depth, 13});
    b.output(b.call("aten.matmul.default", {arg(x), arg(y)}, {2, 3, 9, 13}));
    const Numbers left = normalNumbers(product.rows * product.depth, 11);
    const Numbers right = normalNumbers(product.columns * product.depth, 12);
    const auto results = runEmulated(mmaProgram(b.graph(), {}), {toBytes<float>(left), toBytes<float>(right)});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_LT(relativeError(toNumbers<float>(results[0]), product.of(left, right)), 2e-7);
  }
}

// Where pieces of 16 bytes lie aligned the operands are copied as they are; else a pass lays them out.
TEST(MmaProduct, TakesHalvesAsTheyAre) {
  for (const auto& [depth, passes] : {std::pair{40, 0}, std::pair{37, 1}}) {
    const Product product{1, 70, 72, static_cast<std::size_t>(depth)};
    GraphBuilder b;
    const auto x = b.input({70, depth}, domain::ScalarType::Float16);
    const auto y = b.input({depth, 72}, domain::ScalarType::Float16);
    b.output(b.call("aten.matmul.default", {arg(x), arg(y)}, {70, 72}, domain::ScalarType::Float16));
    const Bytes left = toBytes<Half>(normalNumbers(product.rows * product.depth, 8));
    const Bytes right = toBytes<Half>(normalNumbers(product.columns * product.depth, 9));
    const domain::Program program = mmaProgram(b.graph(), {{"mode", 0}, {"promote", depth == 40 ? 0 : 64}});
    EXPECT_EQ(program.plan.launchCount(), 1 + passes);
    const auto results = runEmulated(program, {left, right});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_LT(relativeError(toNumbers<Half>(results[0]), product.of(toNumbers<Half>(left), toNumbers<Half>(right))),
              4e-4);
  }
}

TEST(MmaProduct, KeepsRowsOfAnySize) {
  Linear linear({1, 66, 64, 64});
  const auto scaleRow = [&](std::size_t row, int exponent) {
    for (std::size_t k = 0; k < 64; ++k) {
      linear.x[row * 64 + k] = std::ldexp(linear.x[row * 64 + k], exponent);
    }
  };
  scaleRow(3, 100);
  scaleRow(4, -100);
  scaleRow(5, -145);  // denormal
  scaleRow(6, 119);   // nearly to the end of the range
  std::fill_n(linear.x.begin() + 7 * 64, 64, 0.0);
  linear.x = toNumbers<float>(toBytes<float>(linear.x));
  std::fill(linear.bias.begin(), linear.bias.end(), 0.0);
  const Numbers got = linear.run(mmaProgram(linear.builder.graph(), {{"mode", 1}}));
  const Numbers want = linear.want();
  ASSERT_EQ(got.size(), want.size());
  for (const std::size_t row : {0, 3, 4, 6}) {
    const auto begin = static_cast<std::ptrdiff_t>(row * 64);
    EXPECT_LT(relativeError({got.begin() + begin, got.begin() + begin + 64},
                            {want.begin() + begin, want.begin() + begin + 64}),
              2e-7)
        << row;
  }
  for (std::size_t column = 0; column < 64; ++column) {
    EXPECT_NEAR(got[5 * 64 + column], want[5 * 64 + column], std::ldexp(1.0, -149)) << column;
    EXPECT_EQ(got[7 * 64 + column], 0.0) << column;
  }
}

TEST(MmaProduct, SpreadsInfinityAndNanNoFurtherThanFloatDoes) {
  Linear linear({1, 66, 65, 64});
  linear.x[2 * 64 + 5] = kInfinity;
  linear.x[3 * 64 + 6] = kNan;
  linear.x[65 * 64 + 1] = -kInfinity;
  linear.weight[4 * 64 + 5] = 0.0;
  linear.weight[7 * 64 + 9] = kInfinity;
  const Numbers got = linear.run(mmaProgram(linear.builder.graph(), {{"mode", 1}}));
  EXPECT_EQ(firstDifference(got, linear.want(), 1e-5), "");
}

TEST(MmaProduct, LosesLessWherePromotionIsOften) {
  Linear linear({1, 16, 16, 1024});
  for (Numbers* numbers : {&linear.x, &linear.weight}) {
    for (double& number : *numbers) {
      number = std::abs(number);
    }
  }
  const auto errorWith = [&](std::int64_t promote) {
    return relativeError(linear.run(mmaProgram(linear.builder.graph(), {{"mode", 1}, {"promote", promote}})),
                         linear.want());
  };
  const double often = errorWith(64);
  const double seldom = errorWith(256);
  EXPECT_LT(often, 3e-7);
  EXPECT_GT(seldom, 2 * often);
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  Changes changes = {};
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class MmaFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(MmaFaults, CostMoreThanFloatAllows) {
  const Linear linear;
  Changes changes{{"mode", 1}};
  domain::Program program = mmaProgram(linear.builder.graph(), changes);
  const std::size_t at = program.source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const double error = relativeError(linear.run(program), linear.want());
  EXPECT_FALSE(error < 3e-6) << error;
}

INSTANTIATE_TEST_SUITE_P(All, MmaFaults,
                         ::testing::Values(Fault{"ADroppedTerm", "multiplyHalf(minor[r][c], rows[1]",
                                                 "if (false) multiplyHalf(minor[r][c], rows[1]"},
                                           Fault{"AScaleThatIsNotUndone", "ldexpf(sum[r][c][i], ",
                                                 "(sum[r][c][i]); static_cast<void>("},
                                           Fault{"ALostTail", "if (depth < count)", "if (depth < count - 8)"},
                                           Fault{"TilesThatAreNotWaitedFor", "waitForCopies<0>", "waitForCopies<1>"}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
