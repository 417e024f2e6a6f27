// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/hidden_input.h"
#include "core/models/endpoint.h"
#include "core/models/key_ring.h"

namespace swage::cli {

// A model, and whether its key is where the settings say.
struct KeyState {
  models::Endpoint endpoint;
  std::optional<Error> missing{};  // why it is not there
};

// `keys`: where the keys of language models are. Neither prints a key nor takes one from a command line.
class KeysCommand final : public Command {
 public:
  KeysCommand(Context context, KeysArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> begin();
  void lookForNext();
  void list();
  [[nodiscard]] Result<> beginSet();
  void keep(const Result<std::string>& line);
  void handleKept(const Result<>& kept);
  [[nodiscard]] Result<> beginRemove();
  void handleRemoved(const Result<>& removed);
  [[nodiscard]] Result<models::Endpoint> named() const;

  KeysArguments m_arguments;
  std::vector<models::Endpoint> m_endpoints;
  models::KeyRing m_ring;  // so that no child inherits any
  std::vector<KeyState> m_states;
  models::Endpoint m_endpoint;  // that was named
  models::KeySource m_place;    // of its key, from now on
  std::unique_ptr<HiddenInput> m_input;
};

// Where `set` puts the key of a model: where the arguments say, else where the settings say, else into the keychain.
// Kinds of models::checkCanKeep(); InvalidInput also where the model is reached without keys.
[[nodiscard]] Result<models::KeySource> placeFor(const models::Endpoint& endpoint, const KeysArguments& arguments);
[[nodiscard]] domain::Json toJson(const KeyState& state);
[[nodiscard]] std::string keyTable(const std::vector<KeyState>& states);

}  // namespace swage::cli
