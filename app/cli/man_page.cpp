// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "app/cli/command_facts.h"
#include "app/cli/exit_codes.h"

namespace swage::cli {
namespace {

// What troff would take for its own.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) {
      result += "\\&";
      result += c;
    } else if (c == '~') {
      result += "\\(ti";
    } else if (c == '^') {
      result += "\\(ha";
    } else if (c == '`') {
      result += "\\(ga";
    } else {
      result += c;
    }
  }
  return result;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string dashed(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), ' ', '-');
  return result;
}

std::string synopsis(const CommandFact& command) {
  std::string text = ".SH SYNOPSIS\n.B " + escaped(command.name) + '\n';
  text += command.options.empty() ? "" : "[\\fIoptions\\fR]\n";
  for (const OptionFact& positional : command.positionals) {
    const std::string value = italic(positional.value);
    text += positional.isRequired ? value + '\n' : fmt::format("[{}]\n", value);
  }
  return text + (command.commands.empty() ? "" : "\\fIcommand\\fR [\\fIarguments\\fR]\n");
}

std::string entry(const std::string& term, const std::string& text) {
  return ".TP\n" + term + '\n' + escaped(text) + '\n';
}

std::string optionTerm(const OptionFact& option) {
  std::string term;
  for (const std::string& name : option.names) {
    term += (term.empty() ? "" : ", ") + bold(name);
  }
  return option.value.empty() ? term : term + ' ' + italic(option.value);
}

std::string optionText(const OptionFact& option) {
  return option.description + (option.standard.empty() ? "." : fmt::format(" (default: {}).", option.standard));
}

std::string programSections() {
  std::string text = ".SH ENVIRONMENT\n";
  text += entry(bold("SWAGE_CONFIG"), "The user's settings, instead of $XDG_CONFIG_HOME/swage/config.toml.");
  text += entry(bold("SWAGE_DATA_DIR"), "Where projects are kept, instead of $XDG_DATA_HOME/swage.");
  text += entry(bold("SWAGE_PROJECT"), "The project, where --project names none.");
  text += entry(bold("SWAGE_PYTHON"), "The Python that has PyTorch.");
  text +=
      entry(bold("SWAGE_SANDBOX"), "What keeps compilers from the rest of the machine: auto, bwrap, landlock or none.");
  text += entry(bold("SWAGE_STATE_DIR"), "Where the state of the window is kept, instead of $XDG_STATE_HOME/swage.");
  text += entry(bold("SWAGE_LOG"), "What is logged, where neither -v nor -q says so: debug, info, warn or error.");
  text += entry(bold("NO_COLOR"), "If not empty, there are no colours.");
  text += entry(bold("CLICOLOR_FORCE"), "If neither empty nor 0, there are colours without a terminal, too.");
  text += ".SH FILES\n";
  text += entry(italic("/etc/xdg/swage/config.toml"), "Settings of all users.");
  text += entry(italic("~/.config/swage/config.toml"), "Settings of the user.");
  text += entry(italic("PROJECT/project.toml"), "Settings of a project.");
  text += entry(italic("PROJECT/runs.sqlite"), "The record of a project: everything that was tried.");
  text += ".SH EXIT STATUS\n";
  for (const ExitCodeFact& code : exitCodeFacts()) {
    text += entry(bold(code.code), std::string(code.meaning) + ".");
  }
  return text;
}

}  // namespace

std::string manPageName(const CommandFact& command) {
  return dashed(command.name) + ".1";
}

std::vector<const CommandFact*> withCommandsBelow(const CommandFact& command) {
  std::vector<const CommandFact*> all{&command};
  for (const CommandFact& one : command.commands) {
    const auto below = withCommandsBelow(one);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::string manPage(const CommandFact& command, std::string_view version) {
  std::string title = dashed(command.name);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string text = ".\\\" SPDX-License-Identifier: Apache-2.0\n";
  text +=
      fmt::format(".TH \"{}\" 1 \"{}\" \"swage {}\" \"User Commands\"\n", escaped(title), SWAGE_RELEASE_DATE, version);
  text += ".SH NAME\n" + escaped(dashed(command.name)) + " \\- " + escaped(command.description) + '\n';
  text += synopsis(command);
  text += ".SH DESCRIPTION\n" + escaped(command.description) + ".\n";
  std::string_view details = command.details;
  while (!details.empty()) {
    const std::size_t end = details.find('\n');
    text += ".PP\n" + escaped(details.substr(0, end)) + '\n';
    details.remove_prefix(end == std::string_view::npos ? details.size() : end + 1);
  }
  for (const OptionFact& positional : command.positionals) {
    text += entry(italic(positional.value), optionText(positional));
  }
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandFact& one : command.commands) {
      text += entry(bold(one.lastWord()), one.description + ".");
    }
  }
  text += command.options.empty() ? "" : ".SH OPTIONS\n";
  for (const bool isCommon : {false, true}) {
    for (const OptionFact& option : command.options) {
      text += option.isCommon == isCommon ? entry(optionTerm(option), optionText(option)) : std::string();
    }
  }
  if (!command.examples.empty()) {
    text += ".SH EXAMPLES\n.nf\n";
    for (const std::string& example : command.examples) {
      text += escaped(example) + '\n';
    }
    text += ".fi\n";
  }
  const bool isProgram = command.name.find(' ') == std::string::npos;
  text += isProgram ? programSections() : std::string();
  text += ".SH SEE ALSO\n";
  if (!isProgram) {
    text += ".BR swage (1)\n";
  } else {
    for (std::size_t i = 0; i < command.commands.size(); ++i) {
      text += fmt::format(".BR {} (1){}\n", escaped(dashed(command.commands[i].name)),
                          i + 1 < command.commands.size() ? "," : "");
    }
  }
  return text;
}

}  // namespace swage::cli
