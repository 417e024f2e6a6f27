// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/random.h"

namespace swage::search {

// Bagged regression trees: Breiman, "Random forests", Machine Learning 45 (2001), with the two changes that make a
// forest usable as a surrogate of a tuning landscape (Hutter, Xu, Hoos, Leyton-Brown, "Algorithm runtime prediction",
// Artificial Intelligence 206 (2014)): thresholds are drawn between neighbouring values instead of put half way, and
// the spread between trees is the uncertainty. Immutable after fit(); the same rows and generator give the same forest.
class RandomForest {
 public:
  struct Options {
    int trees = 24;
    int minLeaf = 2;
    int maxDepth = 12;
    double featureShare = 0.7;  // of the features, looked at in each split
  };
  struct Prediction {
    double mean = 0.0;
    double deviation = 0.0;  // between trees
  };

  // `rows` is not empty, its rows have equal length, and there is one target for each.
  [[nodiscard]] static RandomForest fit(std::span<const std::vector<double>> rows, std::span<const double> targets,
                                        const Options& options, Random random);
  // `row` is as long as the rows it was fitted on.
  [[nodiscard]] Prediction predict(std::span<const double> row) const;

 private:
  struct Node {
    int feature = -1;  // -1: a leaf
    double threshold = 0.0;
    int left = -1;
    int right = -1;
    double value = 0.0;
  };
  using Tree = std::vector<Node>;
  friend class TreeGrower;

  std::vector<Tree> m_trees;
};

}  // namespace swage::search
