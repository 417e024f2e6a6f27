// SPDX-License-Identifier: Apache-2.0
#include "app/cli/models_arguments.h"

#include <fmt/format.h>

namespace swage::cli {
namespace {

using Action = ModelsArguments::Action;

CLI::App* addAction(Parser& parser, CLI::App& group, Action action, const std::string& name,
                    const std::string& description, WithProject withProject = WithProject::No) {
  CLI::App* command = addCommand(parser, group, name, description, withProject);
  parser.finish[command] = [action](Raw& filled) -> Result<CommandArguments> {
    filled.models.action = action;
    return CommandArguments(filled.models);
  };
  return command;
}

void addName(CLI::App* command, Raw& raw) {
  command->add_option("name", raw.models.endpoint.name, "Its name")->required()->type_name("NAME");
}

Result<CommandArguments> addedModel(Raw& raw) {
  ModelsArguments& result = raw.models;
  result.action = Action::Add;
  models::Endpoint& endpoint = result.endpoint;
  endpoint.kind = models::parseEndpointKind(raw.modelKind).value_or(models::EndpointKind::OpenAi);
  using From = models::KeySource::From;
  for (const auto& [from, where] :
       {std::pair(From::Environment, &raw.keyEnv), std::pair(From::Command, &raw.keyCommand),
        std::pair(From::File, &raw.keyFile), std::pair(From::Keychain, &raw.keyKeychain)}) {
    if (!where->empty()) {
      endpoint.key = {from, *where};
    }
  }
  if (raw.priceInput >= 0.0 && raw.priceOutput >= 0.0) {
    endpoint.price =
        models::TokenPrice{.input = raw.priceInput, .cachedInput = raw.priceInput, .output = raw.priceOutput};
  } else if (raw.priceInput >= 0.0 || raw.priceOutput >= 0.0) {
    return Error(ErrorKind::Usage, "--price-input and --price-output belong together", "give both or none");
  }
  return CommandArguments(result);
}

void addAdd(Parser& parser, CLI::App& group) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, group, "add", "Add a language model to your settings", WithProject::No);
  addName(command, raw);
  command
      ->add_option("--kind", raw.modelKind,
                   "openai: any endpoint with chat/completions; anthropic; ollama; exchange: a folder")
      ->check(CLI::IsMember({"openai", "anthropic", "ollama", "exchange"}))
      ->type_name("KIND")
      ->capture_default_str();
  command
      ->add_option("--base-url", raw.models.endpoint.baseUrl,
                   "Address, such as https://api.example.com/v1, or the folder")
      ->required()
      ->type_name("URL");
  command->add_option("--model-id", raw.models.endpoint.model, "The model, as the endpoint calls it")->type_name("ID");
  auto* variable =
      command->add_option("--key-env", raw.keyEnv, "Variable of the environment that has the key")->type_name("NAME");
  auto* program =
      command->add_option("--key-command", raw.keyCommand, "Command that prints the key")->type_name("COMMAND");
  auto* file =
      command->add_option("--key-file", raw.keyFile, "File with the key, that only you can read")->type_name("FILE");
  auto* keychain =
      command->add_option("--key-keychain", raw.keyKeychain, "Account in the desktop's keychain")->type_name("ACCOUNT");
  variable->excludes(program)->excludes(file)->excludes(keychain);
  program->excludes(file)->excludes(keychain);
  file->excludes(keychain);
  command->add_option("--price-input", raw.priceInput, "Dollars for a million tokens that are read")
      ->type_name("USD")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--price-output", raw.priceOutput, "Dollars for a million tokens that are written")
      ->type_name("USD")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--concurrency", raw.models.endpoint.concurrency, "Calls at once")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  explain(parser, command,
          "The key itself is never written into the settings: they say where it is. More can be set in the table "
          "[models.NAME] of the file that `swage config path` names.",
          {"swage models add local --kind ollama --base-url http://localhost:11434 --model-id qwen2.5-coder",
           "swage models add cloud --base-url https://api.example.com/v1 --model-id big --key-env EXAMPLE_KEY"});
  parser.finish[command] = addedModel;
}

}  // namespace

void addModelCommands(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* group = addCommandGroup(parser, "models", "Language models that take part in searches");
  explain(parser, group,
          "Sources, graphs, times and messages of the compiler go to a model that is named with --model.",
          {"swage models list", "swage optimize softmax_rows --model local"});
  CLI::App* list = addAction(parser, *group, Action::List, "list", "List your language models");
  explain(parser, list, {}, {"swage models list --json"});
  addAdd(parser, *group);
  CLI::App* remove = addAction(parser, *group, Action::Remove, "remove", "Remove a language model from your settings");
  addName(remove, raw);
  explain(parser, remove, {}, {"swage models remove local"});
  CLI::App* test = addAction(parser, *group, Action::Test, "test", "Test a language model with a short prompt");
  addName(test, raw);
  explain(parser, test, "Shows which models the endpoint offers, and how fast it answers.",
          {"swage models test local"});
  CLI::App* said =
      addCommand(parser, *group, "conversations", "Print what was said with models in a run", WithProject::Yes);
  said->add_option("run", raw.reference, "Run, such as r3")->required()->type_name("RUN");
  said->add_option("-o,--output", raw.output, "File to write; standard output by default")->type_name("FILE");
  explain(parser, said, "One conversation in JSON on each line. A run with --model replay:FILE answers from it.",
          {"swage models conversations r3 -o said.jsonl", "swage optimize softmax_rows --model replay:said.jsonl"});
  parser.finish[said] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.models.run, runReference(filled.reference));
    filled.models.action = Action::Conversations;
    filled.models.output = filled.output;
    return CommandArguments(filled.models);
  };
}

void addModelOptions(CLI::App* command, Raw& raw, ModelChoice& choice) {
  command
      ->add_option("--model", raw.modelNames,
                   "Language models that take part, as `swage models list` shows them; replay:FILE, exchange:DIR")
      ->delimiter(',')
      ->allow_extra_args(false)  // "--model local task.py": the file is no second name
      ->type_name("NAMES");
  command->add_flag("--only-models", choice.alone, "Evaluate only programs that the models write");
  command->add_option("--budget-usd", choice.usd, "The most that calls of models may cost, in dollars")
      ->type_name("USD")
      ->check(CLI::PositiveNumber);
  command->add_option("--budget-tokens", choice.tokens, "The most tokens that calls of models may take")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
}

Result<> takeModels(const Raw& raw, ModelChoice& choice) {
  choice.names = raw.modelNames;
  if (choice.names.empty() && (choice.usd > 0.0 || choice.tokens > 0)) {
    return Error(ErrorKind::Usage, "a budget for models needs --model", "`swage models list` shows your models");
  }
  if (choice.names.empty() && choice.alone) {
    return Error(ErrorKind::Usage, "--only-models needs --model", "`swage models list` shows your models");
  }
  return {};
}

}  // namespace swage::cli
