// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>
#include <numeric>
#include <set>

#include "core/synth/genome_moves.h"
#include "core/synth/region_key.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::OperatorKind;
using domain::RegionGene;

// Layers of a model: the rows of x are normalised, and multiplied with weights of their own.
domain::Graph layers(int count) {
  GraphBuilder b;
  auto x = b.input({512, 512});
  for (int layer = 0; layer < count; ++layer) {
    const auto normal =
        b.like("aten.layer_norm.default", x, {listArg({512}), arg(b.input({512})), arg(b.input({512})), arg(1e-5)});
    x = b.call("aten.linear.default", {arg(normal), arg(b.input({512, 512})), arg(b.input({512}))}, {512, 512});
  }
  b.output(x);
  return b.graph();
}

// Regions that are computed in the same way; of `layers`, all normalisations, or all products.
std::set<std::pair<std::string, Parameters>> waysOf(const Genome& genome) {
  std::set<std::pair<std::string, Parameters>> ways;
  for (const RegionGene& gene : genome.regions) {
    ways.emplace(gene.pattern, gene.parameters);
  }
  return ways;
}

int changedRegions(const Genome& before, const Genome& after) {
  return std::inner_product(before.regions.begin(), before.regions.end(), after.regions.begin(), 0, std::plus<>(),
                            [](const RegionGene& a, const RegionGene& b) { return a == b ? 0 : 1; });
}

TEST(RegionKey, IsThatOfTheSameWorkOnOtherTensors) {
  const Lab lab(layers(3));
  const auto& partition = lab.fusion().greedyPartition();
  std::set<std::string> keys;
  for (const std::vector<int>& operations : partition) {
    keys.insert(keyOf(lab.region(operations)));
  }
  EXPECT_GE(partition.size(), 4U);
  EXPECT_LT(keys.size(), partition.size());
}

TEST(RegionKey, TellsSizesNumbersAndRepeatedTensorsApart) {
  std::set<std::string> keys;
  const auto add = [&keys](std::int64_t columns, double factor, bool isSame) {
    GraphBuilder b;
    const auto x = b.input({64, columns});
    const auto y = b.input({64, columns});
    b.output(b.mul(b.add(x, isSame ? x : y), factor));
    const Lab lab(b.graph());
    return keys.insert(keyOf(lab.region({0, 1}))).second;
  };
  EXPECT_TRUE(add(256, 0.5, false));
  EXPECT_FALSE(add(256, 0.5, false));
  EXPECT_TRUE(add(512, 0.5, false));
  EXPECT_TRUE(add(256, 0.25, false));
  EXPECT_TRUE(add(256, 0.5, true));
}

TEST(Twins, AreComputedInTheSameWayByEverySeed) {
  const auto synthesizer = makeSynthesizer(layers(6), cudaDevice());
  const std::vector<Genome> seeds = seedsWithKernels(*synthesizer);
  ASSERT_FALSE(seeds.empty());
  for (const Genome& seed : seeds) {
    EXPECT_LT(waysOf(seed).size(), seed.regions.size()) << domain::canonicalText(seed);
  }
}

// The number of seeds is that of ways to compute different regions, not that of layers.
TEST(Twins, MakeNoMoreSeeds) {
  const std::size_t few = makeSynthesizer(layers(4), cudaDevice())->seeds().size();
  const std::size_t many = makeSynthesizer(layers(16), cudaDevice())->seeds().size();
  EXPECT_LE(many, few + few / 2);
}

TEST(Twins, ChangeTogetherMostOfTheTime) {
  const auto synthesizer = makeSynthesizer(layers(6), cudaDevice());
  const Genome start = seedsWithKernels(*synthesizer).front();
  for (const Genome& neighbour : synthesizer->neighbours(start)) {
    EXPECT_LE(waysOf(neighbour).size(), waysOf(start).size() + 1);
    const int changed = changedRegions(start, neighbour);
    EXPECT_TRUE(changed == 1 || changed >= 4) << changed;
  }
  Random random(7);
  int together = 0;
  int alone = 0;
  for (int i = 0; i < 200; ++i) {
    const auto varied = synthesizer->vary(OperatorKind::Parameter, start, nullptr, nullptr, random);
    ASSERT_TRUE(varied);
    ++(changedRegions(start, *varied) > 1 ? together : alone);
    EXPECT_TRUE(synthesizer->realise(*varied)) << domain::canonicalText(*varied);
  }
  EXPECT_GT(together, alone);
  EXPECT_GT(alone, 0);
}

}  // namespace
}  // namespace swage::synth
