// SPDX-License-Identifier: Apache-2.0
#include "core/engine/settings_text.h"

#include <algorithm>
#include <sstream>
#include <variant>
#include <vector>

#include <toml++/toml.h>

#include "core/base/trimmed.h"

namespace swage::engine {
namespace {

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// "[section]", perhaps with a comment behind it.
bool isHeading(std::string_view line, std::string_view section) {
  line = trimmed(line);
  const std::size_t close = line.find(']');
  return line.starts_with('[') && close != std::string_view::npos && trimmed(line.substr(1, close - 1)) == section;
}

bool sets(std::string_view line, std::string_view key) {
  const std::size_t equals = line.find('=');
  std::string_view name = trimmed(line.substr(0, equals));
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
    name = name.substr(1, name.size() - 2);
  }
  return equals != std::string_view::npos && name == key;
}

// " # the user's words" behind a value.
std::string_view commentOf(std::string_view line) {
  bool isInText = false;
  for (std::size_t i = line.find('='); i < line.size(); ++i) {
    isInText = line[i] == '"' ? !isInText : isInText;
    if (line[i] == '#' && !isInText) {
      const std::size_t end = line.find_last_not_of(" \t", i - 1);
      return line.substr(end + 1);
    }
  }
  return {};
}

// Names of actions may hold what a bare key may not.
std::string keyText(std::string_view key) {
  const bool isBare = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return isBare ? std::string(key) : '"' + std::string(key) + '"';
}

}  // namespace

std::string withVersion(std::string text) {
  for (const std::string& line : linesOf(text)) {
    if (trimmed(line).starts_with('[')) {
      break;
    }
    if (sets(line, "version")) {
      return text;
    }
  }
  return "version = " + std::to_string(kSettingsVersion) + (text.empty() ? "\n" : "\n\n") + text;
}

std::string tomlText(const services::SettingValue& value) {
  constexpr auto kFlags = toml::toml_formatter::default_flags & ~toml::format_flags::allow_literal_strings;
  std::ostringstream text;
  std::visit([&text](const auto& one) { text << toml::toml_formatter(toml::value(one), kFlags); }, value);
  return text.str();
}

std::string withSetting(std::string_view text, std::string_view section, std::string_view key,
                        const std::optional<std::string>& value) {
  std::vector<std::string> lines = linesOf(text);
  auto heading = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return isHeading(line, section); });
  const std::string wanted = value ? keyText(key) + " = " + *value : std::string();
  if (heading == lines.end()) {
    if (value) {
      if (!lines.empty() && !lines.back().empty()) {
        lines.emplace_back();
      }
      lines.push_back("[" + std::string(section) + "]");
      lines.push_back(wanted);
    }
  } else {
    const auto end =
        std::find_if(heading + 1, lines.end(), [](const auto& line) { return trimmed(line).starts_with('['); });
    const auto found = std::find_if(heading + 1, end, [&](const auto& line) { return sets(line, key); });
    if (found != end && value) {
      *found = wanted + std::string(commentOf(*found));
    } else if (found != end) {
      lines.erase(found);
    } else if (value) {
      auto at = end;  // behind the last key: what follows is about the next section
      while (at - 1 != heading && (trimmed(*(at - 1)).empty() || trimmed(*(at - 1)).starts_with('#'))) {
        --at;
      }
      lines.insert(at, wanted);
    }
  }
  std::string result;
  for (const std::string& line : lines) {
    result += line + '\n';
  }
  return result;
}

}  // namespace swage::engine
