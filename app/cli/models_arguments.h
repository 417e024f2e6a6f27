// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command_tree.h"

namespace swage::cli {

// --model, --only-models, --budget-usd and --budget-tokens; what --model named is taken over when all is parsed.
void addModelOptions(CLI::App* command, Raw& raw, ModelChoice& choice);
[[nodiscard]] Result<> takeModels(const Raw& raw, ModelChoice& choice);

}  // namespace swage::cli
