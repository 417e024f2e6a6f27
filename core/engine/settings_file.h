// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "core/services/settings_service.h"

namespace swage::engine {

// $SWAGE_CONFIG, else config.toml in $XDG_CONFIG_HOME/swage.
[[nodiscard]] std::filesystem::path configFile();

// Locations that are set count where the environment says nothing, for this program and for those it starts. To be
// called before there are threads.
void applyLocations(const services::Settings& settings);

// Settings as a TOML file of tables: "theme.choice" is `choice` in `[theme]`. The user's comments stay on saving. A
// file of a later version (settings_text.h) is neither read nor written over.
class SettingsFile final : public services::SettingsService {
 public:
  explicit SettingsFile(std::filesystem::path file, services::Settings above = {}, services::Settings below = {})
      : m_file(std::move(file)), m_above(std::move(above)), m_below(std::move(below)) {}
  [[nodiscard]] Result<services::Settings> load() const override;
  [[nodiscard]] Result<> save(const services::Settings& settings) const override;
  [[nodiscard]] std::filesystem::path file() const override { return m_file; }
  [[nodiscard]] services::Settings above() const override { return m_above; }
  [[nodiscard]] services::Settings below() const override { return m_below; }

 private:
  std::filesystem::path m_file;
  services::Settings m_above;
  services::Settings m_below;
};

}  // namespace swage::engine
