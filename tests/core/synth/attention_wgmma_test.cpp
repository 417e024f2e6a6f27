// SPDX-License-Identifier: Apache-2.0
// What attention by wgmma computes, by the emulation: masks, tails, groups of heads and layouts; what it asks of the
// copy engine, and what it refuses.
#include "core/synth/strategies/attention_wgmma.h"

#include <gmock/gmock.h>

#include <numeric>
#include <ostream>

#include "tests/core/synth/attention_numbers.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using Changes = std::map<std::string, std::int64_t>;
using Mask = AttentionCase::Mask;
using ::testing::ElementsAre;
using enum domain::ScalarType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHalfError = 5e-4;

// All of the graph in one region.
Result<domain::Program> realise(const domain::Graph& graph, const Changes& changes,
                                const patterns::Catalogue& patterns = catalogue(),
                                const domain::DeviceInfo& device = cudaDevice()) {
  domain::Genome genome{{{{}, "attention_wgmma", {}}}};
  genome.regions[0].nodes.resize(graph.nodes.size());
  std::iota(genome.regions[0].nodes.begin(), genome.regions[0].nodes.end(), 0);
  for (const patterns::Parameter& parameter : patterns.find(domain::Language::CudaCpp, "attention_wgmma")->parameters) {
    const auto given = changes.find(parameter.name);
    genome.regions[0].parameters[parameter.name] = given != changes.end() ? given->second : parameter.standard;
  }
  SWAGE_TRY_ASSIGN(const std::unique_ptr<Synthesizer> synthesizer, Synthesizer::create(graph, device, patterns));
  return synthesizer->realise(genome);
}

// Of numbers and a graph that agree with each other; changes beside steps of 64 keys.
Numbers resultOf(const AttentionNumbers& numbers, const domain::Graph& graph, Changes changes = {}) {
  changes.emplace("tile_keys", 64);
  const auto program = realise(graph, changes, emulatedCatalogue());
  EXPECT_THAT(program, swage::testing::IsOk());
  const auto results = program ? runEmulated(*program, numbers.inputs<Half>()) : std::vector<Bytes>();
  return results.empty() ? Numbers() : toNumbers<Half>(results[0]);
}

AttentionCase halves(std::size_t queries, std::size_t keys, std::size_t width, Mask mask = Mask::None) {
  return {1, 2, 2, queries, keys, width, width, mask, {}, Float16};
}

// --- numbers ---------------------------------------------------------------------------------------------------------

struct Setting {
  const char* name;
  AttentionCase sizes;
  Changes changes = {};
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

class WarpGroupAttentions : public ::testing::TestWithParam<Setting> {};

TEST_P(WarpGroupAttentions, AgreeWithLoopsInDouble) {
  const AttentionNumbers numbers(GetParam().sizes);
  EXPECT_LT(relativeError(resultOf(numbers, numbers.builder().graph(), GetParam().changes), numbers.want()),
            kHalfError);
}

INSTANTIATE_TEST_SUITE_P(
    All, WarpGroupAttentions,
    ::testing::Values(
        Setting{"OfWholeTiles", halves(128, 256, 64)}, Setting{"WithTails", halves(200, 150, 64)},
        Setting{"OfOneStep", halves(128, 64, 64)}, Setting{"Causal", halves(256, 256, 64, Mask::Causal)},
        Setting{"CausalOfFewKeys", halves(300, 100, 64, Mask::Causal)},
        Setting{"CausalOfManyKeys", halves(130, 300, 64, Mask::Causal)},
        Setting{"WithABias", halves(130, 150, 64, Mask::Bias)},
        Setting{"WithABiasReadAhead", halves(130, 152, 64, Mask::Bias)},
        Setting{"WithABiasReadAheadStepByStep", halves(128, 128, 32, Mask::Bias), {{"overlap", 0}, {"turns", 0}}},
        Setting{"WithAMask", halves(130, 150, 32, Mask::Bool)}, Setting{"OfHeadsOf128", halves(128, 130, 128)},
        Setting{"OfHeadsOf256", halves(128, 130, 256), {{"tile_keys", 80}}},
        Setting{"OfHeadsOf72", halves(130, 100, 72)},
        Setting{"OfOtherColumns", {1, 2, 2, 130, 100, 64, 24, Mask::None, {}, Float16}},
        Setting{"OfGroups", {2, 6, 2, 128, 100, 64, 64, Mask::Causal, {}, Float16}},
        Setting{"OfThreeWarpGroups", halves(384, 200, 64, Mask::Causal), {{"groups", 3}}},
        Setting{"InManySlots", halves(128, 500, 64), {{"slots", 4}}},
        Setting{"WithoutTurns", halves(200, 150, 64, Mask::Causal), {{"turns", 0}}},
        Setting{"StepByStep", halves(200, 300, 64, Mask::Causal), {{"overlap", 0}, {"turns", 0}}}),
    [](const auto& each) { return each.param.name; });

// Blocks make one tile after another, and causal ones to and fro.
TEST(WarpGroupAttention, OfFewBlocksMakesAllTiles) {
  for (const Mask mask : {Mask::None, Mask::Causal}) {
    const AttentionNumbers numbers({3, 2, 2, 300, 130, 32, 32, mask, {}, Float16});
    domain::DeviceInfo device = cudaDevice();
    device.multiprocessors = 4;
    const auto program = realise(numbers.builder().graph(), {{"tile_keys", 64}}, emulatedCatalogue(), device);
    ASSERT_THAT(program, swage::testing::IsOk());
    EXPECT_EQ(std::get<domain::KernelStep>(program->plan.steps.back()).grid.x, 4U);
    const auto results = runEmulated(*program, numbers.inputs<Half>());
    ASSERT_EQ(results.size(), 1U);
    EXPECT_LT(relativeError(toNumbers<Half>(results[0]), numbers.want()), kHalfError);
  }
}

TEST(WarpGroupAttention, TakesInWhatFollows) {
  const AttentionNumbers numbers(halves(128, 64, 32));
  Numbers want = numbers.want();
  for (double& number : want) {
    number = std::max(number, 0.0);
  }
  EXPECT_LT(relativeError(resultOf(numbers, numbers.builder(true).graph()), want), kHalfError);
}

// Scores of some hundreds, of which one takes it all; sums shrink again and again.
TEST(WarpGroupAttention, BearsLargeScores) {
  const AttentionNumbers numbers(halves(128, 400, 32), 8.0);
  EXPECT_LT(relativeError(resultOf(numbers, numbers.builder().graph()), numbers.want()), 2e-3);
}

TEST(WarpGroupAttention, OfMaskedRowsIsZero) {
  AttentionNumbers numbers(halves(128, 130, 32, Mask::Bool));
  std::fill_n(numbers.mask.begin() + 2 * 130, 130, 0.0);
  const Numbers got = resultOf(numbers, numbers.builder().graph());
  ASSERT_EQ(got.size(), 2U * 128U * 32U);
  EXPECT_EQ(Numbers(got.begin() + 64, got.begin() + 96), Numbers(32, 0.0));
  EXPECT_LT(relativeError(got, numbers.want()), kHalfError);
}

// A weight of zero times an infinity is NaN, for all queries of the tile; other columns and heads have nothing of it.
TEST(WarpGroupAttention, KeepsAnInfinityInItsColumn) {
  AttentionNumbers numbers(halves(128, 100, 32, Mask::Causal));
  numbers.value[90 * 32 + 4] = kInfinity;
  const Numbers got = resultOf(numbers, numbers.builder().graph());
  const Numbers want = numbers.want();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool isOfColumn = i < 128 * 32 && i % 32 == 4;
    if (!isOfColumn) {
      EXPECT_NEAR(got[i], want[i], 1e-2) << i;
    } else if (i / 32 >= 90) {
      EXPECT_FALSE(std::isfinite(got[i])) << i;
    }
  }
}

// [batch, queries, heads, depth] turned, as models have it after a linear layer: no two axes are walked as one.
TEST(WarpGroupAttention, ReadsHeadsThatLieBesideEachOther) {
  AttentionNumbers numbers({2, 2, 2, 128, 100, 64, 64, Mask::Causal, {}, Float16});
  domain::Graph graph = numbers.builder().graph();
  const Numbers want = numbers.want();
  Numbers turned(numbers.query.size());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const std::size_t depth = i % 64;
    const std::size_t row = i / 64 % 128;
    const std::size_t head = i / 64 / 128 % 2;
    turned[((i / 64 / 128 / 2 * 128 + row) * 2 + head) * 64 + depth] = numbers.query[i];
  }
  numbers.query = turned;
  graph.values[static_cast<std::size_t>(graph.inputs[0].value.value())].strides = {128 * 128, 64, 128, 1};
  EXPECT_LT(relativeError(resultOf(numbers, graph), want), kHalfError);
}

// --- the plan --------------------------------------------------------------------------------------------------------

TEST(WarpGroupAttention, AsksTheCopyEngineForBlocksOf64Numbers) {
  const AttentionNumbers numbers({2, 6, 2, 300, 200, 128, 72, Mask::None, {}, BFloat16});
  const auto program = realise(numbers.builder().graph(), {});
  ASSERT_THAT(program, swage::testing::IsOk());
  EXPECT_EQ(domain::findDefect(program->plan), "");
  ASSERT_EQ(program->plan.steps.size(), 1U);
  const auto& step = std::get<domain::KernelStep>(program->plan.steps[0]);
  EXPECT_EQ(step.block.x, 384U);
  EXPECT_EQ(step.grid.x, 2U * 6U * 3U);
  const auto& query = std::get<domain::TensorMap>(step.arguments[0]);
  EXPECT_EQ(query.element, domain::MapElement::BFloat16);
  EXPECT_THAT(query.sizes, ElementsAre(128, 300, 3, 4));  // three heads share keys, of four in all batches
  EXPECT_THAT(query.box, ElementsAre(64, 128, 1, 1));
  const auto& value = std::get<domain::TensorMap>(step.arguments[2]);
  EXPECT_THAT(value.sizes, ElementsAre(72, 200, 4));
  EXPECT_THAT(value.strides, ElementsAre(144, 144 * 200));
  EXPECT_THAT(value.box, ElementsAre(64, 128, 1));
}

// --- what is refused -------------------------------------------------------------------------------------------------

TEST(WarpGroupAttention, IsForCapabilityNineAlone) {
  const AttentionNumbers numbers(halves(256, 256, 64));
  domain::DeviceInfo other = cudaDevice();
  other.computeCapability = 100;
  EXPECT_FALSE(realise(numbers.builder().graph(), {}, catalogue(), other).has_value());
  EXPECT_THAT(realise(numbers.builder().graph(), {}), swage::testing::IsOk());
}

TEST(WarpGroupAttention, RefusesWhatItCannotHoldOrReach) {
  const auto refuses = [](AttentionCase sizes, const Changes& changes) {
    return !realise(AttentionNumbers(sizes).builder().graph(), changes).has_value();
  };
  EXPECT_TRUE(refuses({1, 2, 2, 256, 256, 64, 64}, {})) << "floats";
  EXPECT_TRUE(refuses(halves(256, 256, 100), {})) << "lines of 200 bytes";
  EXPECT_TRUE(refuses(halves(256, 256, 264), {})) << "heads of 264";
  EXPECT_TRUE(refuses(halves(256, 256, 256), {})) << "the registers of 128 keys";
  EXPECT_TRUE(refuses(halves(256, 256, 128), {{"slots", 4}})) << "288 KiB of tiles";
  EXPECT_TRUE(refuses(halves(256, 256, 64), {{"groups", 3}, {"tile_keys", 160}})) << "160 registers of a thread";
  EXPECT_TRUE(refuses(halves(32, 256, 64), {})) << "a quarter of a tile";
  EXPECT_FALSE(refuses(halves(256, 256, 128), {{"tile_keys", 176}}));
}

// --- faults ----------------------------------------------------------------------------------------------------------

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class WarpGroupFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(WarpGroupFaults, CostMoreThanHalvesAllow) {
  const AttentionNumbers numbers(halves(200, 300, 128, Mask::Causal), 3.0);
  auto program = realise(numbers.builder().graph(), {{"tile_keys", 64}}, emulatedCatalogue());
  ASSERT_THAT(program, swage::testing::IsOk());
  const std::size_t at = program->source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program->source;
  program->source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const auto results = runEmulated(*program, numbers.inputs<Half>());
  ASSERT_EQ(results.size(), 1U);
  const double error = relativeError(toNumbers<Half>(results[0]), numbers.want());
  EXPECT_FALSE(error < 2e-3) << error;
}

INSTANTIATE_TEST_SUITE_P(All, WarpGroupFaults,
                         ::testing::Values(Fault{"AKeyTooMany", "key > ", "key > 1 + "},
                                           Fault{"SumsThatDoNotShrink", "total[i] *= remaining[i / 2 % 2]", ""},
                                           Fault{"WeightsThatDoNotShrink", "weights[h] * remaining[h] + sum",
                                                 "weights[h] + sum"},
                                           Fault{"ValuesOfTheStepAfter", "addValues(before", "addValues(slot"},
                                           Fault{"ALeadOfOtherTiles", "* 16384, 8192)", "* 16384, 4096)"}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
