// SPDX-License-Identifier: Apache-2.0
// What convolutions by wgmma compute, by the emulation: patches, places of the window, planes, phases, scales.
#include <gmock/gmock.h>

#include <ostream>

#include "tests/core/synth/conv_cases.h"

namespace swage::synth {
namespace {

const Changes kSmall{{"mode", 3},        {"tile_columns", 64}, {"tile_pixels", 64}, {"tile_width", 8},
                     {"tile_depth", 16}, {"parts", 1},         {"bring_groups", 1}, {"blocks", 1}};

domain::Program programOf(const domain::Graph& graph, const Changes& changes,
                          const domain::DeviceInfo& device = cudaDevice()) {
  return programBy(graph, "conv_wgmma", {kSmall, changes}, device);
}

// With so little shared memory that weights cannot stay there.
domain::DeviceInfo narrowDevice() {
  domain::DeviceInfo device = cudaDevice();
  device.sharedBytesPerBlock = 24 << 10;
  device.multiprocessors = 3;
  return device;
}

class WgmmaConvolutions : public ::testing::TestWithParam<Conv> {};

TEST_P(WgmmaConvolutions, AreAsExactAsTf32) {
  const Conv& c = GetParam();
  const Operands all(c);
  EXPECT_LT(relativeError(run(programOf(graphOf(c), c.changes), all), wanted(c, all)), kHalfError);
}

const Changes kRow{{"tile_width", 0}};
const Changes kWide{{"tile_width", 16}, {"tile_pixels", 128}};
const Changes kVeryWide{{"tile_width", 32}, {"tile_pixels", 256}, {"bring_groups", 2}};
const Changes kRows{{"tile_width", 64}, {"tile_pixels", 128}};
const Changes kHalves{{"tile_width", 0}, {"tile_pixels", 256}};
const Changes kParts{{"parts", 2}, {"tile_columns", 128}};
const Changes kTwo{{"parts", 2}};
const Changes kTwoSteps{{"tile_width", 16}, {"tile_pixels", 64}};
const Changes kDeep{{"tile_depth", 32}, {"blocks", 2}};

INSTANTIATE_TEST_SUITE_P(
    All, WgmmaConvolutions,
    ::testing::Values(
        Conv{"OfOneImage", 2, 1, 16, 20, {1, 10, 11}, {1, 3, 3}},
        Conv{"WithPadding", 2, 2, 16, 64, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
        Conv{"OfOddChannels", 2, 2, 21, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
        Conv{"InRows", 2, 1, 16, 20, {1, 5, 70}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRow},
        Conv{"InTilesOf16", 2, 1, 16, 20, {1, 9, 18}, {1, 3, 5}, {1, 1, 1}, {0, 1, 2}, {1, 1, 1}, 1, kWide},
        Conv{"InTilesOf32", 2, 1, 16, 20, {1, 9, 33}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kVeryWide},
        Conv{"InTilesOfRows", 2, 2, 16, 20, {1, 5, 71}, {1, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRows},
        Conv{"InOddRows", 2, 2, 16, 20, {1, 4, 69}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRow},
        Conv{"InOddTilesOfRows", 2, 2, 16, 64, {1, 5, 133}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, kRows},
        Conv{"InSectors", 2, 1, 16, 64, {1, 8, 130}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, kRows},
        Conv{"InHalvesOfARow", 2, 1, 16, 20, {1, 4, 260}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kHalves},
        Conv{"InParts", 2, 3, 16, 70, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kParts},
        Conv{"OfManyChannels", 2, 1, 64, 20, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kDeep},
        Conv{"WithStrides", 2, 2, 16, 16, {1, 17, 19}, {1, 3, 2}, {1, 2, 3}, {0, 1, 0}},
        Conv{"Dilated", 2, 1, 16, 18, {1, 14, 15}, {1, 3, 3}, {1, 1, 2}, {0, 2, 1}, {1, 2, 3}},
        Conv{"InGroups", 2, 2, 48, 36, {1, 7, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 3},
        Conv{"InLargeGroups", 2, 1, 32, 96, {1, 7, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 2},
        Conv{"OfOneDimension", 1, 3, 16, 19, {1, 1, 80}, {1, 1, 5}, {1, 1, 1}, {0, 0, 3}, {1, 1, 2}, 1, kRow},
        Conv{"OfThreeDimensions", 3, 1, 16, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}},
        Conv{"OfThreeDimensionsInParts", 3, 2, 16, 16, {3, 6, 7}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, kTwo},
        Conv{"Pointwise", 2, 2, 32, 24, {1, 8, 9}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, kRow}),
    [](const auto& each) { return each.param.name; });

// cuDNN's kernels differ in it.
TEST(WgmmaConvolution, RoundsTiesAsItsModeSays) {
  const Conv c{"", 2, 1, 16, 20, {1, 10, 11}, {1, 3, 3}};
  EXPECT_TRUE(roundsTies(programOf(graphOf(c), {{"mode", 3}}), c, Ties::ToEven));
  EXPECT_TRUE(roundsTies(programOf(graphOf(c), {{"mode", 6}}), c, Ties::Away));
}

Changes paired(Changes more = {}) {
  more.insert({"tile_depth", 8});
  return more;
}

// Of 8 channels two places of the window are multiplied at once.
INSTANTIATE_TEST_SUITE_P(
    InPairs, WgmmaConvolutions,
    ::testing::Values(
        Conv{"OfOneImage", 2, 1, 8, 20, {1, 10, 11}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired()},
        Conv{"OfTwoSteps", 2, 1, 13, 20, {1, 8, 9}, {1, 3, 2}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired()},
        Conv{"WithStrides", 2, 2, 3, 16, {1, 17, 19}, {1, 3, 5}, {1, 2, 3}, {0, 1, 2}, {1, 1, 1}, 1, paired()}),
    [](const auto& each) { return each.param.name; });

class ExactWgmmaConvolutions : public ::testing::TestWithParam<Conv> {};

// Floats as two halves.
TEST_P(ExactWgmmaConvolutions, AreAsExactAsFloat) {
  Conv c = GetParam();
  c.changes.insert({"mode", 1});
  const Operands all(c);
  EXPECT_LT(relativeError(run(programOf(graphOf(c), c.changes), all), wanted(c, all)), kFloatError);
}

INSTANTIATE_TEST_SUITE_P(
    All, ExactWgmmaConvolutions,
    ::testing::Values(
        Conv{"OfOneImage", 2, 1, 16, 20, {1, 10, 11}, {1, 3, 3}},
        Conv{"OfOddChannels", 2, 2, 21, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
        Conv{"InRows", 2, 1, 16, 20, {1, 5, 70}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRow},
        Conv{"InParts", 2, 3, 16, 70, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kTwo},
        Conv{"OfManyChannels", 2, 1, 64, 20, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kDeep},
        Conv{"OfThreeDimensions", 3, 1, 16, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}},
        Conv{"Pointwise", 2, 2, 32, 24, {1, 8, 9}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, kRow},
        transposed({"Transposed", 2, 2, 16, 18, {1, 7, 6}, {1, 3, 4}, {1, 2, 2}, {0, 1, 0}}),
        transposed(
            {"TransposedInSteps", 2, 2, 32, 36, {1, 6, 17}, {1, 3, 5}, {1, 2, 3}, {0, 1, 2}, {1, 2, 1}, 2, kTwoSteps})),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    InPairs, ExactWgmmaConvolutions,
    ::testing::Values(
        Conv{"OfOneImage", 2, 1, 8, 20, {1, 10, 11}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired()},
        Conv{"OfTwoSteps", 2, 2, 13, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired()},
        Conv{"InTilesOfRows", 2, 2, 8, 20, {1, 5, 71}, {1, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired(kRows)},
        Conv{
            "InHalvesOfARow", 2, 1, 6, 20, {1, 4, 260}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired(kHalves)},
        Conv{"OfWideWindows", 2, 2, 3, 16, {1, 17, 19}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {1, 1, 1}, 1, paired()},
        Conv{"Dilated", 2, 1, 8, 18, {1, 14, 15}, {1, 3, 3}, {1, 1, 2}, {0, 2, 1}, {1, 2, 3}, 1, paired()},
        Conv{"OfThreeDimensions", 3, 1, 3, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}, {1, 1, 1}, 1, paired(kTwo)},
        Conv{"Pointwise", 2, 1, 8, 16, {1, 8, 8}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, paired(kRow)},
        transposed({"Transposed", 2, 1, 8, 17, {1, 7, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}, 1, paired()})),
    [](const auto& each) { return each.param.name; });

Changes twins(Changes more = {}) {
  more.insert({"tile_depth", 4});
  return more;
}

// Of at most 4 channels those of two places of the window are 8 numbers.
INSTANTIATE_TEST_SUITE_P(
    OfTwins, ExactWgmmaConvolutions,
    ::testing::Values(
        Conv{"WithPadding", 2, 2, 3, 20, {1, 9, 10}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, twins()},
        Conv{"OfWideWindows", 2, 2, 3, 16, {1, 17, 19}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {1, 1, 1}, 1, twins()},
        Conv{"OfThreeDimensions", 3, 1, 3, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}, {1, 1, 1}, 1, twins(kTwo)},
        Conv{"OfEvenWindows", 2, 1, 4, 40, {1, 9, 21}, {1, 2, 4}, {1, 1, 1}, {0, 1, 2}, {1, 1, 3}, 1, twins()},
        Conv{"OfOneDimension", 1, 2, 2, 19, {1, 1, 200}, {1, 1, 5}, {1, 1, 3}, {0, 0, 3}, {1, 1, 2}, 1, twins(kRow)},
        transposed({"Transposed", 2, 1, 3, 17, {1, 7, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}, 1, twins()})),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Transposed, WgmmaConvolutions,
    ::testing::Values(
        transposed({"WithoutStride", 2, 2, 16, 17, {1, 7, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 0}}),
        transposed({"WithStrides", 2, 2, 16, 18, {1, 7, 6}, {1, 3, 4}, {1, 2, 2}, {0, 1, 0}}),
        transposed({"InGroups", 2, 1, 32, 36, {1, 5, 6}, {1, 5, 3}, {1, 3, 2}, {0, 2, 1}, {1, 1, 1}, 2}),
        transposed({"OfThreeDimensions",
                    3,
                    1,
                    16,
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
        transposed({"OfWindowsBelowTheStride", 2, 1, 16, 16, {1, 5, 5}, {1, 2, 2}, {1, 3, 3}}),
        transposed({"DilatedByTheStride", 2, 2, 16, 20, {1, 5, 9}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 2, 2}}),
        transposed(
            {"DilatedInLongRows", 1, 3, 16, 64, {1, 1, 150}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}, {1, 1, 2}, 1, kRow}),
        transposed({"OfPhasesOfTheResults",
                    2,
                    2,
                    16,
                    20,
                    {1, 6, 9},
                    {1, 3, 3},
                    {1, 2, 2},
                    {0, 1, 1},
                    {1, 1, 1},
                    1,
                    {},
                    true,
                    {0, 1, 1}}),
        transposed({"OfPhasesOfTheResultsWithMorePlaces", 2, 2, 16, 20, {1, 6, 9}, {1, 4, 5}, {1, 2, 3}, {0, 1, 2}}),
        transposed({"OfPhasesOfTheResultsInThreeDimensions",
                    3,
                    1,
                    32,
                    16,
                    {3, 6, 9},
                    {3, 3, 3},
                    {2, 2, 2},
                    {1, 1, 1},
                    {1, 1, 1},
                    1,
                    {},
                    true,
                    {1, 1, 1}}),
        transposed({"DilatedAcrossPhases", 2, 1, 16, 18, {1, 4, 9}, {1, 3, 3}, {1, 5, 5}, {0, 1, 1}, {1, 2, 2}}),
        transposed(
            {"OfOtherStrides", 2, 2, 32, 36, {1, 6, 17}, {1, 3, 5}, {1, 2, 3}, {0, 1, 2}, {1, 2, 1}, 2, kTwoSteps})),
    [](const auto& each) { return each.param.name; });

Changes ahead(Changes more = {}, std::int64_t rounds = 2) {
  more.insert({"ahead", rounds});
  return more;
}

// Numbers are on their way while those before them are stored: over steps, rests of tiles, tiles and windows far out.
INSTANTIATE_TEST_SUITE_P(
    Ahead, WgmmaConvolutions,
    ::testing::Values(
        Conv{"OfOneImage", 2, 1, 16, 20, {1, 10, 11}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, ahead({}, 2)},
        Conv{"OfOddChannels", 2, 2, 21, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, ahead({}, 3)},
        Conv{"OfManyChannels", 2, 1, 64, 20, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, ahead(kDeep, 2)},
        Conv{"InHalvesOfARow",
             2,
             1,
             48,
             20,
             {1, 4, 260},
             {1, 3, 3},
             {1, 1, 1},
             {0, 1, 1},
             {1, 1, 1},
             1,
             ahead(kHalves, 3)},
        Conv{"OfThreeDimensions",
             3,
             2,
             32,
             16,
             {3, 6, 7},
             {3, 3, 3},
             {2, 1, 1},
             {1, 1, 1},
             {1, 1, 1},
             1,
             ahead(kTwo, 3)},
        Conv{"OfTwins", 2, 2, 3, 16, {1, 17, 19}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {1, 1, 1}, 1, ahead(twins(), 2)},
        Conv{"OfShortTiles", 2, 40, 32, 16, {1, 4, 4}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, ahead({}, 3)},
        transposed({"Transposed",
                    2,
                    2,
                    32,
                    36,
                    {1, 6, 17},
                    {1, 3, 5},
                    {1, 2, 3},
                    {0, 1, 2},
                    {1, 2, 1},
                    2,
                    ahead(kTwoSteps, 3)})),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Ahead, ExactWgmmaConvolutions,
    ::testing::Values(
        Conv{"OfManyChannels", 2, 1, 64, 20, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, ahead(kDeep, 2)},
        Conv{"InPairs", 2, 2, 13, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, ahead(paired(), 3)},
        Conv{"Pointwise", 2, 2, 32, 24, {1, 8, 9}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1, ahead(kRow, 3)}),
    [](const auto& each) { return each.param.name; });

// Weights come in turns, more often than there are places for them.
TEST(WgmmaConvolution, BringsWeightsThatDoNotFit) {
  for (const Conv& c : {Conv{"", 2, 2, 64, 70, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
                        Conv{"", 3, 1, 32, 16, {3, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}}}) {
    const Operands all(c);
    const auto program = programOf(graphOf(c), {}, narrowDevice());
    EXPECT_NE(program.source.find("come by the copy engine"), std::string::npos);
    EXPECT_LT(relativeError(run(program, all), wanted(c, all)), kHalfError);
  }
}

void expectHalves(const Conv& c, const domain::DeviceInfo& device) {
  Operands all(c);
  std::vector<Bytes> inputs;
  for (Numbers* numbers : {&all.x, &all.weight, &all.bias}) {
    inputs.push_back(toBytes<Half>(*numbers));
    *numbers = toNumbers<Half>(inputs.back());
  }
  Changes changes = c.changes;
  changes.insert({"mode", 0});
  const auto program = programOf(graphOf(c, domain::ScalarType::Float16), changes, device);
  const auto results = runEmulated(program, inputs);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_LT(relativeError(toNumbers<Half>(results[0]), wanted(c, all)), kHalfError);
}

TEST(WgmmaConvolution, TakesHalvesAsTheyAre) {
  Conv c{"", 2, 2, 24, 20, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  expectHalves(c, cudaDevice());
  expectHalves(c, narrowDevice());
  for (const std::int64_t width : {33, 34, 36}) {
    expectHalves({"", 2, 2, 16, 20, {1, 9, width}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kVeryWide},
                 cudaDevice());
  }
  c.inputs = 3;
  for (const Changes& changes : {paired(), twins()}) {
    c.changes = changes;
    expectHalves(c, cudaDevice());
  }
}

// Floats where a thread can store four of them, and shared memory has room beside weights and patches.
TEST(WgmmaConvolution, StoresLongRowsThroughSharedMemory) {
  const auto sourceOf = [](std::int64_t width, const domain::DeviceInfo& device) {
    const Conv c{"", 2, 1, 16, 20, {1, 9, width}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kVeryWide};
    return programOf(graphOf(c), c.changes, device).source;
  };
  const auto storesRows = ::testing::HasSubstr("A warp stores 32 positions of a channel side by side.");
  EXPECT_THAT(sourceOf(36, cudaDevice()), storesRows);
  EXPECT_THAT(sourceOf(34, cudaDevice()), ::testing::Not(storesRows));
  domain::DeviceInfo full = cudaDevice();
  full.sharedBytesPerBlock = 56 << 10;
  EXPECT_THAT(sourceOf(36, full), ::testing::Not(storesRows));
}

// Tiles whose largest input is far from 1 are made again with a scale.
void expectAnySize(const Conv& c, const domain::DeviceInfo& device, double limit) {
  for (const int exponent : {20, -100}) {
    Operands all(c);
    for (std::size_t i = 0; i < all.x.size(); ++i) {
      all.x[i] = std::ldexp(all.x[i], i < all.x.size() / 2 ? exponent : exponent / 2);
    }
    std::fill(all.bias.begin(), all.bias.end(), 0.0);
    const Numbers got = run(programOf(graphOf(c), c.changes, device), all);
    const Numbers want = wanted(c, all);
    const auto half = static_cast<std::ptrdiff_t>(want.size() / 2);
    ASSERT_EQ(got.size(), want.size());
    EXPECT_LT(relativeError({got.begin(), got.begin() + half}, {want.begin(), want.begin() + half}), limit);
    EXPECT_LT(relativeError({got.begin() + half, got.end()}, {want.begin() + half, want.end()}), limit);
  }
}

TEST(WgmmaConvolution, KeepsInputsOfAnySize) {
  Conv c{"", 2, 2, 32, 16, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  for (const domain::DeviceInfo& device : {cudaDevice(), narrowDevice()}) {
    expectAnySize(c, device, kHalfError);
    c.changes = {{"mode", 1}};
    expectAnySize(c, device, kFloatError);
    c.changes.clear();
  }
  for (const Changes& changes : {ahead({}, 2), ahead({}, 3)}) {
    c.changes = changes;
    expectAnySize(c, cudaDevice(), kHalfError);
  }
  c.changes = paired({{"mode", 1}});
  expectAnySize(c, cudaDevice(), kFloatError);
}

// Numbers far below the largest of their tile have a part of it as their error, which is small enough.
TEST(WgmmaConvolution, KeepsSmallInputsBesideLargeOnes) {
  const Conv c{"",        2,         1,         8,         16, {1, 8, 32},
               {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1,  paired({{"mode", 1}, {"tile_width", 32}})};
  Operands all(c);
  for (std::size_t i = 0; i < all.x.size(); ++i) {
    all.x[i] = std::ldexp(all.x[i], i % 32 < 16 ? -8 : 3);
  }
  std::fill(all.bias.begin(), all.bias.end(), 0.0);
  const Numbers got = run(programOf(graphOf(c), c.changes), all);
  const Numbers want = wanted(c, all);
  ASSERT_EQ(got.size(), want.size());
  Numbers small[2];
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (i % 32 < 15) {
      small[0].push_back(got[i]);
      small[1].push_back(want[i]);
    }
  }
  EXPECT_LT(relativeError(small[0], small[1]), kFloatError);
}

class OddNumbers : public ::testing::TestWithParam<Changes> {};

TEST_P(OddNumbers, AreSpreadNoFurtherThanFloatDoes) {
  const Conv c{"", 2, 1, 32, 18, {1, 12, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 2};
  Operands all(c);
  all.x[5] = kInfinity;
  all.x[140] = kNan;
  all.x[700] = -kInfinity;
  all.weight[3] = 0.0;
  all.weight[16 * 9 * 4 + 4] = kInfinity;
  const Numbers got = run(programOf(graphOf(c), GetParam()), all);
  const Numbers want = wanted(c, all);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i;
    EXPECT_EQ(std::isinf(got[i]), std::isinf(want[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OddNumbers,
                         ::testing::Values(Changes{}, kVeryWide, Changes{{"mode", 1}}, paired({{"mode", 1}})));

// A place behind the window's end has a weight of zero, and what lies there must not count.
TEST(WgmmaConvolution, SpreadsOddNumbersOfTwinsNoFurther) {
  const Conv c{"", 2, 1, 3, 18, {1, 9, 12}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
  Operands all(c);
  all.x[5] = kInfinity;
  all.x[140] = kNan;
  EXPECT_EQ(firstDifference(run(programOf(graphOf(c), twins({{"mode", 1}})), all), wanted(c, all), 1e-5), "");
}

// A tile of 64 channels has 46 that are not there, and threads of these add up sums anew, too.
TEST(WgmmaConvolution, ReadsNoBiasOfChannelsThatAreNotThere) {
  const Conv c = transposed({"", 2, 1, 16, 18, {1, 6, 9}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}});
  const std::string source = programOf(graphOf(c), {}).source;
  EXPECT_THAT(source, ::testing::HasSubstr(" = input2[channel];"));
  const std::size_t anew = source.find("is added up anew");
  ASSERT_NE(anew, std::string::npos);
  EXPECT_LT(source.find("const auto finish", anew), source.find("input2[", anew)) << source;
}

// A phase has nothing of what other phases meet.
TEST(WgmmaConvolution, SpreadsNanInItsPhaseAlone) {
  const Conv c = transposed({"", 2, 1, 16, 18, {1, 6, 9}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}});
  Operands all(c);
  all.x[5] = kInfinity;
  all.x[140] = kNan;
  const Numbers got = run(programOf(graphOf(c), {}), all);
  const Numbers want = wanted(c, all);
  ASSERT_EQ(got.size(), want.size());
  EXPECT_GT(std::count_if(want.begin(), want.end(), [](double x) { return std::isnan(x); }), 0);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i;
    EXPECT_EQ(std::isinf(got[i]), std::isinf(want[i])) << i;
    EXPECT_EQ(std::isinf(got[i]), std::isinf(want[i])) << i;
  }
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class WgmmaConvolutionFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(WgmmaConvolutionFaults, CostMoreThanTf32Allows) {
  const Conv c{"", 2, 1, 32, 80, {1, 10, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 2};
  const Operands all(c);
  domain::Program program = programOf(graphOf(c), {});
  const std::size_t at = program.source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const double error = relativeError(run(program, all), wanted(c, all));
  EXPECT_FALSE(error < 3e-3) << error;
}

class ExactWgmmaConvolutionFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(ExactWgmmaConvolutionFaults, CostMoreThanFloatAllows) {
  const Conv c{"", 2, 1, 24, 20, {1, 10, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, paired({{"mode", 1}})};
  const Operands all(c);
  domain::Program program = programOf(graphOf(c), c.changes);
  const std::size_t at = program.source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const double error = relativeError(run(program, all), wanted(c, all));
  EXPECT_FALSE(error < 3e-6) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, ExactWgmmaConvolutionFaults,
    ::testing::Values(Fault{"HalvesThatAreMixedUp", "left + i * 256 + 64, right", "left + i * 256, right"},
                      Fault{"ALowHalfThatIsLost", "low[e] = packLow(", "low[e] = 0 * packLow("},
                      Fault{"AScaleThatIsNotUndone", "* unscale", "* (unscale * 1.00001f)"},
                      Fault{"APlaceThatIsNotItsPairs", "2 + (8 << 16)", "2 + (7 << 16)"},
                      Fault{"PromotionThatIsLeftOut", "sum[c][i] += recent[c][i]", "sum[c][i] = recent[c][i]"}),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(All, WgmmaConvolutionFaults,
                         ::testing::Values(Fault{"ALostEdge", "inside(x_in, 9)", "inside(x_in, 8)"},
                                           Fault{"AChannelGroupThatIsSkipped", "batch * 9216LL", "0 * 9216LL"},
                                           Fault{"ALostPlaceOfTheWindow", "+ (x_place)) * 16", "+ (x_place / 2)) * 16"},
                                           Fault{"ARowThatIsMixedUp", "(y_place)) * 10", "(y_place)) * 9"}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
