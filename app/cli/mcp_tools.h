// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/mcp/server.h"

namespace swage::cli {

// What an agent may do.
enum class McpAccess : std::uint8_t { ReadOnly, Submissions };

// The tools of `swage mcp`, as a client lists them. Pure.
[[nodiscard]] std::vector<mcp::Tool> mcpTools(McpAccess access);

// For the client's model, once.
[[nodiscard]] std::string mcpInstructions(McpAccess access);

}  // namespace swage::cli
