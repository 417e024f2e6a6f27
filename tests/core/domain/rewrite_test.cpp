// SPDX-License-Identifier: Apache-2.0
#include "core/domain/rewrite.h"

#include <gmock/gmock.h>

#include <set>

#include "core/domain/candidate.h"

namespace swage::domain {
namespace {

TEST(RewriteRules, HaveNamesOfTheirOwnAndSentencesWithoutAFullStop) {
  std::set<std::string_view> names;
  for (const RewriteRule& rule : rewriteRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_EQ(findRewriteRule(rule.name), &rule);
    EXPECT_THAT(std::string(rule.meaning), ::testing::MatchesRegex("[A-Z].*[^.]"));
  }
  EXPECT_EQ(findRewriteRule("no such rule"), nullptr);
}

TEST(Rewrite, IsDescribedWithItsLineAndItsKind) {
  EXPECT_EQ(describe({"double transpose", ValueId(3), "model.py:14 in forward"}),
            "Two transposes that undo each other are left out (model.py:14 in forward)");
  EXPECT_EQ(describe({"fold batch norm", ValueId(3), {}}),
            "A batch norm in evaluation mode is folded into the weights and bias before it, algebraic");
  EXPECT_EQ(describe({"of a later version", ValueId(3), {}}), "of a later version, algebraic");
}

TEST(Rewrite, MakesAGenomeAlgebraicOnlyWhereItsRuleIs) {
  Genome genome;
  EXPECT_FALSE(isAlgebraic(genome));
  genome.rewrites = {{"double transpose", ValueId(3), {}}};
  EXPECT_FALSE(isAlgebraic(genome));
  genome.rewrites.push_back({"fold batch norm", ValueId(4), {}});
  EXPECT_TRUE(isAlgebraic(genome));
  genome.rewrites = {{"of a later version", ValueId(4), {}}};
  EXPECT_TRUE(isAlgebraic(genome));
}

TEST(Rewrite, IsAPartOfTheStructure) {
  const Genome plain{{{{0}, "a", {}}}};
  const Genome rewritten{{{{0}, "a", {}}}, {{"fold batch norm", ValueId(4), {}}}};
  EXPECT_EQ(canonicalText(rewritten), "fold batch norm=4;0:a{};");
  EXPECT_EQ(structureText(rewritten), "fold batch norm=4;0:a;");
  EXPECT_NE(canonicalText(rewritten), canonicalText(plain));
}

}  // namespace
}  // namespace swage::domain
