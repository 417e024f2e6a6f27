// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ui/models/lineage_layout.h"

namespace swage::ui {
namespace {

using domain::CandidateId;

services::CandidateRow candidateOf(std::int64_t id, std::vector<std::int64_t> parents) {
  services::CandidateRow row;
  row.id = CandidateId(id);
  for (const std::int64_t parent : parents) {
    row.parents.emplace_back(parent);
  }
  return row;
}

TEST(LineageLayout, PutsParentsLeftOfTheirChildren) {
  const LineageLayout layout = LineageLayout::of(
      {candidateOf(4, {2, 3}), candidateOf(2, {1}), candidateOf(3, {}), candidateOf(1, {}), candidateOf(5, {4})});
  EXPECT_EQ(layout.generations, 4);
  EXPECT_EQ(layout.edges.size(), 4U);
  for (const LineageLayout::Edge& edge : layout.edges) {
    EXPECT_LT(layout.nodes[edge.parent].generation, layout.nodes[edge.child].generation);
  }
  const auto generation = [&](std::int64_t id) {
    return layout.nodes[static_cast<std::size_t>(layout.indexOf(CandidateId(id)))].generation;
  };
  EXPECT_EQ(generation(3), generation(2));  // next to its child, not at the far end
  EXPECT_EQ(layout.indexOf(CandidateId(9)), -1);
}

TEST(LineageLayout, HasNoCrossingsWhereNoneAreNeeded) {
  const LineageLayout layout = LineageLayout::of({candidateOf(1, {}), candidateOf(2, {}), candidateOf(3, {2}),
                                                  candidateOf(4, {1}), candidateOf(5, {3}), candidateOf(6, {4})});
  const auto place = [&](std::int64_t id) {
    return layout.nodes[static_cast<std::size_t>(layout.indexOf(CandidateId(id)))].place;
  };
  EXPECT_EQ(place(1) < place(2), place(4) < place(3));
  EXPECT_EQ(place(4) < place(3), place(6) < place(5));
}

TEST(LineageLayout, ArrowKeysLeadToRelatives) {
  const LineageLayout layout = LineageLayout::of({candidateOf(1, {}), candidateOf(2, {1}), candidateOf(3, {1})});
  const int root = layout.indexOf(CandidateId(1));
  const int child = layout.neighbour(root, 1, 0);
  EXPECT_EQ(layout.neighbour(child, -1, 0), root);
  EXPECT_GE(layout.neighbour(child, 0, 1), 0);
  EXPECT_EQ(layout.neighbour(root, -1, 0), -1);
  EXPECT_EQ(layout.neighbour(root, 0, 1), -1);
  EXPECT_EQ(LineageLayout().neighbour(-1, 1, 0), -1);
}

TEST(LineageLayout, ADamagedRecordMakesNoCircle) {
  const LineageLayout layout = LineageLayout::of({candidateOf(1, {2}), candidateOf(2, {1}), candidateOf(3, {3})});
  EXPECT_EQ(layout.edges.size(), 1U);
}

}  // namespace
}  // namespace swage::ui
