// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swage::exporting {

using TemplateValues = std::vector<std::pair<std::string_view, std::string>>;

// Replaces each @NAME@ of the template that has a value; what is put in is not looked at again.
[[nodiscard]] std::string filled(std::string_view text, const TemplateValues& values);

}  // namespace swage::exporting
