// SPDX-License-Identifier: Apache-2.0
// In which order a search begins: by what whole plans are estimated to take, and not with the same thing again.
#include "core/synth/seed_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "core/synth/library_estimate.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using domain::Genome;
using ::testing::ElementsAre;

Seed seed(const std::string& pattern, double seconds, const std::string& rule = {}) {
  Seed made;
  made.genome.regions.push_back({{0}, pattern, {}});
  if (!rule.empty()) {
    made.genome.rewrites.push_back({rule, domain::ValueId(1), {}});
  }
  made.regions.push_back(seconds);
  return made;
}

std::vector<std::string> patternsInOrder(std::vector<Seed> seeds) {
  std::vector<std::string> patterns;
  for (const Genome& genome : orderSeeds(std::move(seeds))) {
    patterns.push_back(genome.regions.front().pattern);
  }
  return patterns;
}

TEST(SeedOrder, BeginsWithWhatIsEstimatedToBeFastest) {
  EXPECT_THAT(patternsInOrder({seed("slow", 5.0), seed("fast", 1.0), seed("middle", 2.0)}),
              ElementsAre("fast", "middle", "slow"));
}

TEST(SeedOrder, CountsWhatWasChosenBeforeAsTime) {
  EXPECT_THAT(patternsInOrder({seed("fast", 1.0), seed("fast", 1.01), seed("fast", 1.02), seed("other", 1.4)}),
              ElementsAre("fast", "other", "fast", "fast"));
}

TEST(SeedOrder, OfTheFastestStillHasRewrittenOnesAndOthers) {
  for (const bool isFast : {false, true}) {
    std::vector<Seed> seeds{seed("slowest", 9.0, isFast ? "" : "rule"), seed("slow", 8.0, isFast ? "" : "rule")};
    for (int i = 0; i < 40; ++i) {
      seeds.push_back(seed("fast" + std::to_string(i), 1.0 + 0.01 * i, isFast ? "rule" : ""));
    }
    const std::vector<Genome> ordered = orderSeeds(std::move(seeds), 12);
    ASSERT_EQ(ordered.size(), 13U);
    EXPECT_EQ(ordered[7].regions.front().pattern, "slow");
    EXPECT_EQ(ordered.back().regions.front().pattern, "fast11");
  }
}

TEST(SeedOrder, HasRewrittenOnesAndOthersAmongTheFirst) {
  for (const bool isFast : {false, true}) {
    std::vector<Seed> seeds{seed("other", 9.0, isFast ? "" : "rule")};
    for (int i = 0; i < 20; ++i) {
      seeds.push_back(seed("fast" + std::to_string(i), 1.0, isFast ? "rule" : ""));
    }
    const std::vector<std::string> patterns = patternsInOrder(std::move(seeds));
    EXPECT_EQ(std::find(patterns.begin(), patterns.end(), "other") - patterns.begin(), 7) << isFast;
  }
}

TEST(SeedOrder, CountsWhatPyTorchIsLeftToDo) {
  Seed library = seed("map", 0.5, "library convolution");
  library.library = 3.0;
  EXPECT_DOUBLE_EQ(library.seconds(), 3.5);
  EXPECT_THAT(patternsInOrder({library, seed("own", 2.0)}), ElementsAre("own", "map"));
}

domain::DeviceInfo measured() {
  domain::DeviceInfo device = cudaDevice();
  device.copyBytesPerSecond = 3.0e12;
  device.cacheBytes = std::int64_t{50} << 20;
  return device;
}

// Of the first so many seeds, the patterns of the regions that are estimated to take longest.
std::vector<std::string> slowestPatterns(const Synthesizer& synthesizer, std::size_t count) {
  std::vector<std::string> patterns;
  const std::vector<Genome> seeds = synthesizer.seeds();
  for (std::size_t i = 0; i < std::min(count, seeds.size()); ++i) {
    const auto secondsOf = [&](const domain::RegionGene& gene) {
      Genome one;
      one.rewrites = seeds[i].rewrites;
      one.regions = {gene};
      return synthesizer.estimate(one).value_or(0.0);
    };
    patterns.push_back(
        std::max_element(seeds[i].regions.begin(), seeds[i].regions.end(), [&](const auto& a, const auto& b) {
          return secondsOf(a) < secondsOf(b);
        })->pattern);
  }
  return patterns;
}

domain::Graph sumOfRows(std::int64_t rows, std::int64_t length) {
  GraphBuilder b;
  b.output(b.call("aten.sum.dim_IntList", {arg(b.input({rows, length})), listArg({1}), arg(false)}, {rows}));
  return b.graph();
}

domain::Graph softmaxOfRows(std::int64_t rows, std::int64_t length) {
  GraphBuilder b;
  b.output(b.softmax(b.input({rows, length}), 1));
  return b.graph();
}

// Millions of short rows take a warp each: a block for each takes ten times as long (KernelBench 2/3).
TEST(SeedOrder, GivesShortRowsToWarps) {
  const auto synthesizer = makeSynthesizer(softmaxOfRows(4'194'304, 64), measured());
  const domain::RegionGene first = synthesizer->seeds().front().regions.front();
  EXPECT_EQ(first.pattern, "row_warp");
  EXPECT_LT(first.parameters.at("lanes"), 32);
}

// As measured on an H100: row_gang takes 49 ms, row_registers 0.75.
TEST(SeedOrder, GivesManyLongRowsToBlocks) {
  const auto synthesizer = makeSynthesizer(softmaxOfRows(16384, 15876), measured());
  const std::vector<std::string> first = slowestPatterns(*synthesizer, 5);
  EXPECT_EQ(std::count(first.begin(), first.end(), "row_gang"), 0);
  EXPECT_EQ(std::count(first.begin(), first.end(), "row_split"), 0);
  const double seconds = synthesizer->estimate(synthesizer->seeds().front()).value_or(0.0);
  EXPECT_NEAR(seconds * 1e3, 0.77, 0.12);
}

TEST(SeedOrder, TriesSeveralPatternsBeforeParametersOfOne) {
  const auto synthesizer = makeSynthesizer(sumOfRows(8192, 64516), measured());
  const std::vector<std::string> first = slowestPatterns(*synthesizer, 4);
  EXPECT_GE(std::set<std::string>(first.begin(), first.end()).size(), 3U);
}

domain::Graph convolutionAndRelu(std::int64_t channels) {
  GraphBuilder b;
  const auto x = b.input({64, channels, 256, 256});
  const auto weight = b.input({64, channels, 3, 3});
  const auto sums = b.call("aten.conv2d.default", {arg(x), arg(weight)}, {64, 64, 254, 254});
  b.output(b.relu(sums));
  return b.graph();
}

TEST(SeedOrder, BeginsWithNoPlainConvolutionOfALargeProblem) {
  for (const std::int64_t channels : {8, 64}) {
    const auto synthesizer = makeSynthesizer(convolutionAndRelu(channels), measured());
    const std::vector<Genome> seeds = synthesizer->seeds();
    ASSERT_GE(seeds.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
      for (const domain::RegionGene& gene : seeds[i].regions) {
        EXPECT_NE(gene.pattern, "direct") << i;
      }
    }
  }
}

struct LibraryConvolution {
  const char* name;
  domain::Shape input;
  domain::Shape weight;
  domain::Shape result;
  double milliseconds = 0.0;  // of cuDNN on an H100, as what is left of whole plans
  friend void PrintTo(const LibraryConvolution& self, std::ostream* out) { *out << self.name; }
};

class LibraryEstimates : public ::testing::TestWithParam<LibraryConvolution> {};

TEST_P(LibraryEstimates, AreAboutWhatWasMeasured) {
  GraphBuilder b;
  const auto x = b.input(GetParam().input);
  const auto weight = b.input(GetParam().weight);
  b.output(b.call("aten.convolution.default", {arg(x), arg(weight)}, GetParam().result));
  const double seconds = libraryEstimate(b.graph(), b.graph().nodes.front(), measured());
  EXPECT_NEAR(seconds * 1e3, GetParam().milliseconds, 0.25 * GetParam().milliseconds);
  EXPECT_EQ(libraryEstimate(b.graph(), b.graph().nodes.front(), cpuDevice()), 0.0) << "nothing is known of it";
}

INSTANTIATE_TEST_SUITE_P(
    All, LibraryEstimates,
    ::testing::Values(LibraryConvolution{"FewChannels", {128, 8, 256, 256}, {64, 8, 3, 3}, {128, 64, 254, 254}, 2.4},
                      LibraryConvolution{"Larger", {128, 8, 384, 384}, {64, 8, 3, 3}, {128, 64, 382, 382}, 5.4},
                      LibraryConvolution{
                          "ManyChannels", {128, 64, 128, 128}, {128, 64, 3, 3}, {128, 128, 126, 126}, 1.9}),
    [](const auto& each) { return each.param.name; });

// What rounds like TF32 may be wrong for the task: a way that is as exact as floats comes soon, and so does PyTorch's.
TEST(SeedOrder, TriesExactConvolutionsAndTheLibraryEarly) {
  const auto synthesizer = makeSynthesizer(convolutionAndRelu(8), measured());
  const std::vector<Genome> seeds = synthesizer->seeds();
  bool isExact = false;
  bool isLibrary = false;
  for (std::size_t i = 0; i < std::min<std::size_t>(12, seeds.size()); ++i) {
    for (const domain::RegionGene& gene : seeds[i].regions) {
      const auto mode = gene.parameters.find("mode");
      isExact = isExact || (mode != gene.parameters.end() && mode->second == 1);
    }
    isLibrary = isLibrary || !seeds[i].rewrites.empty();
  }
  EXPECT_TRUE(isExact);
  EXPECT_TRUE(isLibrary);
}

// What a model permits of which PyTorch rounds the convolutions: nothing that sums in another order.
TEST(ElementSeed, LeavesEverySumToPyTorch) {
  GraphBuilder b;
  const auto x = b.input({2, 8, 16, 16});
  const auto convolved =
      b.call("aten.conv2d.default", {arg(x), arg(b.input({8, 8, 3, 3})), noArg(), listArg({1, 1}), listArg({1, 1})},
             {2, 8, 16, 16});
  using Types = std::vector<std::pair<domain::Shape, domain::ScalarType>>;
  const Types results = {{{2, 8, 16, 16}, domain::ScalarType::Float32},
                         {{8}, domain::ScalarType::Float32},
                         {{8}, domain::ScalarType::Float32},
                         {{8}, domain::ScalarType::Float32},
                         {{8}, domain::ScalarType::Float32}};
  const auto normal = b.node("aten._native_batch_norm_legit_functional.default",
                             {arg(convolved), arg(b.input({8})), arg(b.input({8})), arg(b.input({8})),
                              arg(b.input({8})), arg(true), arg(0.1), arg(1e-5)},
                             results);
  b.dropResult(1);
  b.dropResult(2);
  b.output(normal[3]);
  b.output(normal[4]);
  b.output(b.relu(b.add(normal[0], x)));
  const auto leavesSums = [](const Genome& seed) {
    return seed.rewrites.empty() && seed.regions.size() == 1 && seed.regions.front().nodes.size() == 2;
  };
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  const std::vector<Genome> seeds = synthesizer->seeds();
  const auto found = std::find_if(seeds.begin(), seeds.end(), leavesSums);
  ASSERT_NE(found, seeds.end());
  const auto program = synthesizer->realise(*found);
  ASSERT_TRUE(program.has_value()) << program.error().message();
  std::vector<std::string> operators;
  for (const domain::PlanStep& step : program->plan.steps) {
    if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
      operators.push_back(aten->node.op);
    }
  }
  EXPECT_THAT(operators, ElementsAre("aten.conv2d.default", "aten._native_batch_norm_legit_functional.default"));
  const std::vector<Genome> onCpu = makeSynthesizer(b.graph(), cpuDevice())->seeds();
  EXPECT_EQ(std::find_if(onCpu.begin(), onCpu.end(), leavesSums), onCpu.end()) << "nobody rounds to TF32 there";
}

// Of a convolution, a normalisation and a product between elementwise operations.
TEST(Seeds, SumNothingBehindConvolutionsAndNormalisationsInOneOfThem) {
  GraphBuilder b;
  const auto x = b.input({8, 16, 16, 16});
  const auto one = listArg({1, 1});
  const auto convolved = b.call(
      "aten.conv2d.default", {arg(x), arg(b.input({32, 16, 3, 3})), noArg(), one, one, one, arg(1)}, {8, 32, 16, 16});
  const auto normalised = b.call("aten.layer_norm.default", {arg(b.relu(convolved)), listArg({16})}, {8, 32, 16, 16});
  b.output(b.silu(b.mul(normalised, normalised)));
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  const auto isElementwise = [](const domain::RegionGene& gene) {
    return gene.pattern == "map" || gene.pattern == "map_turned";
  };
  const std::vector<domain::Genome> seeds = seedsWithKernels(*synthesizer);
  EXPECT_TRUE(std::any_of(seeds.begin(), seeds.end(), [&](const domain::Genome& seed) {
    return seed.regions.size() == 2 && std::all_of(seed.regions.begin(), seed.regions.end(), isElementwise);
  }));
}

}  // namespace
}  // namespace swage::synth
