// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/domain/json.h"
#include "core/domain/proposer_name.h"

// How what is told over the Model Context Protocol is kept small. Pure.
namespace swage::cli {

inline constexpr std::size_t kMostOfMcpText = std::size_t{24} << 10U;     // bytes of a source, a log, a diff
inline constexpr std::size_t kMostOfMcpAnswer = std::size_t{96} << 10U;   // of all that a tool answers
inline constexpr std::size_t kMostOfMcpResource = std::size_t{1} << 20U;  // of a resource
inline constexpr std::size_t kMostOfMcpSource = std::size_t{256} << 10U;  // of a source that is submitted

// The text, or its beginning, cut between characters, with a line that says so and where the rest is.
[[nodiscard]] std::string limited(std::string_view text, std::size_t mostBytes, std::string_view rest);

// Under which name the record keeps what a client submits: "mcp/claude code"; "mcp" where it did not say who it is.
[[nodiscard]] domain::ProposerName submitterName(std::string_view client);

}  // namespace swage::cli
