// SPDX-License-Identifier: Apache-2.0
// What convolutions by wgmma fold of their results, by the emulation: channels in the tile, positions by a kernel that
// joins what tiles have found. Numbers have few bits, so that what halves make of them is exact.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <ostream>

#include "tests/core/synth/conv_folds.h"

namespace swage::synth {
namespace {

using domain::ValueId;

// One fold: what the model does with the convolution, and what that is.
struct LaterFold {
  const char* name;
  std::function<ValueId(GraphBuilder&, ValueId, const Conv&)> add;
  std::function<Numbers(const Results&)> want;
};

domain::Graph graphOf(const Conv& c, const LaterFold& fold) {
  GraphBuilder b;
  const ValueId result = addConvolution(b, c);
  b.output(fold.add(b, result, c));
  return b.graph();
}

domain::Program programOf(const Conv& c, const LaterFold& fold) {
  return programBy(graphOf(c, fold), "conv_wgmma", {kSmall, c.changes});
}

double errorOf(const Conv& c, const LaterFold& fold, const domain::Program& program) {
  const Operands all = shortOperands(c);
  return relativeError(run(program, all), fold.want({c, convolved(c, all)}));
}

std::vector<std::int64_t> positionDims(const Conv& c) {
  std::vector<std::int64_t> dims;
  for (int dim = 0; dim < c.dims; ++dim) {
    dims.push_back(dim + 2);
  }
  return dims;
}

// For each position, from all its channels.
Numbers overChannels(const Results& r, const std::function<double(const Numbers&)>& fold) {
  Numbers want;
  for (std::size_t image = 0; image < r.images(); ++image) {
    for (std::size_t i = 0; i < r.count(); ++i) {
      Numbers all;
      for (std::size_t channel = 0; channel < r.channels(); ++channel) {
        all.push_back(r.at(image, channel, i));
      }
      want.push_back(fold(all));
    }
  }
  return want;
}

double leastOf(const Numbers& numbers) {
  return *std::min_element(numbers.begin(), numbers.end());
}
double largestOf(const Numbers& numbers) {
  return *std::max_element(numbers.begin(), numbers.end());
}
double logSumExpOf(const Numbers& numbers) {
  const double largest = largestOf(numbers);
  return std::accumulate(numbers.begin(), numbers.end(), 0.0,
                         [&](double sum, double x) { return sum + std::exp(x - largest); });
}

const LaterFold kMinimum{"Minimum",
                         [](GraphBuilder& b, ValueId x, const Conv& c) {
                           const auto values = b.node("aten.min.dim", {arg(x), arg(1), arg(true)},
                                                      {{resultShape(c, 1), domain::ScalarType::Float32},
                                                       {resultShape(c, 1), domain::ScalarType::Int64}});
                           b.dropResult(1);
                           return b.like("aten.tanh.default", b.mul(values[0], 0.0625));
                         },
                         [](const Results& r) {
                           return overChannels(r, [](const Numbers& all) { return std::tanh(leastOf(all) * 0.0625); });
                         }};

const LaterFold kMaximumOfScaled{
    "MaximumOfRelu",
    [](GraphBuilder& b, ValueId x, const Conv& c) {
      return b.call("aten.amax.default", {arg(b.mul(b.relu(x), 0.5)), listArg({1}), arg(true)}, resultShape(c, 1));
    },
    [](const Results& r) {
      return overChannels(r, [](const Numbers& all) { return 0.5 * std::max(0.0, largestOf(all)); });
    }};

const LaterFold kMean{"Mean",
                      [](GraphBuilder& b, ValueId x, const Conv& c) {
                        return b.call("aten.mean.dim", {arg(b.mul(x, x)), listArg({1}), arg(true)}, resultShape(c, 1));
                      },
                      [](const Results& r) {
                        return overChannels(r, [](Numbers all) {
                          for (double& x : all) {
                            x *= x;
                          }
                          return sumOf(all) / static_cast<double>(all.size());
                        });
                      }};

const LaterFold kLogSumExp{
    "LogSumExp",
    [](GraphBuilder& b, ValueId x, const Conv& c) {
      return b.call("aten.logsumexp.default", {arg(x), listArg({1}), arg(true)}, resultShape(c, 1));
    },
    [](const Results& r) {
      return overChannels(r, [](const Numbers& all) { return largestOf(all) + std::log(logSumExpOf(all)); });
    }};

const LaterFold kSoftmax{"Softmax",
                         [](GraphBuilder& b, ValueId x, const Conv&) {
                           return b.like("aten.sigmoid.default", b.mul(b.softmax(b.mul(x, 0.25), 1), 2.0));
                         },
                         [](const Results& r) {
                           Numbers scaled = r.values;
                           for (double& x : scaled) {
                             x *= 0.25;
                           }
                           const Results all{r.conv, scaled};
                           const Numbers largest = overChannels(all, largestOf);
                           const Numbers sums = overChannels(all, logSumExpOf);
                           Numbers want;
                           for (std::size_t i = 0; i < scaled.size(); ++i) {
                             const std::size_t at = i / r.count() / r.channels() * r.count() + i % r.count();
                             const double share = std::exp(scaled[i] - largest[at]) / sums[at];
                             want.push_back(1.0 / (1.0 + std::exp(-2.0 * share)));
                           }
                           return want;
                         }};

// The deviations from the mean of all channels: two folds, and results beside what is one for all.
const LaterFold kDeviation{"Deviation",
                           [](GraphBuilder& b, ValueId x, const Conv& c) {
                             domain::Shape shape = resultShape(c, 1);
                             shape.erase(shape.begin() + 1);
                             return b.call("aten.var.correction", {arg(x), listArg({1})}, shape);
                           },
                           [](const Results& r) { return overChannels(r, varianceOf); }};

// What is stored is computed from two folds of one stage.
const LaterFold kRange{
    "Range",
    [](GraphBuilder& b, ValueId x, const Conv& c) {
      const auto extreme = [&](const char* op) {
        return b.call(op, {arg(x), listArg({1}), arg(true)}, resultShape(c, 1));
      };
      return b.like("aten.sub.Tensor", extreme("aten.amax.default"), {arg(extreme("aten.amin.default"))});
    },
    [](const Results& r) { return overChannels(r, [](const Numbers& all) { return largestOf(all) - leastOf(all); }); }};

// Of each channel of an image, from all positions.
Numbers overPositions(const Results& r, const std::function<double(const Numbers&)>& fold) {
  Numbers want;
  for (std::size_t plane = 0; plane < r.images() * r.channels(); ++plane) {
    const auto first = r.values.begin() + static_cast<std::ptrdiff_t>(plane * r.count());
    want.push_back(fold({first, first + static_cast<std::ptrdiff_t>(r.count())}));
  }
  return want;
}

domain::Shape pooledShape(const Conv& c) {
  return c.shapeOf(c.images, c.outputs, {1, 1, 1});
}

const LaterFold kPooled{
    "GlobalAverage",
    [](GraphBuilder& b, ValueId x, const Conv& c) {
      return b.mul(b.call("aten.adaptive_avg_pool" + std::to_string(c.dims) + "d.default",
                          {arg(b.relu(x)), listArg(std::vector<std::int64_t>(static_cast<std::size_t>(c.dims), 1))},
                          pooledShape(c)),
                   3.0);
    },
    [](const Results& r) {
      return overPositions(r, [](Numbers all) {
        for (double& x : all) {
          x = std::isnan(x) ? x : std::max(0.0, x);
        }
        return 3.0 * sumOf(all) / static_cast<double>(all.size());
      });
    }};

const LaterFold kLargest{
    "LargestPosition",
    [](GraphBuilder& b, ValueId x, const Conv& c) {
      return b.call("aten.amax.default", {arg(x), listArg(positionDims(c))}, {c.images, c.outputs});
    },
    [](const Results& r) { return overPositions(r, largestOf); }};

const LaterFold kSumOfImage{"SumOfImage",
                            [](GraphBuilder& b, ValueId x, const Conv& c) {
                              std::vector<std::int64_t> dims = positionDims(c);
                              dims.insert(dims.begin(), 1);
                              return b.call("aten.sum.dim_IntList", {arg(b.mul(x, x)), listArg(dims)}, {c.images});
                            },
                            [](const Results& r) {
                              Numbers want(r.images());
                              for (std::size_t i = 0; i < r.values.size(); ++i) {
                                want[i / r.count() / r.channels()] += r.values[i] * r.values[i];
                              }
                              return want;
                            }};

const LaterFold kVariance{
    "VarianceFarFromZero",
    [](GraphBuilder& b, ValueId x, const Conv& c) {
      const auto far = b.like("aten.add.Tensor", x, {arg(300.0)});
      return b.call("aten.var.correction", {arg(far), listArg(positionDims(c))}, {c.images, c.outputs});
    },
    [](const Results& r) { return overPositions(r, varianceOf); }};

struct Case {
  Conv conv;
  const LaterFold* fold;
  friend void PrintTo(const Case& self, std::ostream* out) { *out << self.fold->name << " of " << self.conv.name; }
};

class FoldedConvolutions : public ::testing::TestWithParam<Case> {};

TEST_P(FoldedConvolutions, AreWhatTheirFoldsMakeOfThem) {
  const auto& [conv, fold] = GetParam();
  const double allowed = fold == &kVariance ? 3e-4 : kExact;
  EXPECT_LT(errorOf(conv, *fold, programOf(conv, *fold)), allowed);
}

const auto nameOf = [](const auto& each) { return std::string(each.param.fold->name) + each.param.conv.name; };

const Changes kRows{{"tile_width", 64}, {"tile_pixels", 128}};
const Changes kWide{{"tile_width", 16}, {"tile_pixels", 128}};
const Changes kBoth{{"tile_columns", 128}};

const Conv kTiles{"InTilesOfRows", 2, 2, 16, 20, {1, 5, 71}, {1, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRows};
const Conv kSquare{"InTilesOf16", 2, 1, 16, 20, {1, 9, 18}, {1, 3, 5}, {1, 1, 1}, {0, 1, 2}, {1, 1, 1}, 1, kWide};
const Conv kOne{"OfOneDimension", 1, 3, 16, 19, {1, 1, 80}, {1, 1, 5}, {1, 1, 1}, {0, 0, 3}, {1, 1, 2}, 1, kRow};
const Conv kTransposedMany = transposed({"OfPhasesInTwoGroups",
                                         2,
                                         1,
                                         16,
                                         100,
                                         {1, 7, 6},
                                         {1, 4, 4},
                                         {1, 2, 2},
                                         {0, 1, 1},
                                         {1, 1, 1},
                                         1,
                                         kBoth,
                                         true,
                                         {0, 1, 1}});
const Conv kTransposedThree = transposed(
    {"OfPhasesInThree", 3, 1, 16, 16, {3, 4, 5}, {3, 3, 2}, {2, 2, 2}, {1, 0, 1}, {1, 1, 1}, 1, {}, true, {1, 1, 0}});

INSTANTIATE_TEST_SUITE_P(Channels, FoldedConvolutions,
                         ::testing::Values(Case{kPlain, &kMinimum}, Case{kFew, &kMinimum}, Case{kMany, &kMinimum},
                                           Case{kTransposed, &kMinimum}, Case{kFew, &kMaximumOfScaled},
                                           Case{kLong, &kMaximumOfScaled}, Case{kPlain, &kMean}, Case{kTiles, &kMean},
                                           Case{kThree, &kMean}, Case{kFew, &kLogSumExp}, Case{kOne, &kLogSumExp},
                                           Case{kPlain, &kSoftmax}, Case{kMany, &kSoftmax}, Case{kSquare, &kSoftmax},
                                           Case{kTransposed, &kSoftmax}, Case{kTransposedMany, &kSoftmax},
                                           Case{kTransposedThree, &kSoftmax}, Case{kFew, &kDeviation},
                                           Case{kFew, &kRange}, Case{kMany, &kRange}),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(
    Positions, FoldedConvolutions,
    ::testing::Values(Case{kPlain, &kPooled}, Case{kFew, &kPooled}, Case{kMany, &kPooled}, Case{kLong, &kPooled},
                      Case{kTiles, &kPooled}, Case{kOne, &kPooled}, Case{kThree, &kPooled}, Case{kTransposed, &kPooled},
                      Case{kTransposedThree, &kPooled}, Case{kFew, &kLargest}, Case{kTransposedMany, &kLargest},
                      Case{kFew, &kSumOfImage}, Case{kMany, &kSumOfImage}, Case{kThree, &kSumOfImage},
                      Case{kFew, &kVariance}, Case{kTiles, &kVariance}, Case{kTransposed, &kVariance}),
    nameOf);

// A fold of no number is none, and of an infinity what floats make of it; elsewhere nothing changes.
TEST(FoldedConvolution, SpreadsInfinityAndNanNoFurtherThanFloatDoes) {
  for (const LaterFold* fold : {&kMinimum, &kSoftmax, &kPooled}) {
    const Conv c{"", 2, 2, 16, 18, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
    Operands all = shortOperands(c);
    all.x[5] = kInfinity;
    all.x[140] = kNan;
    all.weight[4] = kInfinity;  // which no edge meets
    const Numbers got = run(programOf(c, *fold), all);
    const Results results{c, convolved(c, all)};
    const Numbers want = fold->want(results);
    ASSERT_EQ(got.size(), want.size()) << fold->name;
    for (std::size_t i = 0; i < want.size(); ++i) {
      // The reference's minimum may step over what is no number.
      const std::size_t at = fold == &kMinimum ? i / results.count() * results.channels() * results.count() : i;
      bool isNumber = !std::isnan(want[i]);
      for (std::size_t channel = 0; fold == &kMinimum && channel < results.channels(); ++channel) {
        isNumber = isNumber && !std::isnan(results.values[at + channel * results.count() + i % results.count()]);
      }
      EXPECT_EQ(std::isnan(got[i]), !isNumber) << fold->name << " " << i;
    }
  }
}

// What is read at each position is read where there is one alone.
TEST(FoldedConvolution, FoldsWhatIsAddedToResults) {
  const Conv& c = kFew;
  GraphBuilder b;
  const ValueId result = addConvolution(b, c);
  const ValueId more = b.input(resultShape(c, c.outputs));
  b.output(b.call("aten.amax.default", {arg(b.add(result, more)), listArg({1}), arg(true)}, resultShape(c, 1)));
  const domain::Program program = programBy(b.graph(), "conv_wgmma", {kSmall});
  const Operands all = shortOperands(c);
  Results results{c, convolved(c, all)};
  const Numbers added = randomNumbers(results.values.size(), 9);
  std::transform(added.begin(), added.end(), results.values.begin(), results.values.begin(), std::plus<>());
  const auto got = runEmulated(
      program, {toBytes<float>(all.x), toBytes<float>(all.weight), toBytes<float>(all.bias), toBytes<float>(added)});
  ASSERT_EQ(got.size(), 1U);
  EXPECT_LT(relativeError(toNumbers<float>(got[0]), overChannels(results, largestOf)), kExact);
}

// The target of a position selects a channel; ignored positions have no loss.
TEST(FoldedConvolution, FindsTheLossOfEachPosition) {
  constexpr int kIgnored = 2;
  for (const Conv& c : {kFew, kMany, kTiles}) {
    GraphBuilder b;
    const ValueId result = addConvolution(b, c);
    domain::Shape positions = resultShape(c, 1);
    positions.erase(positions.begin() + 1);
    const ValueId target = b.input(positions, domain::ScalarType::Int64);
    b.output(b.call("aten.cross_entropy_loss.default", {arg(result), arg(target), noArg(), arg(0), arg(kIgnored)},
                    positions));
    const domain::Program program = programBy(b.graph(), "conv_wgmma", {kSmall, c.changes});
    const Operands all = shortOperands(c);
    const Results results{c, convolved(c, all)};
    std::vector<std::int64_t> targets(results.images() * results.count());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i] = static_cast<std::int64_t>(i * 7 % results.channels());
    }
    std::size_t at = 0;
    const Numbers want = overChannels(results, [&](const Numbers& x) {
      const std::int64_t picked = targets[at++];
      return picked == kIgnored ? 0.0 : largestOf(x) + std::log(logSumExpOf(x)) - x[static_cast<std::size_t>(picked)];
    });
    Bytes picked(targets.size() * sizeof(std::int64_t));
    std::memcpy(picked.data(), targets.data(), picked.size());
    const auto got =
        runEmulated(program, {toBytes<float>(all.x), toBytes<float>(all.weight), toBytes<float>(all.bias), picked});
    ASSERT_EQ(got.size(), 1U);
    EXPECT_LT(relativeError(toNumbers<float>(got[0]), want), kExact) << c.name;
  }
}

TEST(FoldedConvolution, TakesHalvesAsTheyAre) {
  const Conv& c = kFew;
  constexpr auto kType = domain::ScalarType::Float16;
  GraphBuilder b;
  const ValueId result = addConvolution(b, c, kType);
  b.output(b.call("aten.amax.default", {arg(b.relu(result)), listArg({1}), arg(true)}, resultShape(c, 1), kType));
  const domain::Program program = programBy(b.graph(), "conv_wgmma", {kSmall, {{"mode", 0}}});
  const Operands all = shortOperands(c);
  const auto got = runEmulated(program, {toBytes<Half>(all.x), toBytes<Half>(all.weight), toBytes<Half>(all.bias)});
  ASSERT_EQ(got.size(), 1U);
  const Numbers want =
      overChannels({c, convolved(c, all)}, [](const Numbers& x) { return std::max(0.0, largestOf(x)); });
  EXPECT_LT(relativeError(toNumbers<Half>(got[0]), want), kHalfError);
}

// --- what cannot be folded in a tile has regions of its own
std::size_t fewestRegions(const Conv& c, const LaterFold& fold, const domain::DeviceInfo& device) {
  const auto synthesizer = Synthesizer::create(graphOf(c, fold), device, emulatedCatalogue());
  return synthesizer ? seedsOfOurs(**synthesizer).at(0).regions.size() : 0;
}

TEST(FoldedConvolution, IsTriedWhereItFits) {
  EXPECT_EQ(fewestRegions(kPlain, kMinimum, cudaDevice()), 1U);
  EXPECT_EQ(fewestRegions(kPlain, kPooled, cudaDevice()), 1U);
  // More channels than a tile has, a device without wgmma, and channels in groups of the convolution.
  Conv many = kPlain;
  many.outputs = 160;
  EXPECT_EQ(fewestRegions(many, kMinimum, cudaDevice()), 2U);
  domain::DeviceInfo older = cudaDevice();
  older.computeCapability = 80;
  EXPECT_EQ(fewestRegions(kPlain, kMinimum, older), 2U);
  EXPECT_EQ(fewestRegions(kPlain, kPooled, older), 2U);
  Conv grouped = kPlain;
  grouped.inputs = 64;
  grouped.outputs = 128;
  grouped.groups = 2;
  EXPECT_EQ(fewestRegions(grouped, kMinimum, cudaDevice()), 2U);
}

TEST(FoldedConvolution, LeavesFoldsApartAmongTheSeeds) {
  const auto synthesizer = Synthesizer::create(graphOf(kPlain, kMinimum), cudaDevice(), emulatedCatalogue());
  ASSERT_TRUE(synthesizer.has_value());
  const auto seeds = (*synthesizer)->seeds();
  EXPECT_TRUE(std::any_of(seeds.begin(), seeds.end(), [](const domain::Genome& genome) {
    return genome.rewrites.empty() && genome.regions.size() == 2 && genome.regions[0].nodes.size() == 1;
  }));
}

struct Fault {
  const char* name;
  const LaterFold* fold;
  const Conv* conv;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class FoldFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(FoldFaults, CostMoreThanTf32Allows) {
  const Fault& fault = GetParam();
  domain::Program program = programOf(*fault.conv, *fault.fold);
  std::size_t found = 0;
  const std::string from = fault.from;
  for (std::size_t at = program.source.find(from); at != std::string::npos; at = program.source.find(from, at + 1)) {
    program.source.replace(at, from.size(), fault.to);
    ++found;
  }
  ASSERT_GT(found, 0U) << program.source;
  const double error = errorOf(*fault.conv, *fault.fold, program);
  EXPECT_FALSE(error < 3e-3) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, FoldFaults,
    ::testing::Values(Fault{"AChannelThatIsNotThere", &kDeviation, &kFew, "lane / 4 < 17", "lane / 4 < 32"},
                      Fault{"ALostWarp", &kMinimum, &kPlain, "for (int i = 0; i < 3; ++i)",
                            "for (int i = 0; i < 2; ++i)"},
                      Fault{"LanesThatMixPositions", &kSoftmax, &kPlain, "(lane & 8) != 0", "(lane & 16) != 0"},
                      Fault{"APositionThatIsNotThere", &kPooled, &kFew, "x_at < 9", "x_at < 16"},
                      Fault{"ALostTile", &kPooled, &kFew, "i < 2; i += 32)", "i < 1; i += 32)"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
