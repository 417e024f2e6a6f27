// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/engine/pattern_search.h"
#include "core/models/key_ring.h"
#include "core/run/proposer.h"
#include "core/services/types.h"

namespace swage::engine {

// The models that the user's settings let take part in searches of the window: those of `swarm.models`, and, with
// `swarm.by_hand`, a person, by the folder `exchange` of the project. Their budgets become those of the run, where it
// has none of its own. What they are told of fast kernels is found in `places`, opened meanwhile. Kind Config or
// NotFound: one of them cannot be used.
[[nodiscard]] Result<std::vector<run::ProposerFactory>> chosenModels(const std::filesystem::path& settings,
                                                                     std::shared_ptr<const models::KeyRing> keys,
                                                                     services::RunSpec& spec,
                                                                     std::function<PatternPlaces()> places);

}  // namespace swage::engine
