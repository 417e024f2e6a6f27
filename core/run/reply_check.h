// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/domain/graph.h"
#include "core/domain/language.h"
#include "core/services/swarm_service.h"

namespace swage::run {

// What a search of `graph` would make of a model's reply. An error says why it cannot be read. Pure.
[[nodiscard]] Result<services::ReplyCheck> readReply(const std::string& text, domain::Language language,
                                                     const domain::Graph& graph);

}  // namespace swage::run
