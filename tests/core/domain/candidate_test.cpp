// SPDX-License-Identifier: Apache-2.0
#include "core/domain/candidate.h"

#include <gmock/gmock.h>

#include <set>

#include "core/domain/origin.h"
#include "tests/core/domain/samples.h"

namespace swage::domain {
namespace {

TEST(Genome, CanonicalTextHasEverything) {
  EXPECT_EQ(canonicalText(testing::sampleGenome()), "0,1,4:row_block{block=256,vector=4,};2:pointwise{};");
  EXPECT_EQ(canonicalText({}), "");
}

TEST(Genome, StructureTextLeavesParametersOut) {
  Genome other = testing::sampleGenome();
  other.regions[0].parameters["block"] = 128;
  EXPECT_EQ(structureText(other), "0,1,4:row_block;2:pointwise;");
  EXPECT_NE(canonicalText(other), canonicalText(testing::sampleGenome()));
}

TEST(Genome, CanonicalTextCannotBeForgedByNames) {
  const Genome two{{{{0}, "a", {}}, {{1}, "b", {}}}};
  const Genome one{{{{0}, "a{};1:b", {}}}};
  EXPECT_NE(canonicalText(two), canonicalText(one));
  const Genome parameters{{{{0}, "a", {{"x", 1}, {"y", 2}}}}};
  const Genome forged{{{{0}, "a", {{"x=1,y", 2}}}}};
  EXPECT_NE(canonicalText(parameters), canonicalText(forged));
}

TEST(Program, NamesEachEntryOnce) {
  Program program = testing::sampleProgram();
  program.plan.steps.push_back(program.plan.steps[1]);
  KernelStep second = std::get<KernelStep>(program.plan.steps[1]);
  second.entry = "second";
  program.plan.steps.emplace_back(second);
  EXPECT_THAT(program.entries(), ::testing::ElementsAre("row_block_0", "second"));
}

TEST(OperatorKinds, CanBeReadBack) {
  for (int i = 0; i <= static_cast<int>(OperatorKind::Coder); ++i) {
    const auto kind = static_cast<OperatorKind>(i);
    EXPECT_EQ(parseOperatorKind(name(kind)), kind);
  }
  EXPECT_EQ(parseOperatorKind("unknown"), std::nullopt);
}

TEST(ProposerNames, AreThoseOfOperatorsAndAnyOtherPlainName) {
  EXPECT_EQ(ProposerName(OperatorKind::PatternSwap).text(), "pattern swap");
  EXPECT_EQ(ProposerName::parse("pattern swap"), ProposerName(OperatorKind::PatternSwap));
  const auto other = ProposerName::parse("coder 4.5/flash+judge");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->text(), "coder 4.5/flash+judge");
  EXPECT_EQ(other->kind(), std::nullopt);
  EXPECT_FALSE(*other == OperatorKind::Coder);
}

TEST(ProposerNames, SayWhatKindOfMakerItIs) {
  EXPECT_EQ(originOf(OperatorKind::Crossover), Origin::Search);
  EXPECT_EQ(originOf(OperatorKind::Human), Origin::Person);
  const ProposerName model = *ProposerName::parse("mcpherson 4");
  EXPECT_EQ(originOf(model), Origin::Model);
  EXPECT_EQ(ownName(model), "mcpherson 4");
  const ProposerName agent = *ProposerName::parse("mcp/claude code");
  EXPECT_EQ(originOf(agent), Origin::Agent);
  EXPECT_EQ(ownName(agent), "claude code");
  EXPECT_EQ(originOf(*ProposerName::parse("mcp")), Origin::Agent);
  EXPECT_EQ(ownName(*ProposerName::parse("mcp")), "mcp");
}

TEST(ProposerNames, HaveOnlyWhatCanBeTypedInAFilter) {
  for (const char* text :
       {"", " coder", "coder ", "a  b", "Coder", "4coder", "a-b", "a_b", "a\nb", "caf\u00e9", "a'b", "coder."}) {
    EXPECT_EQ(ProposerName::parse(text), std::nullopt) << text;
  }
  EXPECT_TRUE(ProposerName::parse(std::string(ProposerName::kMaxLength, 'a')));
  EXPECT_FALSE(ProposerName::parse(std::string(ProposerName::kMaxLength + 1, 'a')));
}

TEST(ProposerNames, AreOrderedAsTheOperatorsAreWithTheOthersBehind) {
  const std::set<ProposerName> names = {*ProposerName::parse("zen"), *ProposerName::parse("abacus"),
                                        OperatorKind::Human, OperatorKind::Synthesis};
  std::vector<std::string> texts;
  for (const ProposerName& one : names) {
    texts.push_back(one.text());
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("synthesis", "human", "abacus", "zen"));
}

TEST(DeviceKinds, CanBeReadBack) {
  EXPECT_EQ(parseDeviceKind("cpu"), DeviceKind::Cpu);
  EXPECT_EQ(parseDeviceKind(name(DeviceKind::Cuda)), DeviceKind::Cuda);
  EXPECT_EQ(parseDeviceKind("auto"), std::nullopt);
}

}  // namespace
}  // namespace swage::domain
