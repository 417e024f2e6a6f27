// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>

#include "core/base/random.h"
#include "core/search/archive.h"

namespace swage::search {

// Which of `elites` (not empty) becomes a parent: 70 % softmax over log time, 20 % from cells that were tried little,
// 10 % any.
[[nodiscard]] const PlacedElite& selectParent(std::span<const PlacedElite> elites, const Archive& archive,
                                              Random& random);

// An elite and the empty cell beside it that a change of it is meant to reach.
struct Aim {
  PlacedElite parent;
  domain::Cell cell;
};
using ReachableCells = std::array<bool, domain::kCellCount>;
[[nodiscard]] constexpr ReachableCells everyCell() {
  ReachableCells cells{};
  cells.fill(true);
  return cells;
}

// A cell that is empty on all islands, reachable, and one step from one of `elites`; cells where candidates already
// failed come less often. No value: there is none.
[[nodiscard]] std::optional<Aim> selectAim(std::span<const PlacedElite> elites, const Archive& archive,
                                           const ReachableCells& reachable, Random& random);

}  // namespace swage::search
