// SPDX-License-Identifier: Apache-2.0
#include "app/cli/config_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/engine/settings_file.h"
#include "core/services/setting_keys.h"

namespace swage::cli {
namespace {

using Action = ConfigArguments::Action;

domain::Json jsonOf(const services::SettingValue& value) {
  return std::visit([](const auto& one) { return domain::Json(one); }, value);
}

std::string shown(const services::SettingValue& value) {
  const std::string text = services::settingText(value);
  return text.empty() ? "\"\"" : text;
}

domain::Json jsonOf(const engine::SettingSource& source) {
  return {{"value", jsonOf(source.value)},
          {"origin", engine::name(source.origin)},
          {"where", source.where.empty() ? domain::Json() : domain::Json(source.where)}};
}

}  // namespace

domain::Json toJson(const engine::EffectiveSetting& setting) {
  domain::Json json = jsonOf(setting.sources.front());
  json["setting"] = setting.name;
  json["sources"] = domain::Json::array();
  for (const engine::SettingSource& source : setting.sources) {
    json["sources"].push_back(jsonOf(source));
  }
  return json;
}

std::string settingTable(const std::vector<engine::EffectiveSetting>& settings, bool withOrigin) {
  std::vector<std::vector<std::string>> rows{{"setting", "value", "from"}};
  for (const engine::EffectiveSetting& setting : settings) {
    for (std::size_t i = 0; i < (withOrigin ? setting.sources.size() : 1); ++i) {
      const engine::SettingSource& source = setting.sources[i];
      std::string from(engine::name(source.origin));
      if (withOrigin && !source.where.empty()) {
        from += " (" + source.where + ")";
      }
      rows.push_back({i == 0 ? setting.name : "", shown(source.value), i == 0 ? from : from + ", not used"});
    }
  }
  return formatTable(rows);
}

void ConfigCommand::start() {
  if (const Result<> done = act(); !done) {
    fail(done.error());
    return;
  }
  Q_EMIT Command::done(wire::ExitCode::Ok);
}

engine::ConfigurationPlaces ConfigCommand::places() const {
  const Result<std::filesystem::path> project = existingProject();
  return engine::ConfigurationPlaces::standard(project ? *project : std::filesystem::path());
}

Result<std::filesystem::path> ConfigCommand::file() const {
  if (m_arguments.scope == ConfigArguments::Scope::User) {
    return engine::configFile();
  }
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  return std::filesystem::absolute(engine::ConfigurationPlaces::standard(project).projectFile());
}

Result<> ConfigCommand::act() const {
  switch (m_arguments.action) {
    case Action::List: return list();
    case Action::Get: return get();
    case Action::Set:
    case Action::Unset: return change();
    case Action::Path: break;
  }
  SWAGE_TRY_ASSIGN(const std::filesystem::path path, file());
  if (form() == OutputForm::Text) {
    print(path.string() + '\n');
  } else {
    printJson({{"path", path.string()}, {"exists", std::filesystem::exists(path)}});
  }
  return {};
}

Result<> ConfigCommand::list() const {
  SWAGE_TRY_ASSIGN(const engine::Configuration configuration, engine::Configuration::load(places()));
  if (form() == OutputForm::Text) {
    print(settingTable(configuration.all(), m_arguments.origin));
    return {};
  }
  domain::Json all = domain::Json::array();
  for (const engine::EffectiveSetting& setting : configuration.all()) {
    if (form() == OutputForm::JsonLines) {
      printJson(toJson(setting));
    }
    all.push_back(toJson(setting));
  }
  if (form() == OutputForm::Json) {
    printJson({{"settings", std::move(all)}});
  }
  return {};
}

Result<> ConfigCommand::get() const {
  SWAGE_TRY_ASSIGN(const engine::Configuration configuration, engine::Configuration::load(places()));
  const auto found = std::find_if(configuration.all().begin(), configuration.all().end(),
                                  [this](const auto& setting) { return setting.name == m_arguments.key; });
  if (found == configuration.all().end()) {
    SWAGE_TRY(services::checkSetting(m_arguments.key, {}));
    return Error(ErrorKind::Config, fmt::format("'{}' is not set", m_arguments.key), {});
  }
  if (form() != OutputForm::Text) {
    printJson(toJson(*found));
  } else if (m_arguments.origin) {
    print(settingTable({*found}, true));
  } else {
    print(services::settingText(found->sources.front().value) + '\n');
  }
  return {};
}

Result<> ConfigCommand::change() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path path, file());
  const engine::SettingsFile settingsFile(path);
  SWAGE_TRY_ASSIGN(services::Settings settings, settingsFile.load());
  if (m_arguments.action == Action::Set) {
    SWAGE_TRY_ASSIGN(settings[m_arguments.key], services::parseSetting(m_arguments.key, m_arguments.value));
  } else if (settings.erase(m_arguments.key) == 0) {
    // Whatever the file has may go, also what Swage does not know.
    return Error(ErrorKind::Config, fmt::format("'{}' is not set in '{}'", m_arguments.key, path.string()),
                 "`swage config list --origin` shows what is set where");
  }
  SWAGE_TRY(settingsFile.save(settings));
  if (form() != OutputForm::Text) {
    const auto value = settings.find(m_arguments.key);
    printJson({{"setting", m_arguments.key},
               {"value", value == settings.end() ? domain::Json() : jsonOf(value->second)},
               {"file", path.string()}});
  }
  return {};
}

}  // namespace swage::cli
