// SPDX-License-Identifier: Apache-2.0
// Genomes with rewrites: where they come from, what operators make of them, and what their programs are.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/domain/checks.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/mean_of_linear.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::OperatorKind;
using domain::ValueId;
using swage::testing::IsError;
using ::testing::IsEmpty;

class RewrittenGenomes : public ::testing::TestWithParam<domain::Language> {
 protected:
  RewrittenGenomes() : m_synthesizer(makeSynthesizer(meanOfLinear(true).graph(), device(GetParam()))) {}

  [[nodiscard]] Genome rewrittenSeed() const {
    for (const Genome& seed : m_synthesizer->seeds()) {
      if (!seed.rewrites.empty()) {
        return seed;
      }
    }
    return {};
  }

  std::unique_ptr<Synthesizer> m_synthesizer;
};

TEST_P(RewrittenGenomes, AreAmongTheFirstSeeds) {
  const std::vector<Genome> seeds = m_synthesizer->seeds();
  // Which of the two comes first follows from what they are estimated to take.
  const auto end = seeds.begin() + std::min<std::ptrdiff_t>(8, std::ssize(seeds));
  const auto same = std::find_if(seeds.begin(), end, [](const Genome& seed) { return seed.rewrites.empty(); });
  const auto other = std::find_if(seeds.begin(), end, [](const Genome& seed) { return seed.rewrites.size() == 1; });
  ASSERT_NE(same, end);
  ASSERT_NE(other, end);
  EXPECT_EQ(other->rewrites.front().rule, "reduce before product");
  EXPECT_TRUE(domain::isAlgebraic(*other));
  EXPECT_FALSE(domain::isAlgebraic(*same));
}

TEST_P(RewrittenGenomes, HaveTheInputsAndOutputsOfTheTask) {
  const domain::Graph graph = meanOfLinear(true).graph();
  const auto program = m_synthesizer->realise(rewrittenSeed());
  ASSERT_TRUE(program.has_value()) << program.error().message();
  EXPECT_EQ(domain::findDefect(program->plan), "");
  ASSERT_EQ(program->plan.inputs.size(), graph.inputs.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    EXPECT_EQ(program->plan.inputs[i], graph.inputs[i].value);
  }
  EXPECT_EQ(program->plan.outputs.front(), graph.outputs.front().value);
  for (std::size_t value = 0; value < graph.values.size(); ++value) {
    EXPECT_EQ(program->plan.buffers[value], graph.values[value]);
  }
  EXPECT_THAT(program->source,
              ::testing::StartsWith("// Rewritten: A sum, mean or average pool after a matrix product"));
}

TEST_P(RewrittenGenomes, StayRewrittenUnderOtherOperators) {
  Random random(5);
  for (const OperatorKind kind :
       {OperatorKind::Parameter, OperatorKind::Split, OperatorKind::Merge, OperatorKind::PatternSwap}) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (const auto varied = m_synthesizer->vary(kind, rewrittenSeed(), nullptr, nullptr, random)) {
        EXPECT_EQ(varied->rewrites, rewrittenSeed().rewrites);
        EXPECT_TRUE(m_synthesizer->realise(*varied).has_value());
      }
    }
  }
  for (const Genome& next : m_synthesizer->neighbours(rewrittenSeed())) {
    EXPECT_EQ(next.rewrites, rewrittenSeed().rewrites);
  }
}

TEST_P(RewrittenGenomes, AreMadeAndUndoneByTheOperator) {
  Random random(5);
  const Genome original = m_synthesizer->seeds().front();
  const auto there = m_synthesizer->vary(OperatorKind::Rewrite, original, nullptr, nullptr, random);
  ASSERT_TRUE(there.has_value());
  EXPECT_EQ(there->rewrites, rewrittenSeed().rewrites);
  const auto back = m_synthesizer->vary(OperatorKind::Rewrite, *there, nullptr, nullptr, random);
  ASSERT_TRUE(back.has_value());
  EXPECT_THAT(back->rewrites, IsEmpty());
  EXPECT_TRUE(m_synthesizer->realise(*there).has_value());
  EXPECT_TRUE(m_synthesizer->realise(*back).has_value());
}

TEST_P(RewrittenGenomes, AreNotCrossedWithThoseOfAnotherGraph) {
  Random random(5);
  const Genome original = m_synthesizer->seeds().front();
  const Genome other = rewrittenSeed();
  EXPECT_FALSE(m_synthesizer->vary(OperatorKind::Crossover, original, &other, nullptr, random).has_value());
}

TEST_P(RewrittenGenomes, AreRefusedWhereARewriteDoesNotFit) {
  Genome genome = rewrittenSeed();
  genome.rewrites.front().value = ValueId(4);
  EXPECT_THAT(m_synthesizer->realise(genome), IsError(ErrorKind::InvalidInput, ::testing::Not("")));
}

INSTANTIATE_TEST_SUITE_P(Languages, RewrittenGenomes,
                         ::testing::Values(domain::Language::Cpp, domain::Language::CudaCpp));

}  // namespace
}  // namespace swage::synth
