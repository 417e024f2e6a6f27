// SPDX-License-Identifier: Apache-2.0
// What is tried first of conv_wgmma: the estimates beside times measured on an H100 (measure_convolutions.py).
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "tests/core/synth/conv_cases.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

struct MeasuredTiles {
  std::int64_t columns;
  std::int64_t pixels;
  std::int64_t width;
  std::int64_t depth;
  std::int64_t parts;
  std::int64_t bring;
  std::int64_t blocks;
  double microseconds;
};

struct MeasuredConv {
  Conv conv;
  std::vector<MeasuredTiles> tiles;  // the fastest first
  double most = 1.15;                // times as long as the fastest takes what is estimated to be the fastest
  std::int64_t mode = 3;
  double least = 0.7;  // of its time is estimated at least
  friend void PrintTo(const MeasuredConv& self, std::ostream* out) { *out << self.conv.name; }
};

std::unique_ptr<Synthesizer> synthesizerOf(const Conv& conv) {
  domain::DeviceInfo device = cudaDevice();
  device.copyBytesPerSecond = 3.0e12;
  device.cacheBytes = std::int64_t{50} << 20;
  return makeSynthesizer(graphOf(conv), device);
}

double estimated(const Synthesizer& synthesizer, domain::Genome genome, const MeasuredTiles& tiles, std::int64_t mode,
                 std::int64_t ahead = 0) {
  Parameters& parameters = genome.regions.front().parameters;
  parameters["ahead"] = ahead;
  parameters["mode"] = mode;
  parameters["tile_columns"] = tiles.columns;
  parameters["tile_pixels"] = tiles.pixels;
  parameters["tile_width"] = tiles.width;
  parameters["tile_depth"] = tiles.depth;
  parameters["parts"] = tiles.parts;
  parameters["bring_groups"] = tiles.bring;
  parameters["blocks"] = tiles.blocks;
  return synthesizer.estimate(genome).value_or(0.0) * 1e6;
}

std::optional<domain::Genome> seedOf(const Synthesizer& synthesizer) {
  const std::vector<domain::Genome> seeds = synthesizer.seeds();
  const auto seed = std::find_if(seeds.begin(), seeds.end(), [](const domain::Genome& genome) {
    return genome.regions.size() == 1 && genome.regions.front().pattern == "conv_wgmma";
  });
  return seed == seeds.end() ? std::nullopt : std::optional(*seed);
}

// Of these the times are of kernels that stored the results of phases one by one.
constexpr double kOlder = 0.6;

class ConvolutionOrder : public ::testing::TestWithParam<MeasuredConv> {};

TEST_P(ConvolutionOrder, PutsOneOfTheFastestFirst) {
  const auto synthesizer = synthesizerOf(GetParam().conv);
  const std::optional<domain::Genome> seed = seedOf(*synthesizer);
  ASSERT_TRUE(seed);
  const std::vector<MeasuredTiles>& tiles = GetParam().tiles;
  std::vector<double> estimates;
  for (const MeasuredTiles& each : tiles) {
    estimates.push_back(estimated(*synthesizer, *seed, each, GetParam().mode));
    ASSERT_GT(estimates.back(), 0.0);
  }
  const auto first = static_cast<std::size_t>(std::min_element(estimates.begin(), estimates.end()) - estimates.begin());
  const double taken = tiles[first].microseconds;
  EXPECT_LE(taken, GetParam().most * tiles.front().microseconds);
  EXPECT_LT(estimates[first], 1.4 * taken);
  EXPECT_GT(estimates[first], GetParam().least * taken);
}

// As measured on an H200: of a pointwise convolution 4.51 ms without numbers on their way, 3.82 with two rounds of
// them, 3.51 with three; of one with 27 places 1.13 ms without and 1.23 with three.
TEST(ConvolutionOrder, BringsNumbersAheadWhereEachIsMultipliedOnce) {
  const auto timesOf = [](const Conv& conv, const MeasuredTiles& tiles) {
    const auto synthesizer = synthesizerOf(conv);
    const std::optional<domain::Genome> seed = seedOf(*synthesizer);
    std::vector<double> times;
    for (const std::int64_t ahead : {3, 2, 0}) {
      times.push_back(seed ? estimated(*synthesizer, *seed, tiles, 3, ahead) : 0.0);
      EXPECT_GT(times.back(), 0.0);
    }
    return times;
  };
  const auto pointwise =
      timesOf({"Pointwise", 2, 16, 64, 128, {1, 1024, 1024}, {1, 1, 1}}, {128, 256, 0, 32, 1, 2, 1, 0.0});
  EXPECT_TRUE(std::is_sorted(pointwise.begin(), pointwise.end()));
  Conv cubes{"Cubes", 3, 8, 48, 48, {64, 64, 64}, {3, 3, 3}};
  cubes.isTransposed = true;
  const auto ofCubes = timesOf(cubes, {64, 224, 16, 16, 2, 2, 1, 0.0});
  EXPECT_LT(ofCubes.back(), ofCubes.front());
}

// Products may come before both, where the estimates of these say so.
TEST_P(ConvolutionOrder, TriesItBeforeTheOtherStrategyOfConvolutions) {
  const auto synthesizer = synthesizerOf(GetParam().conv);
  std::vector<std::string> patterns;
  for (const domain::Genome& seed : synthesizer->seeds()) {
    if (seed.regions.size() == 1) {
      patterns.push_back(seed.regions.front().pattern);
    }
  }
  const auto place = [&](const char* pattern) { return std::find(patterns.begin(), patterns.end(), pattern); };
  ASSERT_NE(place("conv_wgmma"), patterns.end());
  EXPECT_LT(place("conv_wgmma"), place("conv_mma"));
}

const std::vector<MeasuredConv>& measuredConvs() {
  static const std::vector<MeasuredConv> all{
      {{"Small28", 2, 16, 128, 128, {1, 28, 28}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
       {{128, 112, 16, 32, 1, 2, 1, 24.16},
        {64, 112, 8, 32, 1, 1, 2, 25.34},
        {64, 112, 8, 32, 1, 2, 1, 25.5},
        {128, 112, 16, 16, 1, 1, 1, 26.05},
        {64, 64, 8, 64, 1, 2, 1, 27.33},
        {64, 56, 8, 64, 1, 1, 2, 28.1},
        {128, 256, 16, 32, 1, 2, 1, 30.82},
        {64, 256, 16, 32, 2, 2, 1, 33.22}}},
      {{"Small14", 2, 16, 256, 256, {1, 14, 14}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
       {{64, 56, 8, 64, 1, 1, 2, 26.72},
        {64, 112, 8, 32, 1, 1, 2, 29.54},
        {64, 112, 8, 32, 1, 2, 1, 29.66},
        {64, 128, 16, 32, 1, 2, 1, 30.11},
        {64, 56, 8, 32, 2, 2, 1, 32.48},
        {64, 64, 8, 64, 1, 2, 1, 38.85},
        {128, 256, 16, 32, 1, 2, 1, 43.62}}},
      {{"Small7", 2, 16, 512, 512, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
       {{64, 56, 8, 64, 1, 1, 2, 49.41},
        {64, 56, 8, 64, 1, 1, 1, 49.57},
        {64, 64, 8, 64, 1, 2, 1, 50.94},
        {64, 56, 8, 32, 1, 2, 1, 54.4}}},
      {{"Wide", 2, 8, 64, 128, {1, 512, 1024}, {1, 3, 3}},
       {{128, 256, 0, 32, 1, 2, 1, 2031},
        {64, 256, 64, 32, 1, 1, 2, 2222},
        {128, 256, 64, 16, 1, 2, 1, 2249},
        {64, 256, 64, 16, 1, 2, 1, 2318},
        {128, 256, 64, 32, 1, 2, 1, 2342},
        {64, 256, 64, 32, 2, 2, 1, 2368},
        {64, 128, 64, 32, 1, 1, 2, 2574},
        {64, 64, 8, 64, 1, 2, 1, 6493}}},
      {{"Transposed", 2, 8, 64, 64, {1, 1024, 1024}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, {}, true},
       {{64, 256, 64, 32, 1, 2, 1, 2183},
        {64, 256, 64, 16, 2, 2, 1, 2325},
        {64, 256, 64, 32, 1, 1, 2, 2402},
        {64, 256, 64, 16, 1, 1, 2, 2518},
        {64, 256, 128, 32, 2, 2, 1, 2559},
        {64, 128, 64, 32, 1, 1, 2, 2602},
        {64, 56, 8, 64, 1, 1, 2, 3707},
        {64, 64, 8, 64, 1, 2, 1, 3910}}},
      {{"FewChannels", 3, 16, 3, 64, {256, 256, 10}, {3, 3, 1}},
       {{64, 128, 0, 16, 1, 1, 2, 1198},
        {64, 256, 128, 16, 2, 2, 1, 1444},
        {64, 128, 64, 16, 2, 2, 1, 1701},
        {64, 256, 64, 16, 1, 2, 1, 1839},
        {64, 256, 64, 16, 1, 1, 2, 2092}}},
      {{"TransposedVolume", 3, 8, 48, 48, {64, 64, 64}, {3, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, {}, true},
       {{64, 112, 8, 16, 2, 2, 1, 1214},
        {64, 256, 16, 16, 1, 1, 2, 1241},
        {64, 128, 16, 16, 2, 2, 1, 1290},
        {64, 56, 8, 64, 1, 1, 2, 1729},
        {64, 256, 64, 16, 1, 1, 2, 1834},
        {64, 256, 64, 32, 1, 1, 2, 2050},
        {64, 128, 64, 32, 1, 1, 2, 2356},
        {64, 64, 8, 64, 1, 2, 1, 2740}}},
      {{"PointwiseManyResults", 2, 16, 64, 128, {1, 1024, 1024}, {1, 1, 1}},
       {{128, 256, 128, 32, 1, 2, 1, 4471},
        {128, 256, 0, 32, 1, 2, 1, 4486},
        {128, 256, 64, 16, 1, 2, 1, 4503},
        {64, 256, 64, 16, 1, 1, 2, 5679},
        {128, 64, 64, 32, 1, 2, 1, 5933},
        {64, 128, 64, 32, 1, 1, 2, 5971},
        {64, 256, 128, 32, 2, 2, 1, 6265}}},
      {{"ManyResults", 2, 16, 16, 128, {1, 1024, 1024}, {1, 3, 3}},
       {{64, 128, 0, 16, 1, 1, 2, 5404},
        {64, 256, 64, 16, 1, 1, 1, 6697},
        {64, 256, 64, 16, 2, 2, 1, 7489},
        {64, 256, 64, 16, 1, 1, 2, 8621},
        {128, 256, 64, 16, 1, 2, 1, 8778},
        {128, 64, 0, 16, 2, 1, 1, 8802}}},
      {{"TransposedWideWindow", 2, 8, 64, 64, {1, 512, 512}, {1, 3, 7}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, {}, true},
       {{64, 256, 64, 32, 1, 1, 2, 798.1},
        {64, 256, 64, 16, 1, 1, 2, 837.4},
        {64, 256, 32, 32, 1, 1, 2, 838.9},
        {64, 128, 64, 32, 1, 1, 2, 867.6},
        {64, 224, 32, 16, 1, 1, 2, 884.3},
        {64, 56, 8, 64, 1, 1, 2, 1147},
        {64, 64, 8, 64, 1, 2, 1, 1193},
        {64, 224, 16, 32, 1, 1, 2, 1253}}},
      {{"OneDimension", 1, 32, 64, 128, {1, 1, 131072}, {1, 1, 3}},
       {{128, 64, 64, 64, 1, 2, 1, 1482},
        {128, 256, 0, 32, 1, 2, 1, 1492},
        {128, 112, 0, 32, 1, 2, 1, 1648},
        {64, 128, 64, 32, 1, 1, 2, 1816},
        {64, 256, 64, 32, 1, 1, 2, 1955},
        {128, 256, 64, 16, 1, 2, 1, 2092},
        {128, 256, 64, 32, 1, 2, 1, 2122},
        {64, 64, 8, 64, 1, 2, 1, 4551}}},
      {{"TransposedManyImages", 2, 64, 64, 128, {1, 128, 256}, {1, 3, 5}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, {}, true},
       {{128, 256, 64, 16, 1, 2, 1, 1241},
        {64, 256, 64, 32, 1, 1, 2, 1279},
        {64, 224, 32, 32, 1, 1, 2, 1460},
        {64, 128, 64, 32, 1, 1, 2, 1496},
        {128, 128, 0, 64, 1, 2, 1, 1538},
        {64, 256, 32, 16, 1, 1, 2, 1602},
        {128, 256, 0, 32, 1, 2, 1, 1712},
        {64, 64, 8, 64, 1, 2, 1, 2186}},
       1.2},  // times are from before rows of this length went through shared memory
      {{"TransposedFewResults", 2, 8, 32, 32, {1, 512, 1024}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, {}, true},
       {{64, 256, 64, 32, 1, 2, 1, 548.1},
        {64, 256, 64, 32, 1, 1, 2, 590.8},
        {64, 256, 64, 16, 2, 2, 1, 600.7},
        {64, 256, 64, 16, 1, 1, 2, 617.9},
        {64, 128, 64, 32, 1, 1, 2, 653.6},
        {64, 256, 128, 32, 2, 2, 1, 709.8},
        {64, 112, 8, 32, 1, 1, 2, 857.2},
        {64, 64, 64, 32, 1, 1, 2, 943.1}}},
      {{"GroupsAndPhases", 3, 4, 32, 32, {32, 64, 128}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 4, {}, true},
       {{64, 128, 64, 32, 1, 1, 2, 1170},
        {64, 128, 16, 16, 1, 1, 2, 1434},
        {64, 64, 16, 32, 1, 1, 2, 1460},
        {64, 64, 64, 32, 1, 1, 2, 1473},
        {64, 128, 0, 16, 1, 1, 2, 1496},
        {64, 112, 8, 32, 1, 1, 2, 1541},
        {64, 128, 8, 32, 1, 1, 2, 1761}},
       1.15,
       3,
       kOlder},
      {{"ThreePhases", 2, 16, 32, 64, {1, 128, 256}, {1, 3, 5}, {1, 2, 3}, {0, 1, 2}, {1, 2, 1}, 4, {}, true},
       {{64, 64, 64, 32, 1, 1, 2, 723.1},
        {64, 128, 0, 32, 1, 2, 1, 959.3},
        {64, 64, 64, 32, 1, 2, 1, 1144},
        {64, 64, 32, 16, 1, 2, 1, 1615}},
       1.15,
       3,
       kOlder},
      {{"OnePhaseOfVolume", 3, 16, 32, 64, {16, 32, 32}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {2, 2, 2}, 1, {}, true},
       {{64, 128, 64, 32, 1, 1, 2, 1152},
        {64, 56, 8, 32, 2, 2, 1, 1409},
        {64, 112, 8, 32, 1, 1, 2, 1552},
        {64, 56, 8, 32, 1, 2, 2, 1556},
        {64, 64, 64, 32, 1, 1, 2, 1581},
        {64, 112, 8, 32, 1, 2, 1, 1820}},
       1.15,
       3,
       kOlder},
      {{"OnePhase", 1, 16, 32, 64, {1, 1, 131072}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}, {1, 1, 2}, 1, {}, true},
       {{64, 64, 64, 32, 1, 2, 1, 645.2},
        {64, 128, 128, 32, 1, 2, 1, 714.1},
        {64, 128, 0, 16, 1, 1, 2, 788.5},
        {64, 56, 0, 32, 1, 2, 1, 792.5},
        {64, 64, 64, 32, 1, 1, 2, 854.5},
        {64, 128, 64, 32, 1, 1, 2, 873},
        {64, 112, 8, 32, 1, 1, 2, 2331}},
       1.25},
      {{"FivePhases", 2, 16, 32, 64, {1, 64, 128}, {1, 3, 3}, {1, 5, 5}, {0, 1, 1}, {1, 2, 2}, 1, {}, true},
       {{64, 56, 8, 32, 1, 1, 2, 915.1}, {64, 56, 8, 32, 1, 2, 1, 1322}, {64, 56, 8, 16, 1, 1, 1, 1331}}},
      {{"Pointwise", 2, 16, 64, 128, {1, 1024, 1024}, {1, 1, 1}},
       {{128, 128, 0, 32, 1, 2, 1, 6328},
        {128, 256, 64, 16, 1, 2, 1, 6646},
        {128, 64, 64, 32, 2, 2, 1, 6900},
        {128, 256, 64, 32, 1, 2, 1, 7092},
        {64, 256, 64, 32, 1, 1, 2, 7162},
        {128, 256, 0, 32, 1, 2, 1, 7188},
        {64, 256, 64, 16, 1, 1, 2, 7817},
        {64, 128, 64, 32, 1, 1, 2, 7827}}}};
  return all;
}

// Floats as two halves.
const std::vector<MeasuredConv>& measuredExactConvs() {
  static const std::vector<MeasuredConv> all{
      {{"EightChannels", 2, 128, 8, 64, {1, 128, 128}, {1, 3, 3}},
       {{64, 128, 0, 8, 1, 1, 2, 253.6},
        {64, 256, 128, 8, 1, 1, 2, 265.5},
        {64, 128, 0, 8, 1, 2, 1, 269.2},
        {64, 128, 128, 8, 1, 2, 1, 269.5},
        {64, 128, 64, 8, 1, 2, 1, 295.4},
        {64, 64, 64, 8, 1, 1, 2, 301.7},
        {64, 128, 64, 8, 1, 1, 2, 387.1},
        {64, 256, 64, 8, 1, 1, 2, 415.5}},
       1.15,
       1},
      {{"EightChannelsOfLargeImages", 2, 128, 8, 64, {1, 256, 256}, {1, 3, 3}},
       {{64, 256, 0, 8, 1, 2, 1, 896.1},
        {64, 256, 0, 8, 1, 1, 2, 1030},
        {64, 256, 0, 8, 2, 2, 1, 1036},
        {64, 128, 128, 8, 1, 2, 1, 1160},
        {64, 56, 0, 8, 1, 2, 2, 1277},
        {64, 128, 64, 8, 1, 2, 1, 1434},
        {64, 256, 128, 8, 1, 1, 2, 1519},
        {64, 128, 64, 16, 1, 1, 2, 1973}},
       1.15,
       1},
      {{"FewResults", 2, 128, 8, 32, {1, 256, 256}, {1, 3, 3}},
       {{64, 256, 0, 8, 2, 2, 1, 619.3},
        {64, 256, 0, 8, 1, 2, 1, 620.5},
        {64, 256, 64, 8, 2, 2, 1, 661.5},
        {64, 256, 128, 8, 1, 1, 2, 675.3},
        {64, 128, 64, 8, 1, 1, 2, 676.6},
        {64, 256, 64, 8, 1, 1, 2, 822.4},
        {64, 128, 128, 8, 1, 2, 1, 855.9},
        {64, 64, 64, 8, 1, 1, 2, 909.6}},
       1.15,
       1},
      {{"SixteenChannels", 2, 64, 16, 64, {1, 128, 128}, {1, 3, 3}},
       {{64, 128, 0, 16, 2, 2, 1, 165.6},
        {64, 128, 64, 16, 2, 2, 1, 169},
        {64, 128, 64, 16, 1, 1, 2, 170.5},
        {64, 128, 0, 16, 1, 1, 2, 171.2},
        {64, 128, 64, 8, 1, 1, 2, 172.4},
        {64, 128, 128, 8, 1, 2, 1, 220.4},
        {64, 56, 0, 8, 1, 2, 2, 271.2},
        {64, 128, 16, 8, 2, 2, 1, 399.5}},
       1.15,
       1},
      {{"ThirtyTwoChannels", 2, 64, 32, 64, {1, 128, 128}, {1, 3, 3}},
       {{64, 128, 64, 32, 2, 2, 1, 257.7},
        {64, 128, 64, 32, 1, 1, 2, 260.8},
        {64, 128, 0, 16, 2, 2, 1, 267.7},
        {64, 128, 64, 16, 2, 2, 1, 271},
        {64, 128, 64, 16, 1, 1, 2, 271.2},
        {64, 128, 0, 16, 1, 1, 2, 302.6},
        {64, 128, 128, 8, 1, 2, 1, 331.2},
        {64, 112, 16, 8, 1, 1, 2, 348.3}},
       1.15,
       1},
      {{"ManyChannels", 2, 32, 128, 128, {1, 64, 64}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
       {{128, 128, 64, 64, 1, 2, 1, 193.5},
        {64, 128, 64, 32, 1, 1, 2, 217.1},
        {64, 128, 16, 32, 1, 1, 2, 217.3},
        {64, 128, 64, 32, 2, 2, 1, 218.7},
        {64, 112, 8, 32, 1, 1, 2, 234.3},
        {64, 56, 8, 64, 1, 1, 2, 286.4}},
       1.15,
       1}};
  return all;
}

INSTANTIATE_TEST_SUITE_P(Exact, ConvolutionOrder, ::testing::ValuesIn(measuredExactConvs()),
                         [](const auto& each) { return each.param.conv.name; });

INSTANTIATE_TEST_SUITE_P(All, ConvolutionOrder, ::testing::ValuesIn(measuredConvs()),
                         [](const auto& each) { return each.param.conv.name; });

// Whether PyTorch rounds to TF32 is not known before it is measured.
TEST(ConvolutionSeeds, AreOfBothModes) {
  const auto synthesizer = synthesizerOf({"", 2, 128, 8, 64, {1, 128, 128}, {1, 3, 3}});
  std::vector<std::int64_t> modes;
  for (const domain::Genome& seed : synthesizer->seeds()) {
    if (seed.regions.size() == 1 && seed.regions.front().pattern == "conv_wgmma" && seed.rewrites.empty()) {
      modes.push_back(seed.regions.front().parameters.at("mode"));
    }
  }
  ASSERT_GE(modes.size(), 2U);
  EXPECT_NE(modes[0], modes[1]);
  EXPECT_THAT(modes, ::testing::IsSupersetOf({1, 3}));
}

// Where windows overlap, rows are read once.
TEST(DepthwiseOrder, BeginsWithSharedRowsWhereNothingElseIsKnown) {
  const auto synthesizer =
      synthesizerOf({"", 2, 32, 128, 128, {1, 128, 256}, {1, 3, 7}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 128});
  EXPECT_EQ(synthesizer->seeds().front().regions.front().pattern, "direct_rows");
}

}  // namespace
}  // namespace swage::synth
