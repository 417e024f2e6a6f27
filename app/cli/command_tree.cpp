// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_tree.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/services/setting_keys.h"

namespace swage::cli {
namespace {

constexpr std::array<std::string_view, 8> kCommon{"--help",    "--json",  "--jsonl",    "--quiet",
                                                  "--verbose", "--color", "--no-color", "--project"};

// "TARGET:{cpu,cuda}" is a value's name and what CLI11's checks say of it.
std::vector<std::string> choicesIn(const std::string& type) {
  std::vector<std::string> choices;
  std::size_t at = type.find(":{");
  const std::size_t end = at == std::string::npos ? at : type.find('}', at);
  if (end == std::string::npos) {
    return choices;
  }
  for (at += 2; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    choices.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return choices;
}

OptionFact::Takes takesOf(const std::string& value) {
  constexpr std::array<std::string_view, 2> kFolders{"DIR", "BUNDLE"};
  if (value.empty()) {
    return OptionFact::Takes::Nothing;
  }
  if (value.find("CANDIDATE") != std::string::npos || value == "A" || value == "B") {
    return OptionFact::Takes::Candidate;
  }
  if (value == "RUN") {
    return OptionFact::Takes::Run;
  }
  if (value.starts_with("FILE") || value.starts_with("TASK")) {
    return OptionFact::Takes::File;
  }
  return std::find(kFolders.begin(), kFolders.end(), value) != kFolders.end() ? OptionFact::Takes::Folder
                                                                              : OptionFact::Takes::Text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

OptionFact factOf(const CLI::Option& option) {
  OptionFact fact;
  for (const std::string& name : option.get_snames()) {
    fact.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    fact.names.push_back("--" + name);
  }
  const bool isPositional = fact.names.empty();
  const std::string type = option.get_type_name();
  const bool takesValue = isPositional || option.get_expected_max() > 0;
  if (takesValue && option.get_type_size() != 0) {
    fact.value = type.substr(0, type.find(':'));
    fact.value = fact.value.empty() ? upper(option.get_name()) : fact.value;
  }
  if (isPositional) {
    fact.names.push_back(fact.value);
  }
  fact.description = option.get_description();
  fact.choices = choicesIn(type);
  if (fact.value == "SETTING") {
    for (const services::SettingKey& key : services::settingKeys()) {
      fact.choices.emplace_back(key.name);
    }
  }
  fact.standard = fact.value.empty() ? std::string() : option.get_default_str();
  fact.takes = takesOf(fact.value);
  fact.isRequired = option.get_required();
  fact.isRepeatable = option.get_expected_max() > 1;
  // A command may need an option of its own under a common name.
  fact.isCommon = !fact.isRequired && std::find(kCommon.begin(), kCommon.end(), fact.names.back()) != kCommon.end();
  return fact;
}

CommandFact factsOf(const Parser& parser, const CLI::App& app, const std::string& before) {
  CommandFact fact;
  fact.name = before + app.get_name();
  fact.group = app.get_group();
  fact.description = app.get_description();
  if (const auto details = parser.details.find(&app); details != parser.details.end()) {
    fact.details = details->second;
  }
  if (const auto examples = parser.examples.find(&app); examples != parser.examples.end()) {
    fact.examples = examples->second;
  }
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? fact.positionals : fact.options).push_back(factOf(*option));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    fact.commands.push_back(factsOf(parser, *below, fact.name + ' '));
  }
  return fact;
}

}  // namespace

CLI::App* addCommand(Parser& parser, CLI::App& group, const std::string& name, const std::string& description,
                     WithProject withProject) {
  Raw& raw = parser.raw;
  CLI::App* command = group.add_subcommand(name, description);
  command->group(parser.group);
  command->set_help_flag("-h,--help", "Show this help");
  auto* json = command->add_flag("--json", raw.json, "Print one JSON document");
  command->add_flag("--jsonl", raw.jsonLines, "Print JSON lines, one for each event or row")->excludes(json);
  auto* quiet = command->add_flag("-q,--quiet", raw.quiet, "Print only results and errors");
  command->add_flag("-v,--verbose", raw.verbose, "Log what is done; -vv: log everything")->excludes(quiet);
  auto* color = command->add_option("--color", raw.color, "Use colours: auto, always or never")
                    ->check(CLI::IsMember({"auto", "always", "never"}))
                    ->type_name("WHEN")
                    ->capture_default_str();
  command->add_flag("--no-color", raw.noColor, "The same as --color never")->excludes(color);
  if (withProject == WithProject::Yes) {
    command->add_option("--project", raw.project, "Project folder with the record; the one used last by default")
        ->type_name("DIR");
  }
  return command;
}

CLI::App* addCommand(Parser& parser, const std::string& name, const std::string& description, WithProject withProject) {
  return addCommand(parser, parser.app, name, description, withProject);
}

CLI::App* addCommandGroup(Parser& parser, const std::string& name, const std::string& description) {
  CLI::App* group = parser.app.add_subcommand(name, description);
  group->group(parser.group);
  group->set_help_flag("-h,--help", "Show this help");
  group->require_subcommand(1);
  return group;
}

void beginGroup(Parser& parser, std::string heading) {
  parser.group = std::move(heading);
}

void explain(Parser& parser, const CLI::App* command, std::string details,
             std::initializer_list<const char*> examples) {
  parser.details[command] = std::move(details);
  parser.examples[command] = {examples.begin(), examples.end()};
}

Result<RecordReference> candidateReference(const std::string& text) {
  SWAGE_TRY_ASSIGN(const RecordReference reference, parseReference(text));
  if (reference.kind != RecordReference::Kind::Candidate) {
    return Error(ErrorKind::Usage, fmt::format("'{}' is a run; a candidate is needed", text),
                 "`swage list " + text + "` shows its candidates");
  }
  return reference;
}

Result<RecordReference> runReference(const std::string& text) {
  SWAGE_TRY_ASSIGN(RecordReference reference, parseReference(text));
  reference.kind = RecordReference::Kind::Run;
  return reference;
}

CommandFact factsOf(const Parser& parser) {
  return factsOf(parser, parser.app, {});
}

}  // namespace swage::cli
