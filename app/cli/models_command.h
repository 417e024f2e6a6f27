// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "core/models/endpoint_check.h"
#include "core/run/model_proposer.h"

namespace swage::cli {

// `models`: the user's language models, and what was said with them.
class ModelsCommand final : public Command {
 public:
  ModelsCommand(Context context, ModelsArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> act();
  [[nodiscard]] Result<> list() const;
  [[nodiscard]] Result<> change() const;
  [[nodiscard]] Result<> writeConversations() const;
  [[nodiscard]] Result<> beginTest();
  void handleTested();

  ModelsArguments m_arguments;
  std::unique_ptr<models::EndpointCheck> m_check;
};

[[nodiscard]] domain::Json toJson(const models::Endpoint& endpoint);  // where its key is, never the key
// "$NAME", "keychain: ACCOUNT", a file, "none"; of a command no word, because one may be a key.
[[nodiscard]] std::string keyText(const models::KeySource& key);
[[nodiscard]] domain::Json toJson(const models::Endpoint& endpoint, const models::EndpointReport& report);
[[nodiscard]] std::string endpointTable(const std::vector<models::Endpoint>& endpoints);
[[nodiscard]] std::string reportText(const models::Endpoint& endpoint, const models::EndpointReport& report);

// The models that `--model` names as proposers of a run, with their keys, which are taken out of the environment here:
// before there are threads and children. None where none is named.
// `locations`: where patterns for their prompts are looked for.
[[nodiscard]] Result<std::vector<run::ProposerFactory>> proposersFor(const ModelChoice& choice,
                                                                     const process::Locations& locations);

}  // namespace swage::cli
