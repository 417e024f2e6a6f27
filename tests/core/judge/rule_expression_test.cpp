// SPDX-License-Identifier: Apache-2.0
#include "core/judge/rule_expression.h"

#include <gtest/gtest.h>

namespace swage::judge {
namespace {

std::optional<double> valueOf(std::string_view text, const Facts& facts = {}) {
  const auto parsed = RuleExpression::parse(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message());
  return parsed ? parsed->value(facts) : std::nullopt;
}

Facts some() {
  Facts facts;
  facts.set("kernel.registers", 128.0);
  facts.set("kernel.spill_bytes", 0.0);
  return facts;
}

TEST(RuleExpression, ComputesAsWritten) {
  EXPECT_EQ(valueOf("1 + 2 * 3 - 4 / 2"), 5.0);
  EXPECT_EQ(valueOf("(1 + 2) * -3"), -9.0);
  EXPECT_EQ(valueOf("min(2, max(1, 3))"), 2.0);
  EXPECT_EQ(valueOf("8 / 2 / 2"), 2.0);
  EXPECT_EQ(valueOf("1e-3 * 1000"), 1.0);
}

TEST(RuleExpression, ComparesAndConnects) {
  EXPECT_EQ(valueOf("kernel.registers >= 128 and not kernel.spill_bytes > 0", some()), 1.0);
  EXPECT_EQ(valueOf("kernel.registers < 128 or kernel.spill_bytes == 0", some()), 1.0);
  EXPECT_EQ(valueOf("1 != 1", some()), 0.0);
}

TEST(RuleExpression, HasNoValueWhereAFactIsMissing) {
  EXPECT_EQ(valueOf("kernel.waves > 1", some()), std::nullopt);
  EXPECT_EQ(valueOf("min(kernel.waves, 1)", some()), std::nullopt);
  EXPECT_EQ(valueOf("known(kernel.waves)", some()), 0.0);
  EXPECT_EQ(valueOf("known(kernel.registers)", some()), 1.0);
}

TEST(RuleExpression, DecidesWhereTheMissingSideDoesNotMatter) {
  EXPECT_EQ(valueOf("kernel.waves > 1 or kernel.registers > 1", some()), 1.0);
  EXPECT_EQ(valueOf("kernel.waves > 1 and kernel.registers < 1", some()), 0.0);
  EXPECT_EQ(valueOf("kernel.waves > 1 and kernel.registers > 1", some()), std::nullopt);
}

TEST(RuleExpression, DividesByNothingWithoutAValue) {
  EXPECT_EQ(valueOf("1 / kernel.spill_bytes", some()), std::nullopt);
}

TEST(RuleExpression, NamesTheFactsItNeeds) {
  const auto parsed = RuleExpression::parse("known(a.b) and c > min(d, 1)");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->names(), (std::vector<std::string>{"a.b", "c", "d"}));
}

TEST(RuleExpression, SaysWhereAMistakeIs) {
  for (const char* wrong : {"", "1 +", "(1", "sqrt(2)", "1 2", "known(3)", "a >> b", "min(1)"}) {
    EXPECT_FALSE(RuleExpression::parse(wrong)) << wrong;
  }
  EXPECT_EQ(RuleExpression::parse("1 + * 2").error().message(), "'1 + * 2': a number or a fact is missing at column 5");
  EXPECT_FALSE(RuleExpression::parse(std::string(100, '(') + "1" + std::string(100, ')')));
  EXPECT_FALSE(RuleExpression::parse(std::string(10000, '-') + "1"));
}

TEST(Facts, FillTexts) {
  Facts facts = some();
  facts.set("share", 0.256);
  facts.set("bytes", 1536.0);
  facts.set("time", 2500.0);
  facts.setWord("entry", "softmax");
  EXPECT_EQ(facts.fill("{entry}: {kernel.registers} registers, {share:%}, {bytes:bytes}, {time:time}"),
            "softmax: 128 registers, 26 %, 1.5 KiB, 2.5 us");
  EXPECT_EQ(facts.fill("{unknown}"), std::nullopt);
}

}  // namespace
}  // namespace swage::judge
