// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"
#include "core/engine/configuration.h"

namespace swage::cli {

// `config`: what is set and where, and changes of it.
class ConfigCommand final : public Command {
 public:
  ConfigCommand(Context context, ConfigArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> act() const;
  [[nodiscard]] Result<> list() const;
  [[nodiscard]] Result<> get() const;
  [[nodiscard]] Result<> change() const;
  [[nodiscard]] Result<std::filesystem::path> file() const;  // of the scope
  [[nodiscard]] engine::ConfigurationPlaces places() const;

  ConfigArguments m_arguments;
};

[[nodiscard]] domain::Json toJson(const engine::EffectiveSetting& setting);
[[nodiscard]] std::string settingTable(const std::vector<engine::EffectiveSetting>& settings, bool withOrigin);

}  // namespace swage::cli
