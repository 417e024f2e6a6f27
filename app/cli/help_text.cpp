// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "app/cli/command_facts.h"
#include "app/cli/terminal.h"

namespace swage::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 30;  // where descriptions begin

// Words in lines of at most `width`, the first of which begins at `begun`.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t begun) {
  std::string result;
  std::size_t at = begun;
  bool isFirst = true;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!isFirst && at + 1 + columnsOf(word) > kWidth) {
      result += '\n' + std::string(indent, ' ');
      at = indent;
    } else if (!isFirst) {
      result += ' ';
      ++at;
    }
    result += word;
    at += columnsOf(word);
    isFirst = false;
  }
  return result;
}

std::string describedLine(const std::string& name, const std::string& description) {
  std::string line = "  " + name;
  if (columnsOf(line) + 2 > kColumn) {
    line += '\n' + std::string(kColumn, ' ');
  } else {
    line.append(kColumn - columnsOf(line), ' ');
  }
  return line + wrapped(description, kColumn, kColumn) + '\n';
}

std::string nameOf(const OptionFact& option) {
  std::string name = option.names.front().starts_with("--") ? "    " : "";
  name += fmt::format("{}", fmt::join(option.names, ", "));
  return option.value.empty() ? name : name + ' ' + option.value;
}

std::string textOf(const OptionFact& option) {
  std::string text = option.description;
  if (!option.standard.empty()) {
    text += fmt::format(" (default: {})", option.standard);
  }
  return text;
}

std::string usageOf(const CommandFact& command) {
  std::string usage = "Usage: " + command.name;
  usage += command.options.empty() ? "" : " [options]";
  for (const OptionFact& positional : command.positionals) {
    usage += ' ' + (positional.isRequired ? positional.value : '[' + positional.value + ']');
  }
  return usage + (command.commands.empty() ? "\n" : " <command>\n");
}

std::string optionLines(const CommandFact& command, bool common) {
  std::string text;
  for (const OptionFact& option : command.options) {
    if (option.isCommon == common) {
      text += describedLine(nameOf(option), textOf(option));
    }
  }
  return text;
}

void addSection(std::string& text, std::string_view heading, const std::string& lines) {
  if (!lines.empty()) {
    text += '\n' + painted(Tone::Heading, heading) + '\n' + lines;
  }
}

void addCommands(std::string& text, const CommandFact& command) {
  std::vector<std::string> groups;
  for (const CommandFact& one : command.commands) {
    if (std::find(groups.begin(), groups.end(), one.group) == groups.end()) {
      groups.push_back(one.group);
    }
  }
  for (const std::string& group : groups) {
    std::string lines;
    for (const CommandFact& one : command.commands) {
      lines += one.group == group ? describedLine(std::string(one.lastWord()), one.description) : std::string();
    }
    addSection(text, group, lines);
  }
}

}  // namespace

std::string_view CommandFact::lastWord() const {
  const std::size_t space = name.rfind(' ');
  return std::string_view(name).substr(space == std::string::npos ? 0 : space + 1);
}

std::string helpText(const CommandFact& command) {
  std::string text = command.description + ".\n\n" + usageOf(command);
  if (!command.details.empty()) {
    std::string_view rest = command.details;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      text += '\n' + wrapped(rest.substr(0, end), 0, 0) + '\n';
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  std::string positionals;
  for (const OptionFact& positional : command.positionals) {
    positionals += describedLine(positional.value, textOf(positional));
  }
  addSection(text, "Arguments", positionals);
  addCommands(text, command);
  addSection(text, "Options", optionLines(command, false));
  addSection(text, command.commands.empty() ? "Options of all commands" : "Options", optionLines(command, true));
  std::string examples;
  for (const std::string& example : command.examples) {
    examples += "  " + example + '\n';
  }
  addSection(text, command.examples.size() == 1 ? "Example" : "Examples", examples);
  return text;
}

}  // namespace swage::cli
