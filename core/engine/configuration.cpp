// SPDX-License-Identifier: Apache-2.0
#include "core/engine/configuration.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "core/engine/settings_file.h"
#include "core/services/setting_keys.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;
using services::Settings;
using services::SettingValue;

std::optional<std::string> variableOfProcess(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets any later
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

Result<Settings> readFile(const fs::path& file) {
  SWAGE_TRY_ASSIGN(Settings settings, SettingsFile(file).load());
  for (const auto& [name, value] : settings) {
    if (const Result<> fits = services::checkSetting(name, value); !fits) {
      return Error(ErrorKind::Config, fmt::format("{} (in '{}')", fits.error().message(), file.string()),
                   fits.error().hint());
    }
  }
  return settings;
}

struct Layer {
  SettingOrigin origin = SettingOrigin::Default;
  std::string where;
  Settings settings;
};

Result<Layer> environmentLayer(const ConfigurationPlaces& places, const services::SettingKey& key) {
  Layer layer{SettingOrigin::Environment, std::string(key.variable), {}};
  const auto text = key.variable.empty() || !places.variable ? std::nullopt : places.variable(key.variable);
  if (text) {
    SWAGE_TRY_ASSIGN(SettingValue value, services::parseSetting(key.name, *text));
    layer.settings.emplace(key.name, std::move(value));
  }
  return layer;
}

// Those of files, what counts most first.
Result<std::vector<Layer>> fileLayers(const ConfigurationPlaces& places) {
  std::vector<Layer> layers;
  const auto add = [&layers](SettingOrigin origin, const fs::path& file) -> Result<> {
    SWAGE_TRY_ASSIGN(Settings settings, readFile(file));
    layers.push_back({origin, file.string(), std::move(settings)});
    return {};
  };
  if (!places.project.empty()) {
    SWAGE_TRY(add(SettingOrigin::Project, places.projectFile()));
  }
  SWAGE_TRY(add(SettingOrigin::User, places.user));
  for (const fs::path& file : places.system) {
    SWAGE_TRY(add(SettingOrigin::System, file));
  }
  return layers;
}

EffectiveSetting settingFrom(std::string name, const std::vector<Layer>& layers) {
  EffectiveSetting setting{std::move(name), {}};
  for (const Layer& layer : layers) {
    if (const auto found = layer.settings.find(setting.name); found != layer.settings.end()) {
      setting.sources.push_back({layer.origin, layer.where, found->second});
    }
  }
  return setting;
}

}  // namespace

std::string_view name(SettingOrigin origin) {
  switch (origin) {
    case SettingOrigin::Default: return "default";
    case SettingOrigin::System: return "system";
    case SettingOrigin::User: return "user";
    case SettingOrigin::Project: return "project";
    case SettingOrigin::Environment: return "environment";
  }
  return "default";
}

ConfigurationPlaces ConfigurationPlaces::standard(fs::path project) {
  ConfigurationPlaces places{
      .system = {}, .user = configFile(), .project = std::move(project), .variable = variableOfProcess};
  std::string folders = variableOfProcess("XDG_CONFIG_DIRS").value_or("/etc/xdg");
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path folder = folders.substr(at, end - at);
    if (folder.is_absolute()) {
      places.system.push_back(folder / "swage/config.toml");
    }
    at = end + 1;
  }
  return places;
}

bool isProject(const fs::path& folder) {
  ConfigurationPlaces places;
  places.project = folder;
  std::error_code ignored;
  return fs::exists(folder / "runs.sqlite", ignored) || fs::exists(places.projectFile(), ignored);
}

Result<Configuration> Configuration::load(const ConfigurationPlaces& places) {
  SWAGE_TRY_ASSIGN(std::vector<Layer> layers, fileLayers(places));
  Configuration configuration;
  for (const services::SettingKey& key : services::settingKeys()) {
    EffectiveSetting setting = settingFrom(std::string(key.name), layers);
    SWAGE_TRY_ASSIGN(const Layer environment, environmentLayer(places, key));
    for (const auto& [ignored, value] : environment.settings) {
      setting.sources.insert(setting.sources.begin(), {environment.origin, environment.where, value});
    }
    setting.sources.push_back({SettingOrigin::Default, {}, key.standard});
    configuration.m_all.push_back(std::move(setting));
  }
  std::vector<std::string> shortcuts;
  for (const Layer& layer : layers) {
    for (const auto& [name, value] : layer.settings) {
      if (services::isShortcutKey(name) && std::find(shortcuts.begin(), shortcuts.end(), name) == shortcuts.end()) {
        shortcuts.push_back(name);
      }
    }
  }
  std::sort(shortcuts.begin(), shortcuts.end());
  for (std::string& name : shortcuts) {
    configuration.m_all.push_back(settingFrom(std::move(name), layers));
  }
  return configuration;
}

Settings Configuration::settings() const {
  Settings settings;
  for (const EffectiveSetting& setting : m_all) {
    if (setting.sources.front().origin != SettingOrigin::Default) {
      settings.emplace(setting.name, setting.sources.front().value);
    }
  }
  return settings;
}

services::Settings Configuration::aboveUser() const {
  Settings settings;
  for (const EffectiveSetting& setting : m_all) {
    if (setting.sources.front().origin > SettingOrigin::User) {
      settings.emplace(setting.name, setting.sources.front().value);
    }
  }
  return settings;
}

services::Settings Configuration::belowUser() const {
  Settings settings;
  for (const EffectiveSetting& setting : m_all) {
    const auto found = std::find_if(setting.sources.begin(), setting.sources.end(),
                                    [](const SettingSource& source) { return source.origin < SettingOrigin::User; });
    if (found != setting.sources.end() && found->origin != SettingOrigin::Default) {
      settings.emplace(setting.name, found->value);
    }
  }
  return settings;
}

}  // namespace swage::engine
