// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_tree.h"

// The commands that make a project and look after it, and after the keys of models.
namespace swage::cli {
namespace {

CLI::App* addKeysAction(Parser& parser, CLI::App& group, KeysArguments::Action action, const std::string& name,
                        const std::string& description) {
  CLI::App* command = addCommand(parser, group, name, description, WithProject::No);
  if (action != KeysArguments::Action::List) {
    command->add_option("name", parser.raw.keys.name, "The model, as `swage models list` shows it")
        ->required()
        ->type_name("NAME");
  }
  parser.finish[command] = [action](Raw& filled) -> Result<CommandArguments> {
    filled.keys.action = action;
    filled.keys.file = filled.keyFile;
    return CommandArguments(filled.keys);
  };
  return command;
}

CLI::App* addDbAction(Parser& parser, CLI::App& group, DbArguments::Action action, const std::string& name,
                      const std::string& description) {
  CLI::App* command = addCommand(parser, group, name, description, WithProject::Yes);
  parser.finish[command] = [action](Raw& filled) -> Result<CommandArguments> {
    return CommandArguments(DbArguments{action, filled.output});
  };
  return command;
}

}  // namespace

void addInitCommand(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "init", "Create a project folder with a file for its settings", WithProject::No);
  command->add_option("folder", parser.raw.output, "The folder; the current one by default")->type_name("DIR");
  explain(
      parser, command,
      "Writes project.toml, which lists the settings of searches with their defaults as comments, and .gitignore, "
      "which keeps what is recorded out of git. Nothing is overwritten: exit code 2 if there is a project.toml.\nIn "
      "that folder, commands use it as their project unless --project or $SWAGE_PROJECT names another.",
      {"swage init", "swage init runs/softmax"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    return CommandArguments(InitArguments{filled.output});
  };
}

void addKeyCommands(Parser& parser) {
  using Action = KeysArguments::Action;
  Raw& raw = parser.raw;
  CLI::App* group = addCommandGroup(parser, "keys", "Keys of your language models");
  explain(parser, group,
          "The settings say where the key of a model is: in a variable, in a file, in the desktop's keychain, or "
          "printed by a command. No key is ever shown.",
          {"swage keys list", "swage keys set cloud"});
  CLI::App* list =
      addKeysAction(parser, *group, Action::List, "list", "List where the keys are, and whether they are there");
  explain(parser, list, "Asks the keychain and runs the commands, which may want a password.",
          {"swage keys list", "swage keys list --json"});
  CLI::App* set = addKeysAction(parser, *group, Action::Set, "set", "Store the key of a model");
  auto* file = set->add_option("--file", raw.keyFile, "Store it in this file, which only you can read, from now on")
                   ->type_name("FILE");
  set->add_flag("--keychain", raw.keys.inKeychain, "Store it in the desktop's keychain from now on")->excludes(file);
  explain(parser, set,
          "Reads the key from the terminal, which does not show it, or the first line of standard input. It goes where "
          "the settings say; if they name no place, into the keychain, which they name from then on. A key in a "
          "variable or from a command cannot be stored (exit code 4).",
          {"swage keys set cloud", "swage keys set cloud --file ~/.config/swage/cloud.key",
           "pass show cloud | swage keys set cloud"});
  CLI::App* remove = addKeysAction(parser, *group, Action::Remove, "remove",
                                   "Remove the key of a model from its file or the keychain");
  explain(parser, remove, "The settings still name the place, so that `swage keys set` puts the next key there.",
          {"swage keys remove cloud"});
}

void addDbCommands(Parser& parser) {
  using Action = DbArguments::Action;
  CLI::App* group = addCommandGroup(parser, "db", "Check, back up and compact the record of a project");
  CLI::App* check = addDbAction(parser, *group, Action::Check, "check", "Check the record for damage");
  explain(parser, check,
          "Reads the whole database, what its rows refer to, and all artifacts: sources, plans, assembly, logs and "
          "binaries. A run may go on meanwhile. Exit code 10 if something is damaged.",
          {"swage db check", "swage db check --project runs/softmax --json"});
  CLI::App* backup =
      addDbAction(parser, *group, Action::Backup, "backup", "Copy the record into a new file, also during a run");
  backup->add_option("file", parser.raw.output, "File to write, which must not exist")->required()->type_name("FILE");
  explain(parser, backup,
          "The copy is consistent, and includes the artifacts that the record has in files of their own. To restore "
          "it, close what uses the project, remove runs.sqlite-wal and runs.sqlite-shm, and put it in the place of "
          "runs.sqlite. Exit code 4 if the file exists.",
          {"swage db backup softmax.sqlite", "swage db backup ~/softmax.sqlite --project runs/softmax"});
  CLI::App* vacuum = addDbAction(parser, *group, Action::Vacuum, "vacuum", "Compact the record");
  explain(parser, vacuum,
          "Gives unused space back to the disk; needs as much free space as the record takes. Exit code 13 while a run "
          "writes the project.",
          {"swage db vacuum"});
}

}  // namespace swage::cli
