// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/domain/candidate.h"

namespace swage::domain {

// A genome with the values that a source has for its parameters: `constexpr int kLanes = 128;` in `namespace region_0`
// is parameter "lanes" of the first region. A person who edits a source changes those, and the recorded genome is still
// that of the parent. What the source does not say stays.
[[nodiscard]] Genome withSourceParameters(Genome genome, std::string_view source);
[[nodiscard]] std::optional<Genome> withSourceParameters(std::optional<Genome> genome, std::string_view source);

}  // namespace swage::domain
