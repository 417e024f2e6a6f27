// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/domain/device_kind.h"
#include "core/store/task_bundle.h"
#include "core/wire/messages.h"

namespace swage::trust {

// How many draws of the task's own generator every candidate has to be right on: at least 5. A GPU that is given little
// to do waits for the compilers anyway, and looks at 16. Depends on nothing but the task and the target, so that an
// evaluation can be repeated.
[[nodiscard]] int checkSeedsFor(const domain::Graph& graph, domain::DeviceKind target);

// The task as every candidate of a search, an edit and a repeated evaluation meets it.
[[nodiscard]] wire::LoadTask loadRequest(const store::TaskBundle& bundle, std::uint64_t seed,
                                         domain::DeviceKind target);

}  // namespace swage::trust
