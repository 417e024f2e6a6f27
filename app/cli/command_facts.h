// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// What the commands are: the one source of --help, of the man pages and of the completions of shells. Pure.
namespace swage::cli {

struct OptionFact {
  enum class Takes : std::uint8_t { Nothing, Text, File, Folder, Candidate, Run };
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional its value's name alone
  std::string value;               // "DIR"; empty: it takes none
  std::string description;
  std::vector<std::string> choices;
  std::string standard;  // what holds without it; empty: nothing, or not worth telling
  Takes takes = Takes::Nothing;
  bool isRequired = false;
  bool isRepeatable = false;
  bool isCommon = false;  // all commands have it
};

struct CommandFact {
  std::string name;  // as typed: "swage bench engine"
  std::string group;
  std::string description;            // one sentence without its dot
  std::string details;                // paragraphs; may be empty
  std::vector<std::string> examples;  // "swage list r3   # its candidates"
  std::vector<OptionFact> positionals;
  std::vector<OptionFact> options;
  std::vector<CommandFact> commands;

  [[nodiscard]] std::string_view lastWord() const;  // "engine"
};

[[nodiscard]] std::string helpText(const CommandFact& command);

// Man page of section 1, in man(7). The page of the program has environment, files and exit codes, too.
[[nodiscard]] std::string manPage(const CommandFact& command, std::string_view version);
[[nodiscard]] std::string manPageName(const CommandFact& command);  // "swage-bench-engine.1"
// A command and all below it, itself first.
[[nodiscard]] std::vector<const CommandFact*> withCommandsBelow(const CommandFact& command);

enum class Shell : std::uint8_t { Bash, Zsh, Fish };
// Asks `swage __complete` (completion.h) at each Tab.
[[nodiscard]] std::string completionScript(Shell shell);

}  // namespace swage::cli
