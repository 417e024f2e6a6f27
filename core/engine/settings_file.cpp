// SPDX-License-Identifier: Apache-2.0
#include "core/engine/settings_file.h"

#include <cstdlib>
#include <sstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/files.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;
using services::Settings;
using services::SettingValue;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

Error unreadable(const fs::path& file, const std::string& what) {
  return Error(ErrorKind::InvalidInput, fmt::format("cannot read the settings '{}': {}", file.string(), what),
               "correct the file, or remove it to go back to the defaults");
}

Result<SettingValue> valueOf(const toml::node& node, const std::string& key, const fs::path& file) {
  if (const auto* flag = node.as_boolean()) {
    return SettingValue(flag->get());
  }
  if (const auto* number = node.as_integer()) {
    return SettingValue(number->get());
  }
  if (const auto* text = node.as_string()) {
    return SettingValue(text->get());
  }
  return unreadable(file, fmt::format("'{}' is neither a text, a whole number nor true or false", key));
}

Result<Settings> flatten(const toml::table& root, const fs::path& file) {
  Settings settings;
  for (const auto& [section, node] : root) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return unreadable(file, fmt::format("'{}' stands in no [section]", section.str()));
    }
    for (const auto& [key, value] : *table) {
      const std::string name = fmt::format("{}.{}", section.str(), key.str());
      SWAGE_TRY_ASSIGN(SettingValue one, valueOf(value, name, file));
      settings.emplace(name, std::move(one));
    }
  }
  return settings;
}

}  // namespace

fs::path configFile() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (fs::path chosen = variable("SWAGE_CONFIG"); !chosen.empty()) {
    return chosen;
  }
  const fs::path folder = variable("XDG_CONFIG_HOME");
  return (folder.is_absolute() ? folder : variable("HOME") / ".config") / "swage/config.toml";
}

void applyLocations(const Settings& settings) {
  for (const auto& [key, variable] :
       {std::pair("locations.data", "SWAGE_DATA_DIR"), std::pair("locations.python", "SWAGE_PYTHON")}) {
    const auto found = settings.find(std::string_view(key));
    const auto* value = found == settings.end() ? nullptr : std::get_if<std::string>(&found->second);
    if (value != nullptr && !value->empty()) {
      ::setenv(variable, value->c_str(), 0);  // NOLINT(concurrency-mt-unsafe): before any thread
    }
  }
}

Result<Settings> SettingsFile::load() const {
  std::error_code ignored;
  if (!fs::exists(m_file, ignored)) {
    return Settings{};
  }
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(m_file, kMaxBytes));
  try {
    return flatten(toml::parse(text), m_file);
  } catch (const toml::parse_error& error) {
    return unreadable(m_file, fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
}

Result<> SettingsFile::save(const Settings& settings) const {
  toml::table root;
  for (const auto& [name, value] : settings) {
    const std::size_t dot = name.find('.');
    auto [section, added] = root.emplace<toml::table>(name.substr(0, dot));
    toml::table& table = *section->second.as_table();
    const std::string key = name.substr(dot + 1);
    std::visit([&table, &key](const auto& one) { table.insert_or_assign(key, one); }, value);
  }
  std::error_code failure;
  fs::create_directories(m_file.parent_path(), failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot create '" + m_file.parent_path().string() + "': " + failure.message());
  }
  std::ostringstream text;
  text << root << "\n";
  return writeFileAtomically(m_file, text.str());
}

}  // namespace swage::engine
