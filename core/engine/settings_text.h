// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swage::engine {

// The text of a TOML file of tables with one key changed, everything else as it was: comments, order and blank lines.
// `value` as TOML writes it; no value: the key goes. Knows what people and Swage write, `key = value` on one line under
// `[section]`; whoever calls it reads the result to see that it says what it should.
[[nodiscard]] std::string withSetting(std::string_view text, std::string_view section, std::string_view key,
                                      const std::optional<std::string>& value);

}  // namespace swage::engine
