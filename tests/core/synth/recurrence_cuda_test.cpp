// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/core/synth/emulator.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/measured_device.h"
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
  std::int64_t mode = 0;
};

struct Setting {
  const char* name;
  RecurrentCase sizes;
  Cut cut;
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

// A number between two of TF32 may be rounded the other way in double, and then moves a few others.
constexpr double kFewRoundOtherwise = 1e-6;

double meanDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(a[i] - b.at(i));
  }
  return sum / static_cast<double>(a.size());
}

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
    gene.parameters = {{"units", cut.units}, {"threads", cut.threads}, {"lanes", cut.lanes},
                       {"parts", cut.parts}, {"kept", cut.kept},       {"mode", cut.mode}};
  }
  ASSERT_GT(recurring, 0);
  const auto program = (*synthesizer)->realise(genome);
  ASSERT_TRUE(program.has_value()) << program.error().message();
  const auto want = numbers.want();
  const auto results = runEmulated(*program, numbers.inputs());
  ASSERT_EQ(results.size(), want.size()) << program->source;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (GetParam().cut.mode == 0) {
      EXPECT_EQ(firstDifference(toNumbers<float>(results[i]), want[i], 2e-6), "") << i << "\n" << program->source;
    } else {
      EXPECT_LT(meanDifference(toNumbers<float>(results[i]), want[i]), kFewRoundOtherwise) << i << "\n"
                                                                                           << program->source;
    }
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

// Inputs are rounded where they are read, states where they are handed on; what is stored never is.
INSTANTIATE_TEST_SUITE_P(
    Rounded, CudaRecurrences,
    ::testing::Values(
        Setting{"Inputs", {.layers = 3, .units = 24, .areInputsRounded = true}, {.units = 4, .kept = 0, .mode = 4}},
        Setting{"InputsInRegisters",
                {.cell = "gru", .layers = 2, .batch = 5, .units = 32, .areInputsRounded = true},
                {.units = 12, .kept = 2, .mode = 4}},
        Setting{"All",
                {.layers = 3, .units = 24, .areInputsRounded = true, .areStatesRounded = true},
                {.units = 4, .kept = 0, .mode = 5}},
        Setting{"AllOfUnitsThatAreNoWholeVectors",
                {.layers = 2, .units = 18, .areInputsRounded = true, .areStatesRounded = true},
                {.units = 4, .kept = 0, .mode = 5}},
        Setting{"StatesInBothDirections",
                {.cell = "gru", .layers = 2, .directions = 2, .units = 16, .areStatesRounded = true},
                {.lanes = 4, .mode = 5}}),
    [](const auto& each) { return each.param.name; });

TEST(CudaRecurrence, RoundsEnoughThatTheOtherModesWouldFail) {
  RecurrentCase sizes{.layers = 3, .units = 24};
  const auto exact = RecurrentNumbers(sizes).want();
  sizes.areInputsRounded = true;
  const auto inputs = RecurrentNumbers(sizes).want();
  sizes.areStatesRounded = true;
  const auto all = RecurrentNumbers(sizes).want();
  EXPECT_GT(meanDifference(exact[0], inputs[0]), 4 * kFewRoundOtherwise);
  EXPECT_GT(meanDifference(all[0], inputs[0]), 4 * kFewRoundOtherwise);
}

// What cuDNN does by default comes first, then its other ways, then what rounds nothing anywhere.
TEST(CudaRecurrence, IsFirstTriedAsRoundedAsPyTorchMakesIt) {
  const auto modesOf = [](const domain::Genome& genome, bool ofRecurrence) {
    std::set<std::int64_t> modes;
    for (const domain::RegionGene& gene : genome.regions) {
      if (gene.pattern.starts_with(ofRecurrence ? "recurrence" : "product")) {
        modes.insert(gene.parameters.contains("mode") ? gene.parameters.at("mode") : 0);
      }
    }
    return modes;
  };
  using Modes = std::set<std::int64_t>;
  struct Expected {
    RecurrentCase sizes;
    std::int64_t first;
    std::int64_t second;
  };
  for (const Expected& expected :
       {Expected{{"lstm", 6, 1, 512, 10, 128, 256}, 4, 5}, Expected{{"lstm", 1, 1, 64, 32, 256, 512}, 5, 0},
        Expected{{"gru", 6, 1, 512, 10, 128, 256}, 5, 4}, Expected{{"gru", 2, 2, 512, 10, 128, 256}, 5, 0}}) {
    const auto seeds = makeSynthesizer(RecurrentNumbers(expected.sizes).builder().graph(), measuredDevice())->seeds();
    ASSERT_GE(seeds.size(), 4U);
    EXPECT_EQ(modesOf(seeds[0], true), Modes{expected.first});
    EXPECT_EQ(modesOf(seeds[1], true), Modes{expected.second});
    EXPECT_EQ(modesOf(seeds[0], false), Modes{3});
    EXPECT_EQ(seeds[0].regions.front().nodes.size(), 1U);
    const auto exact = std::find_if(seeds.begin(), seeds.end(), [&](const domain::Genome& genome) {
      return modesOf(genome, true) == Modes{0} && !modesOf(genome, false).contains(3);
    });
    EXPECT_LT(exact - seeds.begin(), 8);
  }
  domain::DeviceInfo old = measuredDevice();
  old.computeCapability = 75;
  const auto seeds = makeSynthesizer(RecurrentNumbers({"gru", 6, 1, 64, 10, 128, 256}).builder().graph(), old)->seeds();
  EXPECT_EQ(modesOf(seeds.front(), true), Modes{0});
  EXPECT_FALSE(modesOf(seeds.front(), false).contains(3));
}

// Six layers in both directions: what is the same for all of them is compiled once.
TEST(CudaRecurrence, SharesKernelsThatDifferInNamesAlone) {
  const auto synthesizer =
      makeSynthesizer(RecurrentNumbers({"gru", 6, 2, 64, 10, 128, 256}).builder().graph(), measuredDevice());
  domain::Genome genome = synthesizer->seeds().front();
  const auto program = synthesizer->realise(genome);
  ASSERT_THAT(program, swage::testing::IsOk());
  std::set<std::string> recurring;
  int launches = 0;
  for (const domain::PlanStep& each : program->plan.steps) {
    const auto* step = std::get_if<domain::KernelStep>(&each);
    if (step != nullptr && step->cooperative) {
      recurring.insert(step->entry);
      ++launches;
    }
  }
  EXPECT_EQ(launches, 6);
  EXPECT_EQ(recurring.size(), 1U);
  EXPECT_LE(program->entries().size(), 9U) << "products of the first layer, of the others, and the recurrence";
}

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
