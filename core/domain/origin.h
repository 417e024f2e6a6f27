// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/domain/proposer_name.h"

namespace swage::domain {

// What kind of maker a candidate has.
enum class Origin : std::uint8_t {
  Search,  // Swage's own operators
  Person,
  Model,  // a language model; the record has what was said with it
  Agent,  // a program of somebody else's that submitted it
};
[[nodiscard]] Origin originOf(const ProposerName& madeBy);

// What an agent's name begins with, before a slash and what it calls itself; alone: it gave no name.
inline constexpr std::string_view kAgentName = "mcp";
// An agent as it calls itself, a model as it is called in the settings.
[[nodiscard]] std::string_view ownName(const ProposerName& madeBy);

}  // namespace swage::domain
