// SPDX-License-Identifier: Apache-2.0
#include "app/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace swage::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";

ColorUse& use() {
  static ColorUse current;
  return current;
}

std::string_view codeOf(Tone tone) {
  switch (tone) {
    case Tone::Heading: return "\x1b[1m";
    case Tone::Good: return "\x1b[32m";
    case Tone::Bad: return "\x1b[31m";
    case Tone::Warning: return "\x1b[33m";
    case Tone::Dim: return "\x1b[2m";
    case Tone::Added: return "\x1b[32m";
    case Tone::Removed: return "\x1b[31m";
  }
  return {};
}

std::string inTone(Tone tone, std::string_view text) {
  std::string result(codeOf(tone));
  result += text;
  return result += kReset;
}

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::optional<std::string> environmentVariable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets any later
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

bool showsColor(ColorWhen when, bool isTerminal, const Variable& variable) {
  if (when != ColorWhen::Auto) {
    return when == ColorWhen::Always;
  }
  if (variable("NO_COLOR")) {
    return false;
  }
  if (const auto forced = variable("CLICOLOR_FORCE"); forced && *forced != "0") {
    return true;
  }
  const auto term = variable("TERM");
  return isTerminal && term && *term != "dumb";
}

void setColorUse(ColorUse newUse) {
  use() = newUse;
}

ColorUse colorUse() {
  return use();
}

std::string painted(Tone tone, std::string_view text) {
  return use().output && !text.empty() ? inTone(tone, text) : std::string(text);
}

std::string paintedError(Tone tone, std::string_view text) {
  return use().errors && !text.empty() ? inTone(tone, text) : std::string(text);
}

std::size_t columnsOf(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i = std::min(text.find('m', i), text.size());
    } else if (!isContinuation(text[i])) {
      ++columns;
    }
  }
  return columns;
}

std::string_view fitted(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!isContinuation(text[i]) && ++seen > columns) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::string withVisibleControls(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += fmt::format("\\x{:02X}", next);
      ++i;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02X}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string forOutput(std::string_view text) {
  return ::isatty(STDOUT_FILENO) != 0 ? withVisibleControls(text) : std::string(text);
}

std::size_t terminalWidth() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace swage::cli
