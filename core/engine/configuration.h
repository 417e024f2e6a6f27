// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/services/settings_service.h"

namespace swage::engine {

// From what counts least to what counts most; only options of a command count more.
enum class SettingOrigin : std::uint8_t { Default, System, User, Project, Environment };
[[nodiscard]] std::string_view name(SettingOrigin origin);  // "default", "user"

// Where settings are looked for.
struct ConfigurationPlaces {
  std::vector<std::filesystem::path> system;  // files, those that count most first
  std::filesystem::path user;                 // file
  std::filesystem::path project;              // folder; empty: none
  // Of the environment; no value: it is not set.
  std::function<std::optional<std::string>(std::string_view)> variable;

  // swage/config.toml in $XDG_CONFIG_DIRS, configFile(), and the variables of this process.
  [[nodiscard]] static ConfigurationPlaces standard(std::filesystem::path project = {});
  [[nodiscard]] std::filesystem::path projectFile() const { return project / "project.toml"; }
};

// Whether a folder is a project: it has a record, or a file of settings as `swage init` writes it.
[[nodiscard]] bool isProject(const std::filesystem::path& folder);

// One place that has a value for a setting.
struct SettingSource {
  SettingOrigin origin = SettingOrigin::Default;
  std::string where;  // the file, or the variable; empty of a default
  services::SettingValue value;
};
struct EffectiveSetting {
  std::string name;
  std::vector<SettingSource> sources;  // the one that counts first; never empty
};

// What is set in all places together. Error Config, with the file: one cannot be read, a setting does not exist (the
// nearest one that does is named), or has a value that it cannot have.
class Configuration {
 public:
  [[nodiscard]] static Result<Configuration> load(const ConfigurationPlaces& places);

  // Every setting, in the order of services::settingKeys(), shortcuts last.
  [[nodiscard]] const std::vector<EffectiveSetting>& all() const { return m_all; }
  // What differs from nothing being set.
  [[nodiscard]] services::Settings settings() const;
  // Of that, what counts more than the user's file, and what counts where it says nothing.
  [[nodiscard]] services::Settings aboveUser() const;
  [[nodiscard]] services::Settings belowUser() const;

 private:
  std::vector<EffectiveSetting> m_all;
};

}  // namespace swage::engine
