// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/core/synth/emulator.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/recurrence_numbers.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

struct Cut {
  std::int64_t units = 4;
  std::int64_t threads = 96;
  std::int64_t lanes = 8;
  std::int64_t parts = 1;
  std::int64_t kept = 1;
};

struct Setting {
  const char* name;
  RecurrentCase sizes;
  Cut cut;
};

class CudaRecurrences : public ::testing::TestWithParam<Setting> {};

TEST_P(CudaRecurrences, AgreeWithLoopsInDouble) {
  const RecurrentNumbers numbers(GetParam().sizes);
  auto synthesizer = Synthesizer::create(numbers.builder().graph(), cudaDevice(), emulatedCatalogue());
  ASSERT_THAT(synthesizer, swage::testing::IsOk());
  domain::Genome genome = (*synthesizer)->seeds().front();
  int recurring = 0;
  for (domain::RegionGene& gene : genome.regions) {
    if (gene.pattern.starts_with("product")) {
      gene = {gene.nodes, "direct", {{"threads", 128}}};
    }
    if (gene.pattern != "recurrence") {
      continue;
    }
    ++recurring;
    const Cut& cut = GetParam().cut;
    gene.parameters = {
        {"units", cut.units}, {"threads", cut.threads}, {"lanes", cut.lanes}, {"parts", cut.parts}, {"kept", cut.kept}};
  }
  ASSERT_GT(recurring, 0);
  const auto program = (*synthesizer)->realise(genome);
  ASSERT_TRUE(program.has_value()) << program.error().message();
  const auto want = numbers.want();
  const auto results = runEmulated(*program, numbers.inputs());
  ASSERT_EQ(results.size(), want.size()) << program->source;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(firstDifference(toNumbers<float>(results[i]), want[i], 2e-6), "") << i << "\n" << program->source;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CudaRecurrences,
    ::testing::Values(
        Setting{"Lstm", {.units = 16}, {.lanes = 4}}, Setting{"Gru", {.cell = "gru", .units = 16}, {.lanes = 4}},
        Setting{"Tanh", {.cell = "rnn_tanh", .units = 32}, {.units = 8}},
        Setting{"Relu", {.cell = "rnn_relu", .units = 32, .hasBiases = false}, {.units = 16, .lanes = 4, .kept = 0}},
        Setting{"StackInSharedMemory", {.layers = 3, .units = 24, .isBatchFirst = true}, {.units = 4, .kept = 0}},
        Setting{"StackInRegisters", {.layers = 2, .batch = 5, .units = 32}, {.units = 12, .kept = 2}},
        Setting{"StackInBoth", {.cell = "gru", .layers = 3, .units = 32, .wantsStates = false}, {.units = 8}},
        Setting{"PartsOfTheBatch", {.cell = "gru", .layers = 2, .batch = 7, .units = 16}, {.lanes = 4, .parts = 4}},
        Setting{"NoWholeVectors", {.layers = 2, .units = 18, .wantsResults = false}, {.units = 4, .kept = 0}},
        Setting{"BothDirections", {.cell = "gru", .layers = 2, .directions = 2, .units = 16}, {.lanes = 4}},
        Setting{"ManyStatesForEachThread",
                {.cell = "gru", .steps = 3, .batch = 16, .units = 64},
                {.units = 16, .lanes = 4, .parts = 2, .kept = 0}}),
    [](const auto& each) { return each.param.name; });

TEST(CudaRecurrence, WaitsForABatchOfBlocksThatAllRunAtOnce) {
  const RecurrentNumbers numbers({.units = 16});
  auto synthesizer = Synthesizer::create(numbers.builder().graph(), cudaDevice(), emulatedCatalogue());
  ASSERT_THAT(synthesizer, swage::testing::IsOk());
  const auto program = (*synthesizer)->realise((*synthesizer)->seeds().front());
  ASSERT_THAT(program, swage::testing::IsOk());
  const auto* step = std::get_if<domain::KernelStep>(&program->plan.steps.back());
  ASSERT_NE(step, nullptr);
  EXPECT_TRUE(step->cooperative);
}

}  // namespace
}  // namespace swage::synth
