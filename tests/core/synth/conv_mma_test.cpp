// SPDX-License-Identifier: Apache-2.0
// What convolutions on tensor cores compute, by the emulation: windows, edges, groups, tails, modes and scales.
#include <gmock/gmock.h>

#include <ostream>
#include <set>

#include "core/domain/numeric_mode.h"
#include "tests/core/synth/conv_cases.h"

namespace swage::synth {
namespace {

const Changes kSmall{{"mode", 1},       {"tile_rows", 64},    {"tile_columns", 16}, {"tile_depth", 32},
                     {"warp_rows", 32}, {"warp_columns", 16}, {"promote", 64}};

domain::Program programOf(const domain::Graph& graph, const Changes& changes) {
  return programBy(graph, "conv_mma", {kSmall, changes});
}

class MmaConvolutions : public ::testing::TestWithParam<Conv> {};

TEST_P(MmaConvolutions, AreAsExactAsTheirMode) {
  const Conv& c = GetParam();
  const Operands all(c);
  const auto mode = c.changes.find("mode");
  const bool isHalf = mode != c.changes.end() && mode->second == 3;
  EXPECT_LT(relativeError(run(programOf(graphOf(c), c.changes), all), wanted(c, all)),
            isHalf ? kHalfError : kFloatError);
}

const Changes kHalves{{"mode", 3}};
const Changes kLargeTiles{{"tile_rows", 128}, {"tile_columns", 16}, {"warp_columns", 16}, {"warp_rows", 64}};
const Changes kManyThreads{{"tile_rows", 64}, {"tile_columns", 64}, {"warp_columns", 16},
                           {"warp_rows", 32}, {"tile_depth", 64},   {"promote", 64}};

INSTANTIATE_TEST_SUITE_P(
    All, MmaConvolutions,
    ::testing::Values(
        Conv{"OfOneImage", 2, 1, 9, 20, {1, 9, 11}, {1, 3, 3}},
        Conv{"WithPadding", 2, 2, 10, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
        Conv{"WithStrides", 2, 2, 5, 16, {1, 13, 12}, {1, 3, 2}, {1, 2, 3}, {0, 1, 0}},
        Conv{"Dilated", 2, 1, 4, 18, {1, 14, 15}, {1, 3, 3}, {1, 1, 2}, {0, 2, 1}, {1, 2, 3}},
        Conv{"OfFewChannels", 2, 2, 3, 33, {1, 17, 16}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}},
        Conv{"InGroups", 2, 2, 12, 36, {1, 7, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 3},
        Conv{"OfOneDimension", 1, 3, 6, 19, {1, 1, 40}, {1, 1, 5}, {1, 1, 2}, {0, 0, 3}, {1, 1, 2}},
        Conv{"OfThreeDimensions", 3, 1, 4, 16, {5, 6, 7}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}},
        Conv{"Pointwise", 2, 2, 40, 24, {1, 7, 9}, {1, 1, 1}},
        Conv{"PointwiseWithPadding", 2, 1, 33, 16, {1, 5, 6}, {1, 1, 1}, {1, 2, 1}, {0, 1, 2}},
        Conv{"AsHalves", 2, 2, 12, 20, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kHalves},
        Conv{"InLargeTiles", 2, 2, 9, 40, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kLargeTiles},
        Conv{"OfManyThreads", 2, 1, 9, 80, {1, 10, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kManyThreads}),
    [](const auto& each) { return each.param.name; });

// Each phase is a convolution of its own, with results of other phases between its own.
INSTANTIATE_TEST_SUITE_P(
    Transposed, MmaConvolutions,
    ::testing::Values(
        transposed({"WithoutStride", 2, 2, 6, 17, {1, 7, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 0}}),
        transposed({"WithStrides", 2, 2, 9, 18, {1, 7, 6}, {1, 3, 4}, {1, 2, 2}, {0, 1, 0}}),
        transposed({"InGroups", 2, 1, 8, 36, {1, 5, 6}, {1, 5, 3}, {1, 3, 2}, {0, 2, 1}, {1, 1, 1}, 2}),
        transposed({"Dilated", 1, 2, 7, 20, {1, 1, 20}, {1, 1, 5}, {1, 1, 2}, {0, 0, 1}, {1, 1, 3}}),
        transposed({"OfThreeDimensions",
                    3,
                    1,
                    5,
                    16,
                    {3, 4, 5},
                    {3, 3, 2},
                    {2, 2, 2},
                    {1, 0, 1},
                    {1, 1, 1},
                    1,
                    {},
                    true,
                    {1, 1, 0}}),
        transposed({"DilatedByTheStride", 1, 2, 7, 20, {1, 1, 20}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}, {1, 1, 4}}),
        transposed({"DilatedAcrossPhases", 1, 2, 7, 20, {1, 1, 20}, {1, 1, 3}, {1, 1, 5}, {0, 0, 1}, {1, 1, 2}}),
        transposed({"OfWindowsBelowTheStride", 2, 1, 6, 16, {1, 5, 5}, {1, 2, 2}, {1, 3, 3}})),
    [](const auto& each) { return each.param.name; });

TEST(MmaConvolution, TakesHalvesAsTheyAre) {
  const Conv c{"", 2, 2, 10, 20, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  Operands all(c);
  std::vector<Bytes> inputs;
  for (Numbers* numbers : {&all.x, &all.weight, &all.bias}) {
    inputs.push_back(toBytes<Half>(*numbers));
    *numbers = toNumbers<Half>(inputs.back());
  }
  const auto program = programOf(graphOf(c, domain::ScalarType::Float16), {{"mode", 0}});
  const auto results = runEmulated(program, inputs);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_LT(relativeError(toNumbers<Half>(results[0]), wanted(c, all)), kHalfError);
}

// cuDNN's kernels differ in it.
TEST(MmaConvolution, RoundsTiesAsItsModeSays) {
  const Conv c{"", 2, 2, 9, 20, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  EXPECT_TRUE(roundsTies(programOf(graphOf(c), {{"mode", 3}}), c, Ties::ToEven));
  EXPECT_TRUE(roundsTies(programOf(graphOf(c), {{"mode", 6}}), c, Ties::Away));
}

// Tiles whose largest input is far from 1 are made again with a scale.
TEST(MmaConvolution, KeepsInputsOfAnySize) {
  const Conv c{"", 2, 2, 9, 16, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  for (const auto& [mode, limit] : {std::pair{1, kFloatError}, std::pair{3, kHalfError}, std::pair{6, kHalfError}}) {
    for (const int exponent : {20, -20, 100, -100}) {
      Operands all(c);
      for (double& number : all.x) {
        number = std::ldexp(number, exponent);
      }
      std::fill(all.bias.begin(), all.bias.end(), 0.0);
      EXPECT_LT(relativeError(run(programOf(graphOf(c), {{"mode", mode}}), all), wanted(c, all)), limit) << exponent;
    }
  }
}

TEST(MmaConvolution, SpreadsInfinityAndNanNoFurtherThanFloatDoes) {
  const Conv c{"", 2, 1, 9, 18, {1, 12, 12}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  Operands all(c);
  all.x[5] = kInfinity;
  all.x[140] = kNan;
  all.x[700] = -kInfinity;
  all.weight[3] = 0.0;
  all.weight[9 * 9 * 4 + 4] = kInfinity;  // in the middle, which no edge leaves out
  EXPECT_EQ(firstDifference(run(programOf(graphOf(c), {}), all), wanted(c, all), 1e-5), "");
}

// Whether PyTorch rounds to TF32 is not known before it is measured.
TEST(MmaConvolution, IsOfferedWithAndWithoutRoundingToTf32) {
  const Conv c{"", 2, 4, 3, 32, {1, 32, 32}, {1, 3, 3}};
  const auto synthesizer = Synthesizer::create(graphOf(c), cudaDevice(), emulatedCatalogue());
  ASSERT_TRUE(synthesizer.has_value());
  std::set<std::int64_t> modes;
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    for (const domain::RegionGene& gene : (*synthesizer)->fresh(random).regions) {
      if (gene.pattern == "conv_mma") {
        modes.insert(gene.parameters.at("mode"));
      }
    }
  }
  EXPECT_EQ(modes, (std::set<std::int64_t>{1, 3, 6}));
}

// The mode of the first seed that rounds floats to halves; 0: there is none.
std::int64_t firstRoundingMode(const Conv& c) {
  const auto synthesizer = Synthesizer::create(graphOf(c), cudaDevice(), emulatedCatalogue());
  if (!synthesizer) {
    return 0;
  }
  for (const domain::Genome& seed : (*synthesizer)->seeds()) {
    const auto mode = domain::numericMode(seed.regions.front());
    if (mode && domain::isRounding(*mode)) {
      return static_cast<std::int64_t>(*mode);
    }
  }
  return 0;
}

TEST(MmaConvolution, IsOfferedFirstWithTheTiesThatCudnnProbablyHas) {
  EXPECT_EQ(firstRoundingMode({"", 2, 4, 32, 32, {1, 32, 32}, {1, 3, 3}}), 6);
  EXPECT_EQ(firstRoundingMode(transposed({"", 2, 4, 32, 32, {1, 32, 32}, {1, 3, 3}})), 3);
}

// A thread makes several rows, the last of them some that another makes, too.
TEST(DirectRows, MakeEachResultOfItsOwnWindow) {
  for (const Conv& c : {Conv{"", 2, 2, 5, 5, {1, 14, 11}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 5},
                        Conv{"", 2, 1, 4, 4, {1, 19, 9}, {1, 5, 3}, {1, 2, 1}, {0, 0, 2}, {1, 1, 2}, 4},
                        Conv{"", 3, 1, 3, 6, {7, 8, 6}, {3, 2, 3}, {1, 1, 2}, {1, 0, 1}, {1, 1, 1}, 3},
                        Conv{"", 2, 1, 4, 4, {1, 19, 9}, {1, 3, 3}, {1, 1, 1}, {0, 2, 0}, {1, 2, 1}, 4}}) {
    const Operands all(c);
    const auto synthesizer = Synthesizer::create(graphOf(c), cudaDevice(), emulatedCatalogue());
    ASSERT_TRUE(synthesizer.has_value());
    int found = 0;
    for (const domain::Genome& genome : (*synthesizer)->seeds()) {
      if (genome.regions.size() == 1 && genome.regions[0].pattern == "direct_rows" && genome.rewrites.empty()) {
        ++found;
        const auto program = (*synthesizer)->realise(genome);
        ASSERT_TRUE(program.has_value());
        EXPECT_EQ(firstDifference(run(*program, all), wanted(c, all), 1e-5), "") << program->source;
      }
    }
    EXPECT_EQ(found > 0, c.dilation[1] == 1);
  }
}

// Copies between layouts, with tails of tiles on both axes.
TEST(TurnedMap, MovesEveryElementToItsPlace) {
  for (const bool isToLast : {false, true}) {
    GraphBuilder b;
    b.output(b.relu(b.input({2, 13, 5, 9})));
    domain::Graph graph = b.graph();
    graph.values[isToLast ? 1 : 0].strides = {585, 1, 117, 13};
    const Numbers numbers = randomNumbers(1170, 5);
    Numbers want;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t image = i / 585 * 585;
      const std::size_t slow = isToLast ? 13 : 45;  // of the result, in an image
      const std::size_t from = isToLast ? i % slow * 45 + i % 585 / slow : i % slow * 13 + i % 585 / slow;
      want.push_back(std::max(0.0, numbers[image + from]));
    }
    const auto synthesizer = Synthesizer::create(graph, cudaDevice(), emulatedCatalogue());
    ASSERT_TRUE(synthesizer.has_value());
    int found = 0;
    for (const domain::Genome& genome : (*synthesizer)->seeds()) {
      if (genome.regions.size() == 1 && genome.regions[0].pattern == "map_turned") {
        ++found;
        const auto program = (*synthesizer)->realise(genome);
        ASSERT_TRUE(program.has_value());
        const auto results = runEmulated(*program, {toBytes<float>(numbers)});
        ASSERT_EQ(results.size(), 1U);
        EXPECT_EQ(toNumbers<float>(results[0]), want);
      }
    }
    EXPECT_GT(found, 0);
  }
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class MmaConvolutionFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(MmaConvolutionFaults, CostMoreThanFloatAllows) {
  const Conv c{"", 2, 1, 10, 20, {1, 10, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 2};
  const Operands all(c);
  domain::Program program = programOf(graphOf(c), {});
  const std::size_t at = program.source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const double error = relativeError(run(program, all), wanted(c, all));
  EXPECT_FALSE(error < 3e-6) << error;
}

INSTANTIATE_TEST_SUITE_P(All, MmaConvolutionFaults,
                         ::testing::Values(Fault{"ALostEdge", "1u << (3 + j)", "1u << (4 + j)"},
                                           Fault{"AChannelGroupThatIsSkipped", "_parts + batch * ", "_parts + 0 * "},
                                           Fault{"ALostTap", "pair.second.needs & outside[p]",
                                                 "pair.second.needs & (e == 6 ? ~0u : outside[p])"},
                                           Fault{"ADroppedTerm", "multiplyHalf(minor[r][c], rows[1]",
                                                 "if (false) multiplyHalf(minor[r][c], rows[1]"},
                                           Fault{"HalvesOfTheSumThatAreMixedUp", "lane / 8 % 2", "lane / 8 % 1"}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
