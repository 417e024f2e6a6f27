// SPDX-License-Identifier: Apache-2.0
// Normalisations behind convolutions by wgmma, by the emulation: statistics are gathered where results are made.
#include <gmock/gmock.h>

#include <functional>
#include <ostream>

#include "tests/core/synth/conv_folds.h"

namespace swage::synth {
namespace {

using domain::ValueId;

// Of two kernels, of which the first folds as much as it can of what it has convolved.
domain::Genome seedWithStatistics(const Synthesizer& synthesizer) {
  domain::Genome found;
  for (domain::Genome& seed : seedsOfOurs(synthesizer)) {
    const bool isSuch = seed.regions.size() == 2 && seed.regions[0].pattern == "conv_wgmma" &&
                        seed.regions[1].pattern == "map" && seed.regions[0].nodes.size() > 1;
    if (isSuch && (found.regions.empty() || seed.regions[0].nodes.size() > found.regions[0].nodes.size())) {
      found = std::move(seed);
    }
  }
  return found;
}

struct Realised {
  domain::Genome genome;
  domain::Program program;
};

// The seed with statistics in the kernel of the convolution, in small tiles.
Realised realisedWithStatistics(const GraphBuilder& b, const Changes& changes) {
  const auto synthesizer = Synthesizer::create(b.graph(), cudaDevice(), emulatedCatalogue());
  if (!synthesizer) {
    ADD_FAILURE() << synthesizer.error().message();
    return {};
  }
  domain::Genome genome = seedWithStatistics(**synthesizer);
  if (genome.regions.size() != 2 || genome.regions[0].pattern != "conv_wgmma") {
    ADD_FAILURE() << "no seed has statistics in the kernel of the convolution, and what applies them in another one";
    return {};
  }
  for (const Changes& all : {kSmall, changes}) {
    for (const auto& [parameter, value] : all) {
      genome.regions[0].parameters.at(parameter) = value;
    }
  }
  auto program = (*synthesizer)->realise(genome);
  EXPECT_TRUE(program.has_value()) << program.error().message();
  return {std::move(genome), program.value_or(domain::Program())};
}

struct NormCase {
  const char* name;
  Conv conv;
  std::int64_t groups;  // of a group normalisation; 0: of an instance
  friend void PrintTo(const NormCase& self, std::ostream* out) { *out << self.name; }
};

class NormalisedConvolutions : public ::testing::TestWithParam<NormCase> {};

// The convolution writes its results once and tells of their statistics; what applies them is a kernel of its own.
TEST_P(NormalisedConvolutions, GatherStatisticsWhereResultsAreMade) {
  const auto& [name, c, groups] = GetParam();
  GraphBuilder b;
  const ValueId result = b.like("aten.sigmoid.default", addConvolution(b, c));
  if (groups > 0) {
    b.output(b.like("aten.group_norm.default", result, {arg(static_cast<int>(groups)), noArg(), noArg(), arg(1e-5)}));
  } else {
    b.output(b.like("aten.instance_norm.default", result,
                    {noArg(), noArg(), noArg(), noArg(), arg(true), arg(0.1), arg(1e-5), arg(true)}));
  }
  const auto [genome, program] = realisedWithStatistics(b, c.changes);
  ASSERT_EQ(genome.regions.size(), 2U);
  EXPECT_EQ(genome.regions[0].nodes.size(), 3U);  // convolution, sigmoid, statistics
  EXPECT_EQ(genome.regions[1].nodes.size(), 1U);
  const Operands all = shortOperands(c);
  Results results{c, convolved(c, all)};
  for (double& x : results.values) {
    x = 1.0 / (1.0 + std::exp(-x));
  }
  const std::size_t ofGroup =
      results.count() * (groups > 0 ? results.channels() / static_cast<std::size_t>(groups) : 1);
  Numbers want;
  for (std::size_t first = 0; first < results.values.size(); first += ofGroup) {
    const auto begin = results.values.begin() + static_cast<std::ptrdiff_t>(first);
    const Numbers group(begin, begin + static_cast<std::ptrdiff_t>(ofGroup));
    const double mean = sumOf(group) / static_cast<double>(ofGroup);
    double squares = 0.0;
    for (const double x : group) {
      squares += (x - mean) * (x - mean);
    }
    for (const double x : group) {
      want.push_back((x - mean) / std::sqrt(squares / static_cast<double>(ofGroup) + 1e-5));
    }
  }
  EXPECT_LT(relativeError(run(program, all), want), kExact);
}

INSTANTIATE_TEST_SUITE_P(All, NormalisedConvolutions,
                         ::testing::Values(NormCase{"Instances", kFew, 0},
                                           NormCase{"InstancesOfPhases", kTransposed, 0},
                                           NormCase{"InstancesInRows", kLong, 0}, NormCase{"Groups", kMany, 7},
                                           NormCase{"GroupsOfPhases", kTransposed, 3},
                                           NormCase{"GroupsOfThreeDimensions", kThree, 4},
                                           NormCase{"OneGroup", kPlain, 1}),
                         [](const auto& each) { return each.param.name; });

// Sums of a batch, and what becomes of running statistics, which the kernel that joins tiles stores.
class BatchStatistics : public ::testing::TestWithParam<const Conv*> {};

TEST_P(BatchStatistics, AreGatheredWhereResultsAreMade) {
  const Conv& c = *GetParam();
  GraphBuilder b;
  const ValueId result = addConvolution(b, c);
  const ValueId mean = b.input({c.outputs});
  const ValueId variance = b.input({c.outputs});
  const domain::Shape vector{c.outputs};
  const auto float32 = domain::ScalarType::Float32;
  const auto made = b.node("aten._native_batch_norm_legit_functional.default",
                           {arg(result), noArg(), noArg(), arg(mean), arg(variance), arg(true), arg(0.1), arg(1e-5)},
                           {{resultShape(c, c.outputs), float32},
                            {vector, float32},
                            {vector, float32},
                            {vector, float32},
                            {vector, float32}});
  b.dropResult(1);
  b.dropResult(2);
  b.output(b.relu(made[0]));
  b.output(made[3]);
  b.output(made[4]);
  const domain::Program program = realisedWithStatistics(b, c.changes).program;
  ASSERT_FALSE(program.source.empty());
  const Operands all = shortOperands(c);
  const Results results{c, convolved(c, all)};
  const Numbers oldMeans = randomNumbers(static_cast<std::size_t>(c.outputs), 7);
  const Numbers oldVariances(static_cast<std::size_t>(c.outputs), 2.0);
  const auto count = static_cast<double>(results.images() * results.count());
  Numbers want(results.values.size());
  Numbers means;
  Numbers variances;
  for (std::size_t channel = 0; channel < results.channels(); ++channel) {
    double sum = 0.0;
    double squares = 0.0;
    const auto forEach = [&](const std::function<void(std::size_t)>& use) {
      for (std::size_t image = 0; image < results.images(); ++image) {
        for (std::size_t i = 0; i < results.count(); ++i) {
          use((image * results.channels() + channel) * results.count() + i);
        }
      }
    };
    forEach([&](std::size_t i) { sum += results.values[i]; });
    forEach([&](std::size_t i) { squares += std::pow(results.values[i] - sum / count, 2.0); });
    forEach([&](std::size_t i) {
      want[i] = std::max(0.0, (results.values[i] - sum / count) / std::sqrt(squares / count + 1e-5));
    });
    means.push_back(0.9 * oldMeans[channel] + 0.1 * sum / count);
    variances.push_back(0.9 * oldVariances[channel] + 0.1 * squares / (count - 1.0));
  }
  const auto got = runEmulated(program, {toBytes<float>(all.x), toBytes<float>(all.weight), toBytes<float>(all.bias),
                                         toBytes<float>(oldMeans), toBytes<float>(oldVariances)});
  ASSERT_EQ(got.size(), 3U);
  EXPECT_LT(relativeError(toNumbers<float>(got[0]), want), kExact);
  EXPECT_LT(relativeError(toNumbers<float>(got[1]), means), kExact);
  EXPECT_LT(relativeError(toNumbers<float>(got[2]), variances), kExact);
}

INSTANTIATE_TEST_SUITE_P(All, BatchStatistics, ::testing::Values(&kMany, &kPlain, &kTransposed),
                         [](const auto& each) { return "Conv" + std::to_string(each.index); });

}  // namespace
}  // namespace swage::synth
