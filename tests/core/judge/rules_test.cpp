// SPDX-License-Identifier: Apache-2.0
#include "core/judge/rules.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "core/base/files.h"
#include "core/judge/case_facts.h"
#include "tests/support/temp_dir.h"

namespace swage::judge {
namespace {

constexpr const char* kRule = R"([[rule]]
id = "mine"
role = "memory"
title = "Mine"
when = ["kernel.registers > 100"]
bottleneck = "{kernel.registers} registers"
method = "Fewer."
gain = "1.5"
source = "me"
steer.operators = {pattern_swap = 2.0}
steer.parameters = {unroll = "down"}
)";

std::string mistakeIn(const std::string& text) {
  RuleBook book;
  const auto added = book.add(text, "mine.toml");
  return added ? "" : added.error().message();
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(RuleBook, ReadsARule) {
  RuleBook book;
  ASSERT_TRUE(book.add(kRule, "mine.toml"));
  const Rule* rule = book.find("mine");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->role, Role::Memory);
  EXPECT_EQ(rule->device, std::nullopt);
  EXPECT_TRUE(rule->isOfKernel());
  EXPECT_EQ(rule->steering.operators.at(domain::OperatorKind::PatternSwap), 2.0);
  EXPECT_EQ(rule->steering.parameters.at("unroll"), -1);
}

TEST(RuleBook, NamesFileAndLineOfAMistake) {
  EXPECT_EQ(mistakeIn(replaced(kRule, "kernel.registers >", "kernel.regsters >")),
            "rules 'mine.toml', line 5: there is no fact 'kernel.regsters'");
  EXPECT_EQ(mistakeIn(replaced(kRule, "{kernel.registers}", "{kernel.regs}")),
            "rules 'mine.toml', line 6: there is no fact 'kernel.regs'");
  EXPECT_EQ(mistakeIn(replaced(kRule, "\"down\"", "\"left\"")),
            "rules 'mine.toml', line 11: a parameter goes up or down");
  EXPECT_EQ(mistakeIn(replaced(kRule, "pattern_swap", "swap")),
            "rules 'mine.toml', line 10: there is no operator 'swap'");
  EXPECT_EQ(mistakeIn(replaced(kRule, "method", "methd")), "rules 'mine.toml', line 7: 'methd' is not known");
  EXPECT_EQ(mistakeIn(replaced(kRule, "source = \"me\"", "")), "rules 'mine.toml', line 1: 'source' is required");
  EXPECT_NE(mistakeIn("[[rule]"), "");
  EXPECT_NE(mistakeIn(std::string(kRule) + kRule), "");
}

TEST(RuleBook, LetsLaterFoldersReplaceAndRemoveRules) {
  const swage::testing::TempDir folder;
  std::ofstream(folder.path() / "b.toml") << replaced(kRule, "1.5", "2");
  std::ofstream(folder.path() / "a.toml") << kRule << replaced(kRule, "\"mine\"", "\"other\"");
  const auto book = RuleBook::load({folder.path(), folder.path() / "missing"});
  ASSERT_TRUE(book) << book.error().message();
  ASSERT_EQ(book->all().size(), 2U);
  EXPECT_EQ(book->find("mine")->gain->text(), "2");
  std::ofstream(folder.path() / "c.toml") << "[[rule]]\nid = \"mine\"\nenabled = false\n";
  EXPECT_EQ(RuleBook::load({folder.path()})->find("mine"), nullptr);
}

TEST(RuleBook, ReadsWhatSwageBrings) {
  const auto book = RuleBook::load({SWAGE_TEST_RULES});
  ASSERT_TRUE(book) << book.error().message();
  std::set<Role> roles;
  for (const Rule& rule : book->all()) {
    roles.insert(rule.role);
    EXPECT_TRUE(!rule.steering.operators.empty()) << rule.id << " tells the built-in coder nothing";
  }
  EXPECT_EQ(roles.size(), static_cast<std::size_t>(kRoleCount));
  for (const char* id : {"uncoalesced_access",
                         "narrow_access",
                         "bank_conflicts",
                         "shared_memory_stalls",
                         "mio_stalls",
                         "occupancy_registers",
                         "occupancy_shared_memory",
                         "occupancy_block",
                         "spills",
                         "tail_effect",
                         "long_scoreboard",
                         "barrier_stalls",
                         "idle_tensor_cores",
                         "low_issue_rate",
                         "launch_bound",
                         "l2_bound",
                         "measured_overfetch",
                         "narrow_vectors",
                         "cache_line_sharing",
                         "far_from_bandwidth",
                         "idle_threads",
                         "compile_error",
                         "wrong_tail",
                         "wrong_row_ends",
                         "wrong_value",
                         "crash",
                         "timeout"}) {
    EXPECT_NE(book->find(id), nullptr) << id;
  }
}

TEST(RuleBook, HasADocumentThatListsAllFacts) {
  const auto text = readTextFile(std::filesystem::path(SWAGE_TEST_RULES) / "README.md");
  ASSERT_TRUE(text);
  for (const std::string_view name : factNames()) {
    EXPECT_NE(text->find("`" + std::string(name) + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace swage::judge
