// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/retrieval/embedding.h"
#include "core/retrieval/sources.h"
#include "core/store/pattern_index.h"

namespace swage::retrieval {

// Of an index in which nothing was counted yet: one for which all words are equally rare.
[[nodiscard]] Result<Rarity> readRarity(const store::PatternIndex& index);

struct Refreshed {
  std::size_t units = 0;    // that were read
  std::size_t gone = 0;     // that are not there any more
  bool hasLearned = false;  // everything was read, and the rarity of words counted anew
};

// Brings the index up to date with these units: reads those that are new or changed, and takes out those that are gone.
// Where more than a tenth has changed, everything is read, because the rarity of words has changed, too. A unit that
// cannot be read is logged and counts as empty until it changes.
[[nodiscard]] Result<Refreshed> refresh(store::PatternIndex& index, const std::vector<Unit>& units);

}  // namespace swage::retrieval
