// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "core/base/result.h"

namespace swage::services {

using SettingValue = std::variant<bool, std::int64_t, std::string>;
using Settings = std::map<std::string, SettingValue, std::less<>>;  // by "section.key"

// What the user has set, as opposed to what holds when nothing is set. One small file that the window and the command
// line share; answered at once, on the calling thread.
class SettingsService {
 public:
  virtual ~SettingsService() = default;
  // Nothing where there is no file. Kind Config, with the line, when it cannot be read.
  [[nodiscard]] virtual Result<Settings> load() const = 0;
  [[nodiscard]] virtual Result<> save(const Settings& settings) const = 0;
  [[nodiscard]] virtual std::filesystem::path file() const = 0;
  // What counts more than what the user has set, and what counts where the user has set nothing.
  [[nodiscard]] virtual Settings above() const { return {}; }
  [[nodiscard]] virtual Settings below() const { return {}; }
};

}  // namespace swage::services
