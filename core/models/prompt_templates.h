// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace swage::models {

// What resources/prompts has, without the lines that name their versions. Empty: there is none of that name.
[[nodiscard]] std::string_view promptTemplate(std::string_view name);
// SHA-256 of all templates, with their versions.
[[nodiscard]] const std::string& promptTemplatesHash();
// Each {{name}} by its value; a value is not looked at again, and a name without one is taken out.
[[nodiscard]] std::string filledIn(std::string_view text,
                                   const std::map<std::string, std::string, std::less<>>& values);

namespace detail {
// Name and text, as compiled in.
struct PromptFile {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const PromptFile* promptFiles(std::size_t& count);
}  // namespace detail

}  // namespace swage::models
