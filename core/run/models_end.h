// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/error.h"
#include "core/run/proposer_pool.h"
#include "core/run/run_context.h"
#include "core/services/run_service.h"

namespace swage::run {

// What a search by language models alone has to say at its end; nothing where the search proposes, too.
struct ModelsEnd {
  std::optional<Error> error;               // nothing correct was found, because no model could be asked
  std::optional<services::Notice> warning;  // something was, and no model can be asked any more
};

// `evaluations`: of the run. The context has a searcher.
[[nodiscard]] ModelsEnd modelsEnd(const RunContext& context, const ProposerPool& proposers, std::int64_t evaluations);

}  // namespace swage::run
