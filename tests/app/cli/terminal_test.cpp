// SPDX-License-Identifier: Apache-2.0
#include "app/cli/terminal.h"

#include <gmock/gmock.h>

#include <map>

#include "app/cli/text.h"

namespace swage::cli {
namespace {

Variable variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(ShowsColor, OnATerminalThatHasColoursAndNowhereElse) {
  const Variable xterm = variables({{"TERM", "xterm-256color"}});
  EXPECT_TRUE(showsColor(ColorWhen::Auto, true, xterm));
  EXPECT_FALSE(showsColor(ColorWhen::Auto, false, xterm));
  EXPECT_FALSE(showsColor(ColorWhen::Auto, true, variables({{"TERM", "dumb"}})));
  EXPECT_FALSE(showsColor(ColorWhen::Auto, true, variables({})));
}

TEST(ShowsColor, VariablesCountMoreThanTheTerminal) {
  EXPECT_FALSE(showsColor(ColorWhen::Auto, true, variables({{"TERM", "xterm"}, {"NO_COLOR", "1"}})));
  EXPECT_TRUE(showsColor(ColorWhen::Auto, false, variables({{"CLICOLOR_FORCE", "1"}})));
  EXPECT_FALSE(showsColor(ColorWhen::Auto, false, variables({{"CLICOLOR_FORCE", "0"}})));
  EXPECT_FALSE(showsColor(ColorWhen::Auto, true, variables({{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}})));
}

TEST(ShowsColor, TheOptionCountsMost) {
  EXPECT_TRUE(showsColor(ColorWhen::Always, false, variables({{"NO_COLOR", "1"}})));
  EXPECT_FALSE(showsColor(ColorWhen::Never, true, variables({{"TERM", "xterm"}, {"CLICOLOR_FORCE", "1"}})));
}

class ColorTest : public ::testing::Test {
 protected:
  ~ColorTest() override { setColorUse({}); }
};

TEST_F(ColorTest, TextIsPaintedOnlyWhereItsStreamHasColours) {
  EXPECT_EQ(painted(Tone::Bad, "x"), "x");
  setColorUse({true, false});
  EXPECT_EQ(painted(Tone::Bad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(paintedError(Tone::Bad, "x"), "x");
  EXPECT_EQ(painted(Tone::Bad, ""), "");
}

TEST_F(ColorTest, ColoursDoNotMoveColumns) {
  setColorUse({true, true});
  EXPECT_EQ(columnsOf(painted(Tone::Good, "1 µs")), 4U);
  EXPECT_EQ(formatTable({{"state", "name"}, {painted(Tone::Good, "ok"), "b"}}),
            "\x1b[1mstate  name\x1b[0m\n\x1b[32mok\x1b[0m     b\n");
}

TEST(Fitted, CutsBetweenCharacters) {
  EXPECT_EQ(fitted("1 µs und", 4), "1 µs");
  EXPECT_EQ(fitted("1 µs", 9), "1 µs");
  EXPECT_EQ(fitted("1 µs", 0), "");
}

TEST(Terminal, ShowsControlCharactersInsteadOfSendingThem) {
  EXPECT_EQ(withVisibleControls("int a;\n\tb\x1b[2J\x7f\r"), "int a;\n\tb\\x1B[2J\\x7F\\x0D");
  EXPECT_EQ(withVisibleControls("\xC2\x9B"
                                "31m \xC3\xA4"),
            "\\x9B31m \xC3\xA4");
}

}  // namespace
}  // namespace swage::cli
