// SPDX-License-Identifier: Apache-2.0
#include "app/workbench/options.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage::workbench {
namespace {

using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::HasSubstr;

WorkbenchOptions parse(const std::vector<std::string>& arguments) {
  const auto parsed = parseOptions(arguments);
  EXPECT_THAT(parsed, IsOk());
  return parsed ? std::get<WorkbenchOptions>(*parsed) : WorkbenchOptions{};
}

TEST(WorkbenchOptions, NeedNothing) {
  const WorkbenchOptions options = parse({});
  EXPECT_TRUE(options.spec.task.empty());
  EXPECT_FALSE(options.start);
  EXPECT_EQ(options.theme, std::nullopt);
  EXPECT_EQ(options.spec.timeBudgetSeconds, 60.0);
}

TEST(WorkbenchOptions, DescribeAWholeRun) {
  const WorkbenchOptions options = parse({"softmax_rows",
                                          "--start",
                                          "--target",
                                          "cpu",
                                          "--time-budget",
                                          "2m",
                                          "--project",
                                          "p",
                                          "--set",
                                          "rows=64",
                                          "--set",
                                          "columns=8=x",
                                          "--seed",
                                          "3",
                                          "--max-evaluations",
                                          "5",
                                          "--theme",
                                          "dark",
                                          "--layout",
                                          "inspect",
                                          "--page",
                                          "agents",
                                          "--page",
                                          "kernel",
                                          "--command",
                                          "compareWithParent",
                                          "--screenshot",
                                          "a.png",
                                          "--after-run",
                                          "--quit-after-run"});
  EXPECT_EQ(options.spec.task, "softmax_rows");
  EXPECT_EQ(options.spec.target, "cpu");
  EXPECT_EQ(options.spec.timeBudgetSeconds, 120.0);
  EXPECT_EQ(options.spec.project, "p");
  EXPECT_EQ(options.spec.overrides,
            (std::vector<std::pair<std::string, std::string>>{{"rows", "64"}, {"columns", "8=x"}}));
  EXPECT_EQ(options.spec.seed, 3U);
  EXPECT_EQ(options.spec.maxEvaluations, 5);
  EXPECT_EQ(options.theme, ui::ThemeChoice::Dark);
  EXPECT_EQ(options.layout, ui::Layout::Inspect);
  EXPECT_EQ(options.pages, (std::vector<std::string>{"agents", "kernel"}));
  EXPECT_EQ(options.commands, (std::vector<std::string>{"compareWithParent"}));
  EXPECT_EQ(options.screenshot, "a.png");
  EXPECT_TRUE(options.start && options.screenshotAfterRun && options.quitAfterRun);
}

TEST(WorkbenchOptions, TheSizeOfTheWindow) {
  EXPECT_FALSE(parse({}).size.isValid());
  EXPECT_EQ(parse({"--size", "1000x700"}).size, QSize(1000, 700));
}

TEST(WorkbenchOptions, HelpNamesEveryOption) {
  const auto parsed = parseOptions({"--help"});
  ASSERT_THAT(parsed, IsOk());
  const std::string text = std::get<UsageText>(*parsed).text;
  for (const char* option :
       {"--project", "--start", "--target", "--time-budget", "--set", "--theme", "--safe-mode", "--demo", "--benchmark",
        "--layout", "--page", "--command", "--screenshot", "--after-run", "--quit-after-run"}) {
    EXPECT_THAT(text, HasSubstr(option));
  }
}

TEST(WorkbenchOptions, MistakesAreUsageErrorsThatSayWhat) {
  EXPECT_THAT(parseOptions({"--strat"}), IsError(ErrorKind::Usage, HasSubstr("--strat")));
  EXPECT_THAT(parseOptions({"--start"}), IsError(ErrorKind::Usage, HasSubstr("no task")));
  EXPECT_THAT(parseOptions({"t", "--time-budget", "soon"}), IsError(ErrorKind::Usage, HasSubstr("'soon'")));
  EXPECT_THAT(parseOptions({"t", "--set", "rows"}), IsError(ErrorKind::Usage, HasSubstr("'--set rows'")));
  for (const char* size : {"wide", "1000", "1000x", "0x700", "1000x700x3", "99999x700"}) {
    EXPECT_THAT(parseOptions({"--size", size}), IsError(ErrorKind::Usage, HasSubstr(size)));
  }
  EXPECT_THAT(parseOptions({"--theme", "mauve"}), IsError(ErrorKind::Usage, HasSubstr("mauve")));
  EXPECT_THAT(parseOptions({"--page", "agent"}), IsError(ErrorKind::Usage, HasSubstr("agents")));
  EXPECT_THAT(parseOptions({"--target", "tpu"}), IsError(ErrorKind::Usage, HasSubstr("tpu")));
  EXPECT_THAT(parseOptions({"t", "--quit-after-run"}), IsError(ErrorKind::Usage, HasSubstr("--start")));
}

}  // namespace
}  // namespace swage::workbench
