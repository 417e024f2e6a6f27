// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/services/settings_service.h"

namespace swage::services {

// What may be set, for all programs. The window shows the same settings with titles (ui/models/setting_catalogue.h).
struct SettingKey {
  std::string_view name;                       // "search.target"; its first part is the section of the file
  std::string_view meaning;                    // one line
  SettingValue standard;                       // what holds when nothing is set: also the type
  std::vector<std::string_view> choices = {};  // of a text; empty: any
  std::int64_t least = 0;                      // of a number
  std::int64_t most = std::numeric_limits<int>::max();
  bool isDuration = false;         // of a text: "90 s", "5 min"
  bool isDeviceList = false;       // of a text: "0,1", or empty
  std::string_view variable = {};  // of the environment, that counts more than any file; empty: none
};

// In the order of the sections. Shortcuts, `shortcuts.<name of an action>`, are allowed beside them.
[[nodiscard]] std::span<const SettingKey> settingKeys();
// Null: there is no such setting.
[[nodiscard]] const SettingKey* findSettingKey(std::string_view name);
[[nodiscard]] bool isShortcutKey(std::string_view name);

// Kind Config where there is no such setting (with the nearest one that there is), or where it cannot have this value.
[[nodiscard]] Result<> checkSetting(std::string_view name, const SettingValue& value);
// What a person typed, as the type that the setting has.
[[nodiscard]] Result<SettingValue> parseSetting(std::string_view name, std::string_view text);
[[nodiscard]] std::string settingText(const SettingValue& value);  // "true", "60 s", "1"

}  // namespace swage::services
