// SPDX-License-Identifier: Apache-2.0
#include "core/search/parent_selection.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/search/weighted_choice.h"

namespace swage::search {

namespace {
constexpr double kEliteShare = 0.7;
constexpr double kUnderExploredShare = 0.2;
// Of the softmax over log time: an elite that takes twice as long as the best is 16 times less likely.
constexpr double kTemperature = 0.25;
}  // namespace

const PlacedElite& selectParent(std::span<const PlacedElite> elites, const Archive& archive, Random& random) {
  std::vector<double> weights(elites.size(), 1.0);
  const double draw = random.unit();
  if (draw < kEliteShare) {
    double fastest = elites.front().elite->overEager.value;
    for (const PlacedElite& placed : elites) {
      fastest = std::max(fastest, placed.elite->overEager.value);
    }
    std::transform(elites.begin(), elites.end(), weights.begin(), [fastest](const PlacedElite& placed) {
      return std::exp(-std::log(fastest / placed.elite->overEager.value) / kTemperature);
    });
  } else if (draw < kEliteShare + kUnderExploredShare) {
    std::transform(elites.begin(), elites.end(), weights.begin(), [&archive](const PlacedElite& placed) {
      return 1.0 / (1.0 + archive.at(placed.island, placed.cell).tried);
    });
  }
  return elites[pickWeighted(weights, random)];
}

std::optional<Aim> selectAim(std::span<const PlacedElite> elites, const Archive& archive,
                             const ReachableCells& reachable, Random& random) {
  std::vector<Aim> aims;
  std::vector<double> weights;
  for (const PlacedElite& placed : elites) {
    for (const domain::Cell& cell : domain::neighbours(placed.cell)) {
      if (reachable[static_cast<std::size_t>(cell.index())] && archive.best(cell) == nullptr) {
        aims.push_back({placed, cell});
        weights.push_back(1.0 / (1.0 + archive.tried(cell)));
      }
    }
  }
  if (aims.empty()) {
    return std::nullopt;
  }
  return aims[pickWeighted(weights, random)];
}

}  // namespace swage::search
