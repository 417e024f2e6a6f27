// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/speedup.h"
#include "core/search/archive.h"

namespace swage::search {

// Who may win a search, as far as the search itself knows.
struct Contender {
  domain::CandidateId id;
  domain::Speedup overEager;
};

// Best first.
void rank(std::vector<Contender>& contenders);

// The elites of all islands, each once, best first.
[[nodiscard]] std::vector<Contender> contendersOf(const Archive& archive);

}  // namespace swage::search
