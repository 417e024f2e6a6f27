// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/services/settings_service.h"

namespace swage::engine {

// Of the form in which settings are written in a file: `version = 1` at its top. Files without such a line are read,
// too.
inline constexpr std::int64_t kSettingsVersion = 1;

// The text of such a file with its version at the top.
[[nodiscard]] std::string withVersion(std::string text);

// As TOML writes it: `true`, `7`, `"60 s"`.
[[nodiscard]] std::string tomlText(const services::SettingValue& value);

// The text of a TOML file of tables with one key changed, everything else as it was: comments, order and blank lines.
// `value` as TOML writes it; no value: the key goes. Knows what people and Swage write, `key = value` on one line under
// `[section]`; whoever calls it reads the result to see that it says what it should.
[[nodiscard]] std::string withSetting(std::string_view text, std::string_view section, std::string_view key,
                                      const std::optional<std::string>& value);

}  // namespace swage::engine
