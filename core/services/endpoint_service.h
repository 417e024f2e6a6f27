// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

// The user's language models, as the settings have them.
namespace swage::services {

// How one model is reached. Never has the key: only where it is.
struct EndpointSettings {
  std::string name;
  std::string kind = "openai";  // "openai", "anthropic", "ollama"
  std::string baseUrl;
  std::string model;
  enum class Key : std::uint8_t { None, Environment, Command, File, Keychain } key = Key::None;
  std::string keyWhere;  // the variable, the command, the file, the account in the keychain
  // In US dollars for a million tokens; no value: not known.
  std::optional<double> inputPrice{};
  std::optional<double> outputPrice{};
  int maxOutput = 8192;     // tokens of a reply
  int concurrency = 2;      // calls at once
  bool allowPlain = false;  // http:// also to hosts far away
  friend bool operator==(const EndpointSettings&, const EndpointSettings&) = default;
};

// What a call of the endpoint found.
struct EndpointFinding {
  std::string name;
  bool works = false;
  std::string model;      // that answered, by its own name
  bool canList = false;   // it says which models it has
  bool hasModel = false;  // the one that is set is among them
  std::vector<std::string> models;
  double firstSeconds = 0.0;  // until the first words
  double seconds = 0.0;
  double tokensPerSecond = 0.0;
  std::string error;  // empty: it works
  std::string hint;
};

// Lives on the GUI thread. Reading and writing are answered at once.
class EndpointService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // In the order of the file.
  [[nodiscard]] virtual Result<std::vector<EndpointSettings>> load() const = 0;
  // Whether one could be saved; the message is for the person who typed it.
  [[nodiscard]] virtual Result<> check(const EndpointSettings& endpoint) const = 0;
  // In the place of the one named `before`; that empty: a new one. What is set of it and cannot be shown here stays.
  [[nodiscard]] virtual Result<> save(const std::string& before, const EndpointSettings& endpoint) = 0;
  [[nodiscard]] virtual Result<> remove(const std::string& name) = 0;
  // Asks which models it has and one short question; tested() follows once. What was tested before is not waited for.
  virtual void test(const EndpointSettings& endpoint) = 0;
  // Where they are kept.
  [[nodiscard]] virtual std::filesystem::path file() const = 0;

 Q_SIGNALS:
  void tested(const swage::services::EndpointFinding& finding);
};

}  // namespace swage::services
