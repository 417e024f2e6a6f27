// SPDX-License-Identifier: Apache-2.0
// What attention on tensor cores computes, by the emulation: masks, tails, groups of heads, and its accuracy.
#include <gmock/gmock.h>

#include <ostream>

#include "tests/core/synth/attention_numbers.h"

namespace swage::synth {
namespace {

using Changes = std::map<std::string, std::int64_t>;
using Mask = AttentionCase::Mask;
using enum domain::ScalarType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

domain::Program attentionProgram(const domain::Graph& graph, const Changes& changes) {
  const auto synthesizer = Synthesizer::create(graph, cudaDevice(), emulatedCatalogue());
  if (!synthesizer) {
    ADD_FAILURE() << synthesizer.error().message();
    return {};
  }
  const Changes small{{"tile_rows", 64}, {"warp_rows", 16}, {"tile_keys", 32}, {"keep", 0}};
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    if (genome.regions.size() == 1 && genome.regions[0].pattern == "attention_mma") {
      for (const Changes* all : {&small, &changes}) {
        for (const auto& [name, value] : *all) {
          genome.regions[0].parameters.at(name) = value;
        }
      }
      auto program = (*synthesizer)->realise(genome);
      EXPECT_TRUE(program.has_value()) << program.error().message();
      return program.value_or(domain::Program());
    }
  }
  ADD_FAILURE() << "no seed uses the pattern";
  return {};
}

Numbers resultOf(const AttentionNumbers& numbers, domain::ScalarType type, const Changes& changes,
                 bool hasRelu = false) {
  const domain::Program program = attentionProgram(numbers.builder(hasRelu).graph(), changes);
  const auto results = runEmulated(program, type == Float16 ? numbers.inputs<Half>() : numbers.inputs<float>());
  if (results.empty()) {
    return {};
  }
  return type == Float16 ? toNumbers<Half>(results[0]) : toNumbers<float>(results[0]);
}

struct Setting {
  const char* name;
  AttentionCase sizes;
  Changes changes = {};
  double limit = 4.5e-7;
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

class MmaAttentions : public ::testing::TestWithParam<Setting> {};

TEST_P(MmaAttentions, AgreeWithLoopsInDouble) {
  const AttentionNumbers numbers(GetParam().sizes);
  EXPECT_LT(relativeError(resultOf(numbers, GetParam().sizes.type, GetParam().changes), numbers.want()),
            GetParam().limit);
}

// Floats: rounding of scores, of which the exponential makes a relative error, and of sums; halves: that of the
// exponentials and that of the result.
INSTANTIATE_TEST_SUITE_P(
    All, MmaAttentions,
    ::testing::Values(Setting{"Floats", {1, 2, 2, 70, 75, 32, 32}},
                      Setting{"FloatsCausal", {1, 2, 2, 130, 130, 32, 16, Mask::Causal}},
                      Setting{"FloatsWithABias", {1, 2, 2, 70, 75, 24, 20, Mask::Bias, 0.3}},
                      Setting{"FloatsWithAMask", {2, 2, 2, 33, 9, 32, 32, Mask::Bool}},
                      Setting{"FloatsOfGroups", {2, 4, 2, 20, 70, 16, 16}, {{"keep", 1}}},
                      Setting{"FloatsOfAHundred", {1, 1, 1, 64, 96, 100, 72}, {{"tile_keys", 32}}},
                      Setting{"FloatsOfManyRows", {1, 1, 1, 100, 200, 64, 64}, {{"warp_rows", 32}, {"tile_keys", 64}}},
                      Setting{"Halves", {1, 2, 2, 70, 75, 32, 32, Mask::None, {}, Float16}, {{"keep", 1}}, 5e-4},
                      Setting{"HalvesCausal",
                              {1, 2, 2, 128, 128, 64, 64, Mask::Causal, {}, Float16},
                              {{"warp_rows", 32}, {"tile_keys", 64}},
                              5e-4},
                      Setting{"HalvesCausalOfFewKeys", {1, 1, 1, 100, 40, 64, 64, Mask::Causal, {}, Float16}, {}, 5e-4},
                      Setting{"HalvesOfOddSizes", {1, 2, 1, 33, 35, 20, 17, Mask::Bias, {}, Float16}, {}, 5e-4},
                      Setting{"HalvesOfDepth72", {1, 1, 1, 64, 64, 72, 72, Mask::None, {}, Float16}, {}, 5e-4}),
    [](const auto& each) { return each.param.name; });

TEST(MmaAttention, TakesInWhatFollows) {
  const AttentionNumbers numbers({1, 1, 1, 64, 64, 16, 16});
  Numbers want = numbers.want();
  for (double& number : want) {
    number = std::max(number, 0.0);
  }
  EXPECT_EQ(firstDifference(resultOf(numbers, Float32, {}, true), want, 1e-6), "");
}

// Scores of some hundreds, of which one takes it all: what is below the largest by more than 87 is nothing.
TEST(MmaAttention, BearsLargeScores) {
  const AttentionNumbers numbers({1, 1, 1, 40, 70, 32, 32}, 12.0);
  EXPECT_LT(relativeError(resultOf(numbers, Float32, {}), numbers.want()), 2e-5);
}

// Floats of that size are 2 to 128 apart, and the largest score is not found exactly.
TEST(MmaAttention, BearsScoresOfManyMillions) {
  for (const int exponent : {11, 12, 13, 14}) {
    const AttentionNumbers numbers({1, 1, 1, 40, 70, 32, 32}, std::ldexp(1.0, exponent));
    EXPECT_LT(relativeError(resultOf(numbers, Float32, {}), numbers.want()), 2e-6) << "numbers of 2^" << exponent;
  }
}

TEST(MmaAttention, KeepsQueriesKeysAndColumnsOfAnySize) {
  AttentionNumbers numbers({1, 1, 1, 40, 70, 32, 32});
  const auto scale = [](Numbers& tensor, std::size_t first, std::size_t step, int exponent) {
    for (std::size_t i = first; i < tensor.size(); i += step) {
      tensor[i] = std::ldexp(tensor[i], exponent);
    }
  };
  std::transform(numbers.query.begin() + 32, numbers.query.begin() + 64, numbers.query.begin() + 32,
                 [](double x) { return std::ldexp(x, -60); });
  std::fill_n(numbers.key.begin() + 64, 32, 0.0);
  scale(numbers.value, 3, 32, 100);
  scale(numbers.value, 4, 32, -100);
  const Numbers got = resultOf(numbers, Float32, {});
  const Numbers want = numbers.want();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t column = 0; column < 6; ++column) {
    Numbers gotColumn;
    Numbers wantColumn;
    for (std::size_t row = 0; row < 40; ++row) {
      gotColumn.push_back(got[row * 32 + column]);
      wantColumn.push_back(want[row * 32 + column]);
    }
    EXPECT_LT(relativeError(gotColumn, wantColumn), 6e-7) << column;
  }
}

TEST(MmaAttention, SpreadsInfinityAndNanNoFurtherThanFloatDoes) {
  AttentionNumbers numbers({1, 1, 1, 70, 70, 32, 32, Mask::Causal});
  numbers.query[3 * 32 + 1] = kNan;
  numbers.value[66 * 32 + 4] = kInfinity;
  numbers.value[68 * 32 + 5] = kNan;
  EXPECT_EQ(firstDifference(resultOf(numbers, Float32, {}), numbers.want(), 1e-5), "");
}

TEST(MmaAttention, OfMaskedRowsIsZero) {
  AttentionNumbers numbers({1, 1, 1, 40, 45, 32, 32, Mask::Bool});
  std::fill_n(numbers.mask.begin() + 2 * 45, 45, 0.0);
  const Numbers got = resultOf(numbers, Float32, {});
  ASSERT_EQ(got.size(), 40U * 32U);
  EXPECT_EQ(Numbers(got.begin() + 64, got.begin() + 96), Numbers(32, 0.0));
  EXPECT_LT(relativeError(got, numbers.want()), 4.5e-7);
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class AttentionFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(AttentionFaults, CostMoreThanFloatAllows) {
  const AttentionNumbers numbers({1, 1, 1, 70, 100, 32, 32, Mask::Causal});
  domain::Program program = attentionProgram(numbers.builder().graph(), {});
  const std::size_t at = program.source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const auto results = runEmulated(program, numbers.inputs<float>());
  ASSERT_EQ(results.size(), 1U);
  const double error = relativeError(toNumbers<float>(results[0]), numbers.want());
  EXPECT_FALSE(error < 3e-6) << error;
}

INSTANTIATE_TEST_SUITE_P(All, AttentionFaults,
                         ::testing::Values(Fault{"ADroppedTerm", "multiplyHalf(score[r][2 * c], query[0][r], key[1]",
                                                 "if (false) multiplyHalf(score[r][2 * c], query[0][r], key[1]"},
                                           Fault{"SumsThatDoNotShrink", "* remaining[r][h] + sum", "+ sum"},
                                           Fault{"AKeyTooMany", "key > min(row, ", "key > 1 + min(row, "},
                                           Fault{"ValuesThatAreNotWaitedFor",
                                                 "waitForCopies<0>();\n    __syncthreads();\n    if",
                                                 "waitForCopies<1>();\n    __syncthreads();\n    if"}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
