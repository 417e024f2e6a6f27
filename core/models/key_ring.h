// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/models/endpoint.h"

namespace swage::models {

// A key. Nothing prints it; whoever needs it says so.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : m_text(std::move(text)) {}
  [[nodiscard]] const std::string& reveal() const { return m_text; }
  [[nodiscard]] bool isEmpty() const { return m_text.empty(); }

 private:
  std::string m_text;
};

// Where keys come from. Those of the environment are taken out of it when the ring is made, so that no child of this
// program inherits them: make it before there are threads and children. Fetching is done on the thread that asks.
class KeyRing {
 public:
  using Taken = std::function<void(Result<Secret>)>;

  KeyRing() = default;
  // Takes the variables that the endpoints name.
  explicit KeyRing(const std::vector<Endpoint>& endpoints);

  // Calls `taken` once, at once or later, unless `context` goes before. Errors of kind Config name what to do; they
  // never contain what was read. A command has 30 seconds.
  void fetch(const KeySource& source, QObject* context, Taken taken) const;

 private:
  std::map<std::string, Secret, std::less<>> m_variables;
};

// The key in a text that somebody typed, or that a program printed: its first line. Kind Config where there is none, or
// where that line can be none; `where` is whose text it is, for the message.
[[nodiscard]] Result<Secret> keyIn(std::string_view text, const std::string& where);
// The first line of a file that nobody but its owner may read (0600 or less).
[[nodiscard]] Result<Secret> readKeyFile(const std::filesystem::path& file);
// What asks the keychain: "lookup" prints the key, "store" reads it from its input, "clear" removes it. NotFound, with
// what to install, where `secret-tool` is missing.
[[nodiscard]] Result<std::vector<std::string>> keychainCommand(std::string_view action, const std::string& account);
inline constexpr std::string_view kKeychainService = "swage";

}  // namespace swage::models
