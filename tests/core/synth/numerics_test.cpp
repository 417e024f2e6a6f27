// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/system_compiler.h"
#include "tests/core/synth/tensor_data.h"

// Programs for the CPU, compiled and run, against scalar formulas in double. Sizes are odd, so that every pattern has a
// rest that fills no vector. Every program takes a compilation, so each test runs few.
namespace swage::synth {
namespace {

using domain::Genome;
using Type = domain::ScalarType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double relu(double x) {
  return std::isnan(x) || x > 0 ? x : 0.0;
}

// Softmax of `count` numbers `stride` apart.
void softmaxInPlace(double* x, std::size_t count, std::size_t stride) {
  double maximum = -kInfinity;
  for (std::size_t i = 0; i < count; ++i) {
    maximum = std::isnan(x[i * stride]) || std::isnan(maximum) ? kNan : std::max(maximum, x[i * stride]);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    x[i * stride] = std::exp(x[i * stride] - maximum);
    sum += x[i * stride];
  }
  for (std::size_t i = 0; i < count; ++i) {
    x[i * stride] /= sum;
  }
}

// Mean and biased variance.
std::pair<double, double> moments(const Numbers& numbers) {
  double mean = 0.0;
  for (const double number : numbers) {
    mean += number / static_cast<double>(numbers.size());
  }
  double variance = 0.0;
  for (const double number : numbers) {
    variance += (number - mean) * (number - mean) / static_cast<double>(numbers.size());
  }
  return {mean, variance};
}

TEST(Numerics, OfReluSoftmaxAndScaleKeepNanAndInfinity) {
  constexpr std::size_t kRows = 7;
  constexpr std::size_t kColumns = 129;
  GraphBuilder b;
  const auto shape = domain::Shape{kRows, kColumns};
  const auto x = b.input(shape);
  const auto weight = b.input({kColumns});
  const auto soft = b.softmax(x, -1);
  b.output(b.mul(soft, weight));
  b.output(b.relu(x));
  Numbers values = randomNumbers(kRows * kColumns, 1);
  for (std::size_t i = 0; i < kColumns; ++i) {
    values[kColumns + i] = -kInfinity;  // a row of nothing else
    values[2 * kColumns + i] = i < 100 ? -kInfinity : values[2 * kColumns + i];
  }
  values[3 * kColumns + 5] = kNan;
  values[4 * kColumns + 128] = kInfinity;
  const Numbers weights = randomNumbers(kColumns, 2);
  Numbers want = values;
  Numbers wantRelu = values;
  for (std::size_t row = 0; row < kRows; ++row) {
    softmaxInPlace(&want[row * kColumns], kColumns, 1);
  }
  for (std::size_t i = 0; i < want.size(); ++i) {
    want[i] *= weights[i % kColumns];
    wantRelu[i] = relu(values[i]);
  }
  const Bench bench(b);
  for (const auto& [rank, fused] : {std::pair(0U, 1), std::pair(1U, 1), std::pair(0U, 0)}) {
    const Genome genome = bench.seed(rank, {{"fused", fused}, {"lanes", 16}, {"streaming", fused}});
    const Outcome outcome = bench.run(genome, {toBytes<float>(values), toBytes<float>(weights)});
    expectResult<float>(outcome, 0, want);
    expectResult<float>(outcome, 1, wantRelu, 0.0);
  }
}

TEST(Numerics, OfASoftmaxOverAMiddleDimension) {
  constexpr std::size_t kOuter = 3;
  constexpr std::size_t kReduced = 33;
  constexpr std::size_t kInner = 37;
  GraphBuilder b;
  b.output(b.softmax(b.input({kOuter, kReduced, kInner}), 1));
  const Numbers values = randomNumbers(kOuter * kReduced * kInner, 3);
  Numbers want = values;
  for (std::size_t outer = 0; outer < kOuter; ++outer) {
    for (std::size_t inner = 0; inner < kInner; ++inner) {
      softmaxInPlace(&want[outer * kReduced * kInner + inner], kReduced, kInner);
    }
  }
  const Bench bench(b);
  for (const int fused : {0, 1}) {
    const Genome genome = bench.seed(0, {{"fused", fused}, {"block", 16}, {"streaming", fused}});
    expectResult<float>(bench.run(genome, {toBytes<float>(values)}), 0, want);
  }
}

// The mean of each row, and the weight of each column, where windows see their elements.
TEST(Numerics, OfAPoolingOfALayerNorm) {
  constexpr std::size_t kColumns = 12;
  constexpr std::size_t kRows = 3 * 8;
  GraphBuilder b;
  const auto x = b.input({1, 3, 8, kColumns});
  const auto weight = b.input({kColumns});
  const auto y = b.like("aten.layer_norm.default", x, {listArg({kColumns}), arg(weight), noArg(), arg(1e-5)});
  b.output(
      b.call("aten.max_pool2d.default", {arg(y), listArg({2, 3}), listArg({2, 3}), listArg({0, 0})}, {1, 3, 4, 4}));
  const Numbers values = randomNumbers(kRows * kColumns, 14);
  const Numbers weights = randomNumbers(kColumns, 15);
  Numbers want(3 * 4 * 4, -kInfinity);
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * kColumns);
    const auto [mean, variance] = moments({first, first + kColumns});
    for (std::size_t i = 0; i < kColumns; ++i) {
      double& largest = want[row / 2 * 4 + i / 3];
      largest = std::max(largest, (values[row * kColumns + i] - mean) / std::sqrt(variance + 1e-5) * weights[i]);
    }
  }
  const Bench bench(b);
  std::set<std::string> seen;
  for (std::size_t rank = 0; rank < 40; ++rank) {
    Genome genome = bench.seed(rank);
    if (genome.regions.size() == 3 && seen.insert(genome.regions[2].pattern).second) {
      genome.regions.erase(genome.regions.begin() + 1);
      genome.regions[1].nodes.insert(genome.regions[1].nodes.begin(), 1);  // what applies the statistics
      expectResult<float>(bench.run(genome, {toBytes<float>(values), toBytes<float>(weights)}), 0, want);
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"direct", "pool"}));
}

void expectLayerNorm(std::int64_t columns, const std::map<std::string, std::int64_t>& parameters) {
  constexpr std::size_t kRows = 7;
  const auto count = static_cast<std::size_t>(columns);
  GraphBuilder b;
  const auto x = b.input({kRows, columns});
  const auto weight = b.input({columns});
  const auto bias = b.input({columns});
  b.output(b.like("aten.layer_norm.default", x, {listArg({columns}), arg(weight), arg(bias), arg(1e-5)}));
  Numbers values = randomNumbers(kRows * count, 4);
  for (double& value : values) {
    value = static_cast<double>(static_cast<float>(value + 30.0));
  }
  const Numbers weights = randomNumbers(count, 5);
  const Numbers biases = randomNumbers(count, 6);
  Numbers want;
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * count);
    const auto [mean, variance] = moments({first, first + columns});
    for (std::size_t i = 0; i < count; ++i) {
      want.push_back((first[static_cast<std::ptrdiff_t>(i)] - mean) / std::sqrt(variance + 1e-5) * weights[i] +
                     biases[i]);
    }
  }
  const Bench bench(b);
  const std::vector<Bytes> inputs{toBytes<float>(values), toBytes<float>(weights), toBytes<float>(biases)};
  for (const std::size_t rank : {0U, 1U}) {
    std::map<std::string, std::int64_t> changes = parameters;
    changes["fused"] = rank == 0 ? 1 : 0;
    expectResult<float>(bench.run(bench.seed(rank, changes), inputs), 0, want, 2e-5);
  }
}

TEST(Numerics, OfALayerNormOfNumbersFarFromZero) {
  expectLayerNorm(129, {});
}

// Two steps that no loop is around.
TEST(Numerics, OfALayerNormOfRowsThatFillTheLanesOnceAndABit) {
  expectLayerNorm(20, {{"lanes", 16}});
}

TEST(Numerics, OfAGroupNormWithAWeightAndARelu) {
  constexpr std::size_t kBatch = 2;
  constexpr std::size_t kChannels = 6;
  constexpr std::size_t kPlane = 33;
  constexpr std::size_t kGroups = 3;
  GraphBuilder b;
  const auto x = b.input({kBatch, kChannels, kPlane});
  const auto weight = b.input({kChannels});
  b.output(b.relu(b.like("aten.group_norm.default", x, {arg(int{kGroups}), arg(weight), noArg(), arg(1e-5)})));
  const Numbers values = randomNumbers(kBatch * kChannels * kPlane, 7);
  const Numbers weights = randomNumbers(kChannels, 8);
  constexpr std::size_t kGroup = kChannels / kGroups * kPlane;
  Numbers want;
  for (std::size_t group = 0; group < kBatch * kGroups; ++group) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(group * kGroup);
    const auto [mean, variance] = moments({first, first + kGroup});
    for (std::size_t i = 0; i < kGroup; ++i) {
      const std::size_t channel = (group % kGroups) * (kChannels / kGroups) + i / kPlane;
      const double normal = (first[static_cast<std::ptrdiff_t>(i)] - mean) / std::sqrt(variance + 1e-5);
      want.push_back(relu(normal * weights[channel]));
    }
  }
  for (const Outcome& outcome : Bench(b).runTwo({toBytes<float>(values), toBytes<float>(weights)}, 9)) {
    expectResult<float>(outcome, 0, want);
  }
}

TEST(Numerics, OfABatchNormInTrainingUpdateTheRunningStatistics) {
  constexpr std::size_t kBatch = 7;
  constexpr std::size_t kChannels = 3;
  constexpr std::size_t kLength = 33;
  GraphBuilder b;
  const auto x = b.input({kBatch, kChannels, kLength});
  const auto mean = b.input({kChannels});
  const auto variance = b.input({kChannels});
  const std::pair<domain::Shape, Type> channel{{kChannels}, Type::Float32};
  const auto results = b.node("aten._native_batch_norm_legit_functional.default",
                              {arg(x), noArg(), noArg(), arg(mean), arg(variance), arg(true), arg(0.1), arg(1e-5)},
                              {{{kBatch, kChannels, kLength}, Type::Float32}, channel, channel, channel, channel});
  b.dropResult(1);
  b.dropResult(2);
  b.output(results[0]);
  b.output(results[3]);
  b.output(results[4]);
  const Numbers values = randomNumbers(kBatch * kChannels * kLength, 10);
  const Numbers means{0.5, -1.0, 0.0};
  const Numbers variances{1.0, 2.0, 0.25};
  Numbers want(values.size());
  Numbers wantMeans;
  Numbers wantVariances;
  for (std::size_t c = 0; c < kChannels; ++c) {
    Numbers channelValues;
    for (std::size_t i = 0; i < kBatch * kLength; ++i) {
      channelValues.push_back(values[(i / kLength * kChannels + c) * kLength + i % kLength]);
    }
    const auto [batchMean, batchVariance] = moments(channelValues);
    for (std::size_t i = 0; i < channelValues.size(); ++i) {
      want[(i / kLength * kChannels + c) * kLength + i % kLength] =
          (channelValues[i] - batchMean) / std::sqrt(batchVariance + 1e-5);
    }
    const auto count = static_cast<double>(channelValues.size());
    wantMeans.push_back(0.9 * means[c] + 0.1 * batchMean);
    wantVariances.push_back(0.9 * variances[c] + 0.1 * batchVariance * count / (count - 1.0));
  }
  const std::vector<Bytes> inputs{toBytes<float>(values), toBytes<float>(means), toBytes<float>(variances)};
  for (const Outcome& outcome : Bench(b).runTwo(inputs, 11)) {
    expectResult<float>(outcome, 0, want);
    expectResult<float>(outcome, 1, wantMeans);
    expectResult<float>(outcome, 2, wantVariances);
  }
}

TEST(Numerics, OfACrossEntropyLeaveIgnoredRowsOut) {
  constexpr std::size_t kRows = 33;
  constexpr std::size_t kClasses = 7;
  GraphBuilder b;
  const auto logits = b.input({kRows, kClasses});
  const auto target = b.input({kRows}, Type::Int64);
  b.output(b.call("aten.cross_entropy_loss.default", {arg(logits), arg(target), noArg(), arg(1), arg(-100)}, {}));
  const Numbers values = randomNumbers(kRows * kClasses, 12);
  Numbers targets;
  double sum = 0.0;
  double counted = 0.0;
  for (std::size_t row = 0; row < kRows; ++row) {
    const bool ignored = row % 5 == 0;
    targets.push_back(ignored ? -100.0 : static_cast<double>(row % kClasses));
    Numbers shares(values.begin() + static_cast<std::ptrdiff_t>(row * kClasses),
                   values.begin() + static_cast<std::ptrdiff_t>((row + 1) * kClasses));
    softmaxInPlace(shares.data(), kClasses, 1);
    sum -= ignored ? 0.0 : std::log(shares[row % kClasses]);
    counted += ignored ? 0.0 : 1.0;
  }
  const std::vector<Bytes> inputs{toBytes<float>(values), toBytes<std::int64_t>(targets)};
  for (const Outcome& outcome : Bench(b).runTwo(inputs, 13)) {
    expectResult<float>(outcome, 0, {sum / counted});
  }
}

TEST(Numerics, OfAMaximumGiveTheFirstIndexAndKeepNan) {
  constexpr std::size_t kRows = 7;
  constexpr std::size_t kColumns = 129;
  GraphBuilder b;
  const auto results = b.node("aten.max.dim", {arg(b.input({kRows, kColumns})), arg(1), arg(false)},
                              {{{kRows}, Type::Float32}, {{kRows}, Type::Int64}});
  b.output(results[0]);
  b.output(results[1]);
  Numbers values = randomNumbers(kRows * kColumns, 14);
  values[50] = values[90] = 3.0;  // the first of two equals
  values[kColumns + 128] = 3.0;   // the last element
  values[2 * kColumns + 77] = values[2 * kColumns + 99] = kNan;
  for (std::size_t i = 0; i < kColumns; ++i) {
    values[3 * kColumns + i] = -kInfinity;
  }
  Numbers want;
  Numbers wantIndex;
  for (std::size_t row = 0; row < kRows; ++row) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < kColumns; ++i) {
      const double x = values[row * kColumns + i];
      const double now = values[row * kColumns + best];
      best = x > now || (std::isnan(x) && !std::isnan(now)) ? i : best;
    }
    want.push_back(values[row * kColumns + best]);
    wantIndex.push_back(static_cast<double>(best));
  }
  const Bench bench(b);
  for (const std::size_t rank : {0U, 1U}) {
    const Outcome outcome = bench.run(bench.seed(rank, {{"lanes", 32}}), {toBytes<float>(values)});
    expectResult<float>(outcome, 0, want, 0.0);
    expectResult<std::int64_t>(outcome, 1, wantIndex, 0.0);
  }
}

TEST(Numerics, OfAWhereWithBroadcastAndOfAComparison) {
  constexpr std::size_t kRows = 33;
  constexpr std::size_t kColumns = 7;
  GraphBuilder b;
  const auto condition = b.input({kRows, kColumns}, Type::Bool);
  const auto x = b.input({kRows, kColumns});
  const auto row = b.input({kColumns});
  const auto column = b.input({kRows, 1});
  const auto chosen = b.call("aten.where.self", {arg(condition), arg(x), arg(row)}, {kRows, kColumns});
  const auto sum = b.add(chosen, column);
  b.output(sum);
  b.output(b.call("aten.gt.Scalar", {arg(sum), arg(0.5)}, {kRows, kColumns}, Type::Bool));
  const Numbers values = randomNumbers(kRows * kColumns, 15);
  const Numbers rowValues = randomNumbers(kColumns, 16);
  const Numbers columnValues = randomNumbers(kRows, 17);
  Numbers flags;
  Numbers want;
  Numbers wantAbove;
  for (std::size_t i = 0; i < values.size(); ++i) {
    flags.push_back(i % 3 == 0 ? 1.0 : 0.0);
    const auto left = static_cast<float>(i % 3 == 0 ? values[i] : rowValues[i % kColumns]);
    want.push_back(static_cast<double>(left + static_cast<float>(columnValues[i / kColumns])));
    wantAbove.push_back(want.back() > 0.5 ? 1.0 : 0.0);
  }
  const Outcome outcome = Bench(b).run(Bench(b).seed(0), {toBytes<unsigned char>(flags), toBytes<float>(values),
                                                          toBytes<float>(rowValues), toBytes<float>(columnValues)});
  expectResult<float>(outcome, 0, want, 0.0);
  expectResult<unsigned char>(outcome, 1, wantAbove, 0.0);
}

TEST(Numerics, OfHalfPrecisionAreComputedInSinglePrecisionAndRounded) {
  constexpr std::size_t kCount = 7 * 129;
  GraphBuilder b;
  const auto x = b.input({7, 129}, Type::Float16);
  b.output(b.mul(b.like("aten.gelu.default", x), x));
  b.output(b.like("aten.exp.default", b.mul(x, 8.0)));  // beyond what a half can hold, for some
  Numbers values;
  for (const double value : randomNumbers(kCount, 18)) {
    values.push_back(static_cast<double>(static_cast<Half>(value)));
  }
  Numbers want;
  Numbers wantExponential;
  for (const double value : values) {
    want.push_back(0.5 * value * (1.0 + std::erf(value / std::sqrt(2.0))) * value);
    const double exponential = std::exp(8.0 * value);
    wantExponential.push_back(exponential >= 65520.0 ? kInfinity : exponential);
  }
  const Bench bench(b);
  const Outcome outcome = bench.run(bench.seed(0, {{"streaming", 1}}), {toBytes<Half>(values)});
  expectResult<Half>(outcome, 0, want, 1e-3);
  expectResult<Half>(outcome, 1, wantExponential, 1e-3);
}

}  // namespace
}  // namespace swage::synth
