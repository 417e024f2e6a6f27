// SPDX-License-Identifier: Apache-2.0
// Poolings behind convolutions by wgmma, in the tiles of these, by the emulation. Numbers have few bits, so that what
// halves make of them is exact.
#include <gmock/gmock.h>

#include <functional>
#include <ostream>

#include "tests/core/synth/conv_folds.h"

namespace swage::synth {
namespace {

using domain::ScalarType;
using domain::ValueId;

enum class Kind : std::uint8_t { Maximum, Average, Adaptive };

// A window that does not overlap with others, behind a convolution.
struct Pooling {
  Conv conv;
  Kind kind = Kind::Maximum;
  Sizes window{1, 2, 2};

  [[nodiscard]] std::int64_t resultSize(std::size_t dim) const { return conv.resultSize(dim) / window[dim]; }
  [[nodiscard]] domain::Shape shape() const {
    return conv.shapeOf(conv.images, conv.outputs, {resultSize(0), resultSize(1), resultSize(2)});
  }
  friend void PrintTo(const Pooling& self, std::ostream* out) { *out << self.conv.name; }
};

ValueId addPool(GraphBuilder& b, ValueId x, const Pooling& p, ScalarType type = ScalarType::Float32) {
  const auto sizes = listArg(p.conv.shown(p.window));
  const std::string of = "pool" + std::to_string(p.conv.dims) + "d.default";
  if (p.kind == Kind::Adaptive) {
    const Sizes results{p.resultSize(0), p.resultSize(1), p.resultSize(2)};
    return b.call("aten.adaptive_max_" + of, {arg(x), listArg(p.conv.shown(results))}, p.shape(), type);
  }
  return b.call((p.kind == Kind::Average ? "aten.avg_" : "aten.max_") + of, {arg(x), sizes, sizes}, p.shape(), type);
}

// What each window makes of such elements.
Numbers pooled(const Pooling& p, const Numbers& x) {
  const Results results{p.conv, x};
  const std::int64_t count = p.resultSize(0) * p.resultSize(1) * p.resultSize(2);
  const std::int64_t places = p.window[0] * p.window[1] * p.window[2];
  Numbers want;
  for (std::int64_t i = 0; i < p.conv.images * p.conv.outputs * count; ++i) {
    const std::int64_t z = i / (p.resultSize(1) * p.resultSize(2)) % p.resultSize(0) * p.window[0];
    const std::int64_t y = i / p.resultSize(2) % p.resultSize(1) * p.window[1];
    const std::int64_t first = i % p.resultSize(2) * p.window[2];
    double of = p.kind == Kind::Average ? 0.0 : -kInfinity;
    for (std::int64_t k = 0; k < places; ++k) {
      const std::int64_t row =
          (z + k / (p.window[1] * p.window[2])) * p.conv.resultSize(1) + y + k / p.window[2] % p.window[1];
      const double each = results.at(0, static_cast<std::size_t>(i / count),
                                     static_cast<std::size_t>(row * p.conv.resultSize(2) + first + k % p.window[2]));
      of = p.kind == Kind::Average ? of + each / static_cast<double>(places)
           : std::isnan(each)      ? each
                                   : std::max(of, each);
    }
    want.push_back(of);
  }
  return want;
}

double hardswish(double x) {
  return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
}
double mish(double x) {
  return x * std::tanh(std::log1p(std::exp(x)));
}

// mish(pool(hardswish(conv - 0.5)))
domain::Graph graphOf(const Pooling& p, ScalarType type = ScalarType::Float32) {
  GraphBuilder b;
  const ValueId x = b.like("aten.sub.Tensor", addConvolution(b, p.conv, type), {arg(0.5)});
  b.output(b.like("aten.mish.default", addPool(b, b.like("aten.hardswish.default", x), p, type)));
  return b.graph();
}

Numbers wanted(const Pooling& p, const Operands& all) {
  Numbers x = convolved(p.conv, all);
  std::transform(x.begin(), x.end(), x.begin(), [](double each) { return hardswish(each - 0.5); });
  Numbers want = pooled(p, x);
  std::transform(want.begin(), want.end(), want.begin(), mish);
  return want;
}

domain::Program programOf(const domain::Graph& graph, const Conv& c) {
  return programBy(graph, "conv_wgmma", {kSmall, c.changes});
}

class PooledConvolutions : public ::testing::TestWithParam<Pooling> {};

TEST_P(PooledConvolutions, AreWhatTheirWindowsMakeOfThem) {
  const Pooling& p = GetParam();
  const Operands all = shortOperands(p.conv);
  EXPECT_LT(relativeError(run(programOf(graphOf(p), p.conv), all), wanted(p, all)), kExact);
}

const auto nameOf = [](const auto& each) { return std::string(each.param.conv.name); };

Conv named(const char* name, Conv c, const Changes& changes = {}) {
  c.name = name;
  for (const auto& [parameter, value] : changes) {
    c.changes[parameter] = value;
  }
  return c;
}

const Changes kRows{{"tile_width", 64}, {"tile_pixels", 128}};
const Changes kWide{{"tile_width", 16}, {"tile_pixels", 128}};
const Conv kLine{"", 1, 3, 16, 19, {1, 1, 81}, {1, 1, 5}, {1, 1, 1}, {0, 0, 3}, {1, 1, 2}, 1, kRow};
const Conv kEven{"", 2, 2, 16, 64, {1, 16, 16}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
const Conv kStrided{"", 2, 2, 16, 20, {1, 19, 23}, {1, 3, 3}, {1, 2, 2}, {0, 1, 0}};
const Conv kLongRows{"", 2, 2, 16, 20, {1, 6, 71}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
const Conv kPoint{"", 2, 2, 32, 24, {1, 10, 12}, {1, 1, 1}};
const Conv kThin{"", 2, 2, 3, 20, {1, 11, 12}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
const Conv kGroups{"", 2, 2, 32, 160, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 2};
const Conv kSmallGroups{"", 2, 2, 16, 12, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 4};
const Conv kDeep{"", 3, 2, 16, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 1}, {1, 0, 1}};
const Conv kBackwards = transposed({"", 2, 2, 16, 18, {1, 7, 6}, {1, 3, 4}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}, 1, {}});

INSTANTIATE_TEST_SUITE_P(
    Maximum, PooledConvolutions,
    ::testing::Values(Pooling{named("OfWholeTiles", kEven)}, Pooling{named("OfOddSizes", kPlain)},
                      Pooling{named("OfFewChannels", kFew)}, Pooling{named("OfTwoGroups", kMany)},
                      Pooling{named("WithStrides", kStrided)}, Pooling{named("InRows", kLongRows, kRows)},
                      Pooling{named("InTilesOf16", kLongRows, kWide)}, Pooling{named("OfPoints", kPoint)},
                      Pooling{named("OfGroupsOfChannels", kGroups)}, Pooling{named("OfSmallGroups", kSmallGroups)},
                      Pooling{named("OfTransposed", kBackwards)}, Pooling{named("OfThreeDimensions", kDeep)},
                      Pooling{named("OfALine", kLine), Kind::Maximum, {1, 1, 2}},
                      Pooling{named("Exact", kFew, {{"mode", 1}})}, Pooling{named("AwayFromZero", kFew, {{"mode", 6}})},
                      Pooling{named("OfTwins", kThin, {{"tile_depth", 4}})},
                      Pooling{named("OfPairs", kThin, {{"tile_depth", 8}})}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(Average, PooledConvolutions,
                         ::testing::Values(Pooling{named("OfOddSizes", kPlain), Kind::Average},
                                           Pooling{named("OfFewChannels", kFew), Kind::Average},
                                           Pooling{named("InRows", kLongRows, kRows), Kind::Average},
                                           Pooling{named("OfALine", kLine), Kind::Average, {1, 1, 2}},
                                           Pooling{named("Exact", kStrided, {{"mode", 1}}), Kind::Average}),
                         nameOf);

const Changes kSevenRows{{"tile_pixels", 56}};
const Changes kWholeRow{{"tile_width", 64}};
const Conv kLongLine{"", 1, 3, 16, 19, {1, 1, 200}, {1, 1, 5}};

INSTANTIATE_TEST_SUITE_P(
    Windows, PooledConvolutions,
    ::testing::Values(Pooling{named("AcrossAlone", kPlain), Kind::Maximum, {1, 1, 2}},
                      Pooling{named("OfFour", kEven), Kind::Maximum, {1, 4, 4}},
                      Pooling{named("OfFourAcross", kStrided), Kind::Average, {1, 2, 4}},
                      Pooling{named("OfEight", kEven), Kind::Average, {1, 8, 8}},
                      Pooling{named("OfEightInALine", kLine), Kind::Maximum, {1, 1, 8}},
                      Pooling{named("OfSevenRows", kEven, kSevenRows), Kind::Maximum, {1, 7, 4}},
                      Pooling{named("OfTileAfterTile", kLongLine, kWholeRow), Kind::Average, {1, 1, 64}},
                      Pooling{named("ByTheSizeOfResults", kEven), Kind::Adaptive, {1, 2, 4}}),
    nameOf);

TEST(PooledConvolution, TakesHalvesAsTheyAre) {
  const Pooling p{kFew};
  const domain::Program program = programBy(graphOf(p, ScalarType::Float16), "conv_wgmma", {kSmall, {{"mode", 0}}});
  const Operands all = shortOperands(p.conv);
  const auto got = runEmulated(program, {toBytes<Half>(all.x), toBytes<Half>(all.weight), toBytes<Half>(all.bias)});
  ASSERT_EQ(got.size(), 1U);
  EXPECT_LT(relativeError(toNumbers<Half>(got[0]), wanted(p, all)), kHalfError);
}

// What has a number for each position is read before the fold, and what has one for each window behind it.
TEST(PooledConvolution, ReadsPositionsAndWindows) {
  for (const Conv& c : {kFew, kStrided}) {
    const Pooling p{c};
    GraphBuilder b;
    const ValueId result = addConvolution(b, c);
    const ValueId before = b.input(resultShape(c, c.outputs));
    const ValueId behind = b.input(p.shape());
    b.output(b.add(addPool(b, b.add(result, before), p), behind));
    const domain::Program program = programOf(b.graph(), c);
    const Operands all = shortOperands(c);
    Numbers x = convolved(c, all);
    const Numbers first = randomNumbers(x.size(), 9);
    std::transform(first.begin(), first.end(), x.begin(), x.begin(), std::plus<>());
    Numbers want = pooled(p, x);
    const Numbers second = randomNumbers(want.size(), 10);
    std::transform(second.begin(), second.end(), want.begin(), want.begin(), std::plus<>());
    const auto got = runEmulated(program, {toBytes<float>(all.x), toBytes<float>(all.weight), toBytes<float>(all.bias),
                                           toBytes<float>(first), toBytes<float>(second)});
    ASSERT_EQ(got.size(), 1U);
    EXPECT_LT(relativeError(toNumbers<float>(got[0]), want), kExact);
  }
}

TEST(PooledConvolution, StoresSeveralResultsOfAWindow) {
  const Pooling p{kFew};
  GraphBuilder b;
  const ValueId found = addPool(b, addConvolution(b, p.conv), p);
  b.output(found);
  b.output(b.relu(found));
  const domain::Program program = programOf(b.graph(), p.conv);
  const Operands all = shortOperands(p.conv);
  const auto got = runEmulated(program, {toBytes<float>(all.x), toBytes<float>(all.weight), toBytes<float>(all.bias)});
  ASSERT_EQ(got.size(), 2U);
  Numbers want = pooled(p, convolved(p.conv, all));
  EXPECT_LT(relativeError(toNumbers<float>(got[0]), want), kExact);
  std::transform(want.begin(), want.end(), want.begin(), [](double x) { return std::max(x, 0.0); });
  EXPECT_LT(relativeError(toNumbers<float>(got[1]), want), kExact);
}

// A window with something that is no number is none, an infinity is the greatest, and elsewhere nothing changes.
TEST(PooledConvolution, SpreadsInfinityAndNanNoFurtherThanFloatDoes) {
  for (const Kind kind : {Kind::Maximum, Kind::Average}) {
    const Pooling p{{"", 2, 2, 16, 18, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}}, kind};
    Operands all = shortOperands(p.conv);
    all.x[5] = kInfinity;
    all.x[140] = kNan;
    all.weight[4] = kInfinity;  // which no edge meets
    GraphBuilder b;
    b.output(addPool(b, addConvolution(b, p.conv), p));
    const Numbers got = run(programOf(b.graph(), p.conv), all);
    const Numbers want = pooled(p, convolved(p.conv, all));
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i;
      if (std::isfinite(want[i])) {
        EXPECT_NEAR(got[i], want[i], 1e-4) << i;
      } else if (!std::isnan(want[i])) {
        EXPECT_EQ(got[i], want[i]) << i;
      }
    }
  }
}

struct Fault {
  const char* name;
  Pooling pooling;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class PoolFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(PoolFaults, CostMoreThanTf32Allows) {
  const Fault& fault = GetParam();
  domain::Program program = programOf(graphOf(fault.pooling), fault.pooling.conv);
  const std::string from = fault.from;
  const std::size_t at = program.source.find(from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, from.size(), fault.to);
  const Operands all = shortOperands(fault.pooling.conv);
  const double error = relativeError(run(program, all), wanted(fault.pooling, all));
  EXPECT_FALSE(error < 3e-3) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, PoolFaults,
    ::testing::Values(Fault{"ALostRow", Pooling{kPlain}, "below < 2", "below < 1"},
                      Fault{"ALostNeighbour", Pooling{kPlain}, "int s = 0; s < 2", "int s = 0; s < 1"},
                      Fault{"LanesThatDoNotMeet", Pooling{kEven, Kind::Average, {1, 4, 4}}, "of, 1)", "of, 2)"},
                      Fault{"ALostWindow", Pooling{kPlain}, "x_window < 3", "x_window < 2"}),
    [](const auto& each) { return std::string(each.param.name); });

// --- what cannot be folded in a tile has regions of its own
std::size_t fewestRegions(const domain::Graph& graph, const domain::DeviceInfo& device = cudaDevice()) {
  const auto synthesizer = Synthesizer::create(graph, device, emulatedCatalogue());
  return synthesizer ? seedsOfOurs(**synthesizer).at(0).regions.size() : 0;
}

// max_pool2d with these numbers, behind the convolution.
domain::Graph graphWith(const Conv& c, const Sizes& window, const Sizes& stride, const Sizes& padding, bool isCeiling,
                        const domain::Shape& shape) {
  GraphBuilder b;
  b.output(b.call("aten.max_pool2d.default",
                  {arg(addConvolution(b, c)), listArg(c.shown(window)), listArg(c.shown(stride)),
                   listArg(c.shown(padding)), listArg({1, 1}), arg(isCeiling)},
                  shape));
  return b.graph();
}

TEST(PooledConvolution, IsTriedWhereItFits) {
  EXPECT_EQ(fewestRegions(graphOf(Pooling{kPlain})), 1U);
  domain::DeviceInfo older = cudaDevice();
  older.computeCapability = 80;
  EXPECT_EQ(fewestRegions(graphOf(Pooling{kPlain}), older), 2U);
  // Windows of three across, or down alone; phases of a transposed convolution; a pooled depth.
  EXPECT_EQ(fewestRegions(graphOf(Pooling{kPlain, Kind::Maximum, {1, 2, 3}})), 2U);
  EXPECT_EQ(fewestRegions(graphOf(Pooling{kPlain, Kind::Maximum, {1, 2, 1}})), 2U);
  EXPECT_EQ(fewestRegions(graphOf(Pooling{kTransposed})), 2U);
  EXPECT_EQ(fewestRegions(graphOf(Pooling{kDeep, Kind::Maximum, {2, 2, 2}})), 2U);
}

TEST(PooledConvolution, LeavesOtherWindowsApart) {
  EXPECT_EQ(fewestRegions(graphWith(kEven, {1, 2, 2}, {1, 2, 2}, {}, false, {2, 64, 8, 8})), 1U);
  EXPECT_EQ(fewestRegions(graphWith(kEven, {1, 2, 2}, {1, 1, 1}, {}, false, {2, 64, 15, 15})), 2U);
  EXPECT_EQ(fewestRegions(graphWith(kEven, {1, 2, 2}, {1, 2, 2}, {0, 1, 1}, false, {2, 64, 9, 9})), 2U);
  EXPECT_EQ(fewestRegions(graphWith(kPlain, {1, 2, 2}, {1, 2, 2}, {}, false, {2, 64, 3, 3})), 1U);
  EXPECT_EQ(fewestRegions(graphWith(kPlain, {1, 2, 2}, {1, 2, 2}, {}, true, {2, 64, 4, 4})), 2U);
}

// Results that something else reads are stored, those at an odd end as well.
TEST(PooledConvolution, IsApartWhereTheConvolutionItselfIsRead) {
  for (const Conv& c : {kEven, kPlain}) {
    GraphBuilder b;
    const ValueId result = addConvolution(b, c);
    b.output(addPool(b, result, Pooling{c}));
    b.output(b.relu(result));
    EXPECT_EQ(fewestRegions(b.graph()), 2U);
  }
}

TEST(PooledConvolution, IsNotFoldedOnceMore) {
  for (const bool isPooledAgain : {false, true}) {
    GraphBuilder b;
    const ValueId found = addPool(b, addConvolution(b, kEven), Pooling{kEven});
    b.output(isPooledAgain ? b.call("aten.avg_pool2d.default", {arg(found), listArg({2, 2})}, {2, 64, 4, 4})
                           : b.call("aten.amax.default", {arg(found), listArg({1})}, {2, 8, 8}));
    EXPECT_EQ(fewestRegions(b.graph()), 2U);
  }
}

}  // namespace
}  // namespace swage::synth
