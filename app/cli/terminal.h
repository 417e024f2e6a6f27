// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// Colours, where there is a terminal that shows them.
namespace swage::cli {

enum class ColorWhen : std::uint8_t { Auto, Always, Never };
using Variable = std::function<std::optional<std::string>(std::string_view name)>;  // of the environment
[[nodiscard]] std::optional<std::string> environmentVariable(std::string_view name);

// --color first, then NO_COLOR, then CLICOLOR_FORCE; else only on a terminal that is not TERM=dumb. An empty or unset
// variable says nothing, CLICOLOR_FORCE=0 neither.
[[nodiscard]] bool showsColor(ColorWhen when, bool isTerminal, const Variable& variable);

enum class Tone : std::uint8_t { Heading, Good, Bad, Warning, Dim, Added, Removed };

// For this process; set once, before anything is printed.
struct ColorUse {
  bool output = false;
  bool errors = false;
};
void setColorUse(ColorUse use);
[[nodiscard]] ColorUse colorUse();

// The text in its colour where standard output shows colours, else the text.
[[nodiscard]] std::string painted(Tone tone, std::string_view text);
[[nodiscard]] std::string paintedError(Tone tone, std::string_view text);  // for standard error

// Columns that a text takes: neither continuation bytes of UTF-8 nor escape sequences count.
[[nodiscard]] std::size_t columnsOf(std::string_view text);
// The beginning of a text without escape sequences that fits.
[[nodiscard]] std::string_view fitted(std::string_view text, std::size_t columns);
// A text of somebody else for a terminal, which would obey what it says: control characters but tab and line feed
// become
// "\\x1B", also those that UTF-8 spells in two bytes.
[[nodiscard]] std::string withVisibleControls(std::string_view text);
// The same where standard output is a terminal, else the text as it is: a file gets every byte.
[[nodiscard]] std::string forOutput(std::string_view text);
// Of the terminal that standard error goes to; 80 where it does not say.
[[nodiscard]] std::size_t terminalWidth();

}  // namespace swage::cli
