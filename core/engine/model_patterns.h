// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "core/engine/pattern_search.h"
#include "core/models/prompt.h"

// What models are told of fast kernels that this machine knows: the best few for a question. What they give is asked on
// one thread at a time, and ends with what was opened.
namespace swage::engine {

// Opens the index before it returns: in milliseconds, the first time in seconds. Empty, with a line in the log: it
// cannot be opened.
[[nodiscard]] models::PatternsFor patternsFrom(const PatternPlaces& places);

// Opens it on a thread of its own, which asks for `places`, too; nothing is found until then. Who lets go of it earlier
// waits for that.
[[nodiscard]] models::PatternsFor patternsMeanwhile(std::function<PatternPlaces()> places);

}  // namespace swage::engine
