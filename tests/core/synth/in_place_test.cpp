// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/domain/checks.h"
#include "core/synth/operations.h"
#include "core/synth/rewriting/rewriting.h"
#include "tests/core/synth/in_place.h"
#include "tests/core/synth/lab.h"

// Concatenations whose parts are written where they belong.
namespace swage::synth {
namespace {

using domain::Genome;

std::vector<std::string> rulesOf(const domain::Graph& graph) {
  std::vector<std::string> names;
  for (const domain::Rewrite& rewrite : allRewrites(graph, "concatenate in place")) {
    names.push_back(rewrite.rule);
  }
  return names;
}

TEST(InPlace, APartLiesInTheWholeAndNoStepConcatenates) {
  const domain::Graph graph = fireModule();
  const domain::ValueId whole = graph.outputs.front().value;
  for (const auto language : {domain::Language::Cpp, domain::Language::CudaCpp}) {
    const auto synthesizer = makeSynthesizer(graph, device(language));
    const std::vector<Genome> seeds = inPlaceSeeds(*synthesizer, 4);
    ASSERT_FALSE(seeds.empty());
    for (const Genome& seed : seeds) {
      EXPECT_FALSE(domain::isAlgebraic(seed));
      const auto program = synthesizer->realise(seed);
      ASSERT_TRUE(program.has_value()) << program.error().message();
      EXPECT_EQ(domain::findDefect(program->plan), "");
      int writers = 0;
      for (const domain::PlanStep& step : program->plan.steps) {
        const auto* kernel = std::get_if<domain::KernelStep>(&step);
        ASSERT_NE(kernel, nullptr);
        writers += std::any_of(kernel->arguments.begin(), kernel->arguments.end(),
                               [whole](const auto& argument) { return domain::bufferOf(argument) == whole; });
      }
      EXPECT_GE(writers, 3) << domain::canonicalText(seed);
    }
  }
}

TEST(InPlace, TheResultIsThatOfACopy) {
  const domain::Graph graph = fireModule();
  const auto synthesizer = makeSynthesizer(graph, cpuDevice());
  const std::vector<Genome> all = synthesizer->seeds();
  const auto plain = std::find_if(all.begin(), all.end(), [](const Genome& seed) { return seed.rewrites.empty(); });
  ASSERT_NE(plain, all.end());
  const std::vector<Bytes> inputs = inputsOf(graph);
  const std::vector<double> wanted = toNumbers<float>(runOnCpu(*synthesizer->realise(*plain), inputs).front());
  for (const Genome& seed : inPlaceSeeds(*synthesizer, 3)) {
    const auto program = synthesizer->realise(seed);
    EXPECT_EQ(firstDifference(toNumbers<float>(runOnCpu(*program, inputs).front()), wanted, 1e-5), "")
        << domain::canonicalText(seed);
  }
}

// PyTorch's convolutions, whose bias a kernel of ours adds, in the place of the part.
TEST(InPlace, WorksBehindLibraryConvolutions) {
  const std::vector<Genome> seeds = makeSynthesizer(fireModule(), cudaDevice())->seeds();
  EXPECT_TRUE(std::any_of(seeds.begin(), seeds.end(), [](const Genome& seed) {
    return seed.rewrites.size() > 1 && seed.rewrites.front().rule != "concatenate in place" &&
           seed.rewrites.back().rule == "concatenate in place";
  }));
}

TEST(InPlace, TheRewrittenGraphIsValid) {
  const domain::Graph graph = fireModule();
  const auto changed = rewritten(graph, allRewrites(graph));
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(domain::findDefect(*changed), "");
  EXPECT_EQ(changed->outputs.front().value, graph.outputs.front().value);
}

TEST(InPlace, APartCannotBeLeftToPyTorch) {
  const auto synthesizer = makeSynthesizer(fireModule(), cudaDevice());
  Genome genome = inPlaceSeeds(*synthesizer, 1).front();
  genome.regions.pop_back();
  EXPECT_FALSE(synthesizer->realise(genome).has_value());
}

TEST(InPlace, OneKernelDoesNotWriteTwoParts) {
  GraphBuilder b;
  const auto x = b.input({64, 64});
  domain::ArgumentList parts = {arg(b.relu(x)), arg(b.mul(x, 0.5))};
  b.output(b.call("aten.cat.default", {domain::Argument{parts}, arg(1)}, {64, 128}));
  const auto synthesizer = makeSynthesizer(b.graph(), cpuDevice());
  const std::vector<Genome> seeds = inPlaceSeeds(*synthesizer, 1);
  ASSERT_FALSE(seeds.empty());
  EXPECT_EQ(seeds.front().regions.size(), 2U);
  const std::vector<Bytes> inputs = inputsOf(b.graph());
  const std::vector<double> numbers = toNumbers<float>(inputs.front());
  std::vector<double> wanted;
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t column = 0; column < 128; ++column) {
      const double number = numbers[row * 64 + column % 64];
      wanted.push_back(column < 64 ? std::max(number, 0.0) : number * 0.5);
    }
  }
  EXPECT_EQ(
      firstDifference(toNumbers<float>(runOnCpu(*synthesizer->realise(seeds.front()), inputs).front()), wanted, 0.0),
      "");
}

TEST(InPlace, InputsAndSharedValuesAreCopied) {
  GraphBuilder given;
  const auto x = given.input({4, 8});
  domain::ArgumentList parts = {arg(x), arg(given.relu(x))};
  given.output(given.call("aten.cat.default", {domain::Argument{parts}, arg(0)}, {8, 8}));
  EXPECT_THAT(rulesOf(given.graph()), ::testing::IsEmpty());
  GraphBuilder needed;
  const auto y = needed.input({4, 8});
  const auto first = needed.relu(y);
  domain::ArgumentList both = {arg(first), arg(needed.mul(first, 2.0))};
  needed.output(needed.call("aten.cat.default", {domain::Argument{both}, arg(0)}, {8, 8}));
  EXPECT_THAT(rulesOf(needed.graph()), ::testing::IsEmpty());
  EXPECT_THAT(rulesOf(fireModule()), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace swage::synth
