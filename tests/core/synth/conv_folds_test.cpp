// SPDX-License-Identifier: Apache-2.0
// What convolutions by wgmma fold of their results, by the emulation: channels in the tile, positions by a kernel that
// joins what tiles have found. Numbers have few bits, so that what halves make of them is exact.
#include <gmock/gmock.h>

#include <functional>
#include <numeric>

#include "tests/core/synth/conv_cases.h"

namespace swage::synth {
namespace {

using domain::ValueId;

constexpr double kExact = 3e-6;  // of L2 norms

const Changes kSmall{{"mode", 3},        {"tile_columns", 64}, {"tile_pixels", 64}, {"tile_width", 8},
                     {"tile_depth", 16}, {"parts", 1},         {"bring_groups", 1}, {"blocks", 1}};

Operands shortOperands(const Conv& c) {
  Operands all(c);
  for (Numbers* numbers : {&all.x, &all.weight, &all.bias}) {
    for (double& number : *numbers) {
      number = std::round(number * 64.0) / 64.0;
    }
  }
  return all;
}

// Results as [image][channel][position].
struct Results {
  const Conv& conv;
  Numbers values;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(conv.positions()); }
  [[nodiscard]] std::size_t channels() const { return static_cast<std::size_t>(conv.outputs); }
  [[nodiscard]] std::size_t images() const { return static_cast<std::size_t>(conv.images); }
  [[nodiscard]] double at(std::size_t image, std::size_t channel, std::size_t position) const {
    return values[(image * channels() + channel) * count() + position];
  }
};

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

domain::Shape resultShape(const Conv& c, std::int64_t channels) {
  return c.shapeOf(c.images, channels, {c.resultSize(0), c.resultSize(1), c.resultSize(2)});
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

double sumOf(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
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
                           [](const Results& r) {
                             return overChannels(r, [](const Numbers& all) {
                               const double mean = sumOf(all) / static_cast<double>(all.size());
                               double sum = 0.0;
                               for (const double x : all) {
                                 sum += (x - mean) * (x - mean);
                               }
                               return sum / (static_cast<double>(all.size()) - 1.0);
                             });
                           }};

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
          x = std::max(0.0, x);
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
    [](const Results& r) {
      return overPositions(r, [](const Numbers& all) {
        const double mean = sumOf(all) / static_cast<double>(all.size());
        double sum = 0.0;
        for (const double x : all) {
          sum += (x - mean) * (x - mean);
        }
        return sum / (static_cast<double>(all.size()) - 1.0);
      });
    }};

struct Case {
  Conv conv;
  const LaterFold* fold;
};

class FoldedConvolutions : public ::testing::TestWithParam<Case> {};

TEST_P(FoldedConvolutions, AreWhatTheirFoldsMakeOfThem) {
  const auto& [conv, fold] = GetParam();
  const double allowed = fold == &kVariance ? 3e-4 : kExact;
  EXPECT_LT(errorOf(conv, *fold, programOf(conv, *fold)), allowed);
}

const auto nameOf = [](const auto& each) { return std::string(each.param.fold->name) + each.param.conv.name; };

const Changes kRow{{"tile_width", 0}};
const Changes kRows{{"tile_width", 64}, {"tile_pixels", 128}};
const Changes kWide{{"tile_width", 16}, {"tile_pixels", 128}};
const Changes kParts{{"parts", 2}, {"tile_columns", 128}};
const Changes kBoth{{"tile_columns", 128}};

const Conv kPlain{"", 2, 2, 16, 64, {1, 9, 9}, {1, 3, 3}};
const Conv kFew{"OfFewChannels", 2, 2, 21, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
const Conv kMany{"OfTwoGroups", 2, 3, 16, 70, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kParts};
const Conv kLong{"InRows", 2, 1, 16, 20, {1, 5, 70}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRow};
const Conv kTiles{"InTilesOfRows", 2, 2, 16, 20, {1, 5, 71}, {1, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRows};
const Conv kSquare{"InTilesOf16", 2, 1, 16, 20, {1, 9, 18}, {1, 3, 5}, {1, 1, 1}, {0, 1, 2}, {1, 1, 1}, 1, kWide};
const Conv kOne{"OfOneDimension", 1, 3, 16, 19, {1, 1, 80}, {1, 1, 5}, {1, 1, 1}, {0, 0, 3}, {1, 1, 2}, 1, kRow};
const Conv kThree{"OfThreeDimensions", 3, 2, 16, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}};
const Conv kTransposed =
    transposed({"OfPhases", 2, 2, 16, 18, {1, 7, 6}, {1, 3, 4}, {1, 2, 2}, {0, 1, 0}, {1, 1, 1}, 1, {}});
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
                                           Case{kTransposedThree, &kSoftmax}, Case{kFew, &kDeviation}),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(
    Positions, FoldedConvolutions,
    ::testing::Values(Case{kPlain, &kPooled}, Case{kFew, &kPooled}, Case{kMany, &kPooled}, Case{kLong, &kPooled},
                      Case{kTiles, &kPooled}, Case{kOne, &kPooled}, Case{kThree, &kPooled}, Case{kTransposed, &kPooled},
                      Case{kTransposedThree, &kPooled}, Case{kFew, &kLargest}, Case{kTransposedMany, &kLargest},
                      Case{kFew, &kSumOfImage}, Case{kMany, &kSumOfImage}, Case{kThree, &kSumOfImage},
                      Case{kFew, &kVariance}, Case{kTiles, &kVariance}, Case{kTransposed, &kVariance}),
    nameOf);

}  // namespace
}  // namespace swage::synth
