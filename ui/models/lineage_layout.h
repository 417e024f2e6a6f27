// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

#include "core/services/types.h"

namespace swage::ui {

// Where the candidates of a lineage stand: generations from left to right, parents always left of their children, and
// within a generation in an order with few crossings. In steps of a grid, without pixels.
struct LineageLayout {
  struct Node {
    services::CandidateRow row;
    int generation = 0;  // column, from 0
    int place = 0;       // row of its column, from 0
  };
  struct Edge {
    std::size_t parent = 0;  // of nodes
    std::size_t child = 0;
  };
  std::vector<Node> nodes;  // ordered by generation, then place
  std::vector<Edge> edges;
  int generations = 0;
  int tallest = 0;  // nodes of the largest generation

  [[nodiscard]] static LineageLayout of(const std::vector<services::CandidateRow>& rows);
  // -1: not here.
  [[nodiscard]] int indexOf(domain::CandidateId id) const;
  // The node that an arrow key leads to, or -1: `across` generations and `along` a generation, one of them 0.
  [[nodiscard]] int neighbour(int node, int across, int along) const;
};

}  // namespace swage::ui
