// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "tests/core/synth/lab.h"
#include "tests/core/synth/recurrence_numbers.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

int regionsThatRecur(const Synthesizer& synthesizer) {
  const std::vector<domain::Genome> seeds = synthesizer.seeds();
  EXPECT_FALSE(seeds.empty());
  return seeds.empty() ? 0
                       : static_cast<int>(std::count_if(
                             seeds.front().regions.begin(), seeds.front().regions.end(),
                             [](const domain::RegionGene& gene) { return gene.pattern == "recurrence"; }));
}

int regionsOf(const RecurrentCase& sizes) {
  return regionsThatRecur(*makeSynthesizer(RecurrentNumbers(sizes).builder().graph(), cpuDevice()));
}

TEST(RecurrentLayers, OfOneDirectionAreOneRegionAndOthersOneEach) {
  EXPECT_EQ(regionsOf({.layers = 3}), 1);
  EXPECT_EQ(regionsOf({.cell = "gru", .layers = 3, .directions = 2}), 3);
}

TEST(RecurrentLayers, StayPyTorchsWhereTheyProjectOrDropResults) {
  GraphBuilder b = RecurrentNumbers({.layers = 2}).builder();
  domain::Graph graph = b.graph();
  graph.nodes[0].args[5] = arg(0.5);
  EXPECT_FALSE(findOperations(graph).operations.empty());
  graph.nodes[0].args[6] = arg(true);
  EXPECT_TRUE(findOperations(graph).operations.empty());
  graph.nodes[0].args[6] = arg(false);
  std::get<domain::ArgumentList>(graph.nodes[0].args[2].value).push_back(arg(domain::ValueId(0)));
  EXPECT_TRUE(findOperations(graph).operations.empty());
}

struct Setting {
  const char* name;
  RecurrentCase sizes;
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

class CpuRecurrences : public ::testing::TestWithParam<Setting> {};

TEST_P(CpuRecurrences, AgreeWithLoopsInDouble) {
  const RecurrentNumbers numbers(GetParam().sizes);
  const auto synthesizer = makeSynthesizer(numbers.builder().graph(), cpuDevice());
  const auto want = numbers.want();
  int tried = 0;
  for (domain::Genome genome : synthesizer->seeds()) {
    if (tried == 2 || regionsThatRecur(*synthesizer) == 0) {
      break;
    }
    for (domain::RegionGene& gene : genome.regions) {
      if (gene.pattern == "recurrence") {
        gene.parameters["together"] = tried == 0 || GetParam().sizes.batch == 1 ? 1 : 4;
      }
    }
    ++tried;
    const auto program = synthesizer->realise(genome);
    ASSERT_THAT(program, swage::testing::IsOk());
    const auto results = runOnCpu(*program, numbers.inputs());
    ASSERT_EQ(results.size(), want.size()) << program->source;
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(firstDifference(toNumbers<float>(results[i]), want[i], 2e-6), "") << i << "\n" << program->source;
    }
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, CpuRecurrences,
    ::testing::Values(Setting{"Lstm", {}}, Setting{"Gru", {.cell = "gru"}}, Setting{"Tanh", {.cell = "rnn_tanh"}},
                      Setting{"Relu", {.cell = "rnn_relu", .hasBiases = false}},
                      Setting{"StackOfLstms", {.layers = 3, .batch = 5, .units = 9, .isBatchFirst = true}},
                      Setting{"OnlyTheCells", {.layers = 2, .isBatchFirst = true, .wantsResults = false}},
                      Setting{"StackOfGrus", {.cell = "gru", .layers = 2, .wantsStates = false}},
                      Setting{"BothDirections", {.cell = "gru", .directions = 2}},
                      Setting{"StackOfBothDirections",
                              {.cell = "lstm", .layers = 2, .directions = 2, .isBatchFirst = true}},
                      Setting{"OneSequence", {.cell = "gru", .batch = 1, .hasBiases = false}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
