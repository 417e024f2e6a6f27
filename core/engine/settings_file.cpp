// SPDX-License-Identifier: Apache-2.0
#include "core/engine/settings_file.h"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/files.h"
#include "core/engine/settings_text.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;
using services::Settings;
using services::SettingValue;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
constexpr std::string_view kVersion = "version";
constexpr std::string_view kModels = "models";  // a section of tables, that are no settings

Error unreadable(const fs::path& file, const std::string& what) {
  return Error(ErrorKind::Config, fmt::format("cannot read the settings '{}': {}", file.string(), what),
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
  return unreadable(file, fmt::format("'{}' has to be a text, a whole number, true or false", key));
}

Result<> checkVersion(const toml::table& root, const fs::path& file) {
  const toml::node* node = root.get(kVersion);
  if (node == nullptr) {
    return {};
  }
  const auto* version = node->as_integer();
  if (version == nullptr || version->get() < 1) {
    return unreadable(file,
                      fmt::format("'{}' has to be a whole number, {} for this Swage", kVersion, kSettingsVersion));
  }
  if (version->get() > kSettingsVersion) {
    return Error(ErrorKind::Config,
                 fmt::format("the settings '{}' have version {}, which a later Swage reads: Swage {} reads version {}",
                             file.string(), version->get(), SWAGE_VERSION, kSettingsVersion),
                 "update Swage, or move the file away to go back to the defaults");
  }
  return {};
}

Result<Settings> flatten(const toml::table& root, const fs::path& file) {
  SWAGE_TRY(checkVersion(root, file));
  Settings settings;
  for (const auto& [section, node] : root) {
    if (section.str() == kModels || section.str() == kVersion) {
      continue;  // models: model_endpoints.h
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return unreadable(file, fmt::format("'{}' is in no [section]", section.str()));
    }
    for (const auto& [key, value] : *table) {
      const std::string name = fmt::format("{}.{}", section.str(), key.str());
      SWAGE_TRY_ASSIGN(SettingValue one, valueOf(value, name, file));
      settings.emplace(name, std::move(one));
    }
  }
  return settings;
}

std::string newText(const Settings& settings) {
  toml::table root;
  for (const auto& [name, value] : settings) {
    const std::size_t dot = name.find('.');
    auto [section, added] = root.emplace<toml::table>(name.substr(0, dot));
    toml::table& table = *section->second.as_table();
    const std::string key = name.substr(dot + 1);
    std::visit([&table, &key](const auto& one) { table.insert_or_assign(key, one); }, value);
  }
  std::ostringstream text;
  text << root << "\n";
  return withVersion(text.str());
}

// The text of the file with nothing but the changes, so that the user's comments stay. No value: it has no such text,
// or is written in a way that this does not understand.
std::optional<std::string> editedText(const fs::path& file, const Settings& wanted) {
  const auto before = SettingsFile(file).load();
  const auto read = readTextFile(file, kMaxBytes);
  if (!before || !read) {
    return std::nullopt;
  }
  std::string text = withVersion(*read);
  const auto change = [&text](const std::string& name, const std::optional<std::string>& value) {
    const std::size_t dot = name.find('.');
    text = withSetting(text, name.substr(0, dot), name.substr(dot + 1), value);
  };
  for (const auto& [name, value] : *before) {
    if (!wanted.contains(name)) {
      change(name, std::nullopt);
    }
  }
  for (const auto& [name, value] : wanted) {
    if (const auto old = before->find(name); old == before->end() || old->second != value) {
      change(name, tomlText(value));
    }
  }
  try {
    const auto after = flatten(toml::parse(text), file);
    return after && *after == wanted ? std::optional(text) : std::nullopt;
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

// What a later Swage has written is not lost to this one. What cannot be read at all has no version.
Result<> refuseLater(const fs::path& file) {
  const auto text = readTextFile(file, kMaxBytes);
  if (!text) {
    return {};
  }
  try {
    return checkVersion(toml::parse(*text), file);
  } catch (const toml::parse_error&) {
    return {};
  }
}

bool hasModels(const fs::path& file) {
  const auto text = readTextFile(file, kMaxBytes);
  return text && text->find("[models.") != std::string::npos;
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
       {std::pair("locations.data", "SWAGE_DATA_DIR"), std::pair("locations.python", "SWAGE_PYTHON"),
        std::pair("locations.cutlass", "SWAGE_CUTLASS"), std::pair("search.sandbox", "SWAGE_SANDBOX")}) {
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
  std::error_code failure;
  fs::create_directories(m_file.parent_path(), failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot create '" + m_file.parent_path().string() + "': " + failure.message());
  }
  SWAGE_TRY(refuseLater(m_file));
  const std::optional<std::string> edited = editedText(m_file, settings);
  if (!edited && hasModels(m_file)) {
    return unreadable(m_file, "it is written in a way in which settings cannot be changed without losing its models");
  }
  return writeFileAtomically(m_file, edited ? *edited : newText(settings));
}

}  // namespace swage::engine
