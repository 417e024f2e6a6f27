// SPDX-License-Identifier: Apache-2.0
#include "core/search/random_forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/assert.h"

namespace swage::search {

// The rows with each value replaced by its rank among the values of its feature. Tuning parameters take few values, so
// counting by rank finds a split much faster than sorting in every node.
class RankedRows {
 public:
  explicit RankedRows(std::span<const std::vector<double>> rows) : m_width(rows.front().size()), m_size(rows.size()) {
    m_ranks.resize(m_width * m_size);
    for (std::size_t feature = 0; feature < m_width; ++feature) {
      std::vector<double> values;
      for (const auto& row : rows) {
        values.push_back(row[feature]);
      }
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      for (std::size_t row = 0; row < m_size; ++row) {
        const auto found = std::lower_bound(values.begin(), values.end(), rows[row][feature]);
        m_ranks[row * m_width + feature] = static_cast<std::size_t>(found - values.begin());
      }
      m_values.push_back(std::move(values));
    }
  }

  [[nodiscard]] std::size_t size() const { return m_size; }
  [[nodiscard]] std::size_t width() const { return m_width; }
  [[nodiscard]] std::size_t rank(std::size_t row, std::size_t feature) const {
    return m_ranks[row * m_width + feature];
  }
  [[nodiscard]] const std::vector<double>& values(std::size_t feature) const { return m_values[feature]; }

 private:
  std::size_t m_width;
  std::size_t m_size;
  std::vector<std::size_t> m_ranks;           // row by row
  std::vector<std::vector<double>> m_values;  // distinct, ascending, of each feature
};

// Grows one tree on a bootstrap sample of the rows.
class TreeGrower {
 public:
  TreeGrower(const RankedRows& rows, std::span<const double> targets, const RandomForest::Options& options,
             Random& random)
      : m_rows(rows), m_targets(targets), m_options(options), m_random(random) {}

  RandomForest::Tree grow() {
    m_sample.resize(m_rows.size());
    for (std::size_t& row : m_sample) {
      row = m_random.below(m_rows.size());
    }
    m_features.resize(m_rows.width());
    std::iota(m_features.begin(), m_features.end(), std::size_t{0});
    grow(0, m_sample.size(), 0);
    return std::move(m_tree);
  }

 private:
  struct Split {
    std::size_t feature = 0;
    std::size_t below = 0;  // the ranks between which it cuts
    std::size_t above = 0;
    double gain = 0.0;
  };
  struct Bin {
    double sum = 0.0;
    std::size_t count = 0;
  };

  // Grows the subtree of sample rows [begin, end) and returns its root.
  int grow(std::size_t begin, std::size_t end, int depth) {
    const int root = static_cast<int>(m_tree.size());
    m_tree.push_back({.value = sum(begin, end) / static_cast<double>(end - begin)});
    const Split split = depth < m_options.maxDepth ? bestSplit(begin, end) : Split{};
    if (!(split.gain > 0.0)) {
      return root;
    }
    const auto& values = m_rows.values(split.feature);
    const double below = values[split.below];
    const double threshold = below + m_random.unit() * (values[split.above] - below);
    const auto first = m_sample.begin();
    const auto middle =
        std::partition(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end),
                       [&](std::size_t row) { return m_rows.rank(row, split.feature) <= split.below; });
    const auto cut = static_cast<std::size_t>(middle - first);
    const int left = grow(begin, cut, depth + 1);
    const int right = grow(cut, end, depth + 1);
    RandomForest::Node& node = m_tree[static_cast<std::size_t>(root)];
    node = {static_cast<int>(split.feature), threshold, left, right, node.value};
    return root;
  }

  [[nodiscard]] double sum(std::size_t begin, std::size_t end) const {
    double total = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      total += m_targets[m_sample[i]];
    }
    return total;
  }

  // The split with the largest drop of squared error over a random part of the features.
  Split bestSplit(std::size_t begin, std::size_t end) {
    Split best;
    if (end - begin < 2 * static_cast<std::size_t>(m_options.minLeaf) || m_features.empty()) {
      return best;
    }
    const double total = sum(begin, end);
    const double share = m_options.featureShare * static_cast<double>(m_features.size());
    const auto looks = std::clamp(static_cast<std::size_t>(std::ceil(share)), std::size_t{1}, m_features.size());
    for (std::size_t i = 0; i < looks; ++i) {
      std::swap(m_features[i], m_features[i + m_random.below(m_features.size() - i)]);
      if (const Split split = bestSplitOn(m_features[i], begin, end, total); split.gain > best.gain) {
        best = split;
      }
    }
    return best;
  }

  Split bestSplitOn(std::size_t feature, std::size_t begin, std::size_t end, double total) {
    m_bins.assign(m_rows.values(feature).size(), {});
    for (std::size_t i = begin; i < end; ++i) {
      Bin& bin = m_bins[m_rows.rank(m_sample[i], feature)];
      bin.sum += m_targets[m_sample[i]];
      ++bin.count;
    }
    Split best{.feature = feature};
    const auto count = end - begin;
    const auto minLeaf = static_cast<std::size_t>(m_options.minLeaf);
    Bin left;
    std::size_t last = 0;  // rank of the highest value on the left
    for (std::size_t rank = 0; rank < m_bins.size(); ++rank) {
      if (m_bins[rank].count == 0) {
        continue;
      }
      if (left.count >= minLeaf && count - left.count >= minLeaf) {
        const double right = total - left.sum;
        const double gain = left.sum * left.sum / static_cast<double>(left.count) +
                            right * right / static_cast<double>(count - left.count) -
                            total * total / static_cast<double>(count);
        if (gain > std::max(best.gain, kRounding)) {
          best = {feature, last, rank, gain};
        }
      }
      left.sum += m_bins[rank].sum;
      left.count += m_bins[rank].count;
      last = rank;
    }
    return best;
  }

  static constexpr double kRounding = 1e-12;  // a gain below it is the rounding of equal targets

  const RankedRows& m_rows;
  std::span<const double> m_targets;
  const RandomForest::Options& m_options;
  Random& m_random;
  RandomForest::Tree m_tree;
  std::vector<std::size_t> m_sample;
  std::vector<std::size_t> m_features;
  std::vector<Bin> m_bins;
};

RandomForest RandomForest::fit(std::span<const std::vector<double>> rows, std::span<const double> targets,
                               const Options& options, Random random) {
  SWAGE_ASSERT(!rows.empty() && rows.size() == targets.size() && options.trees > 0 && options.minLeaf > 0);
  const RankedRows ranked(rows);
  RandomForest forest;
  for (int i = 0; i < options.trees; ++i) {
    forest.m_trees.push_back(TreeGrower(ranked, targets, options, random).grow());
  }
  return forest;
}

RandomForest::Prediction RandomForest::predict(std::span<const double> row) const {
  double sum = 0.0;
  double squares = 0.0;
  for (const Tree& tree : m_trees) {
    const Node* node = &tree.front();
    while (node->feature >= 0) {
      const bool left = row[static_cast<std::size_t>(node->feature)] <= node->threshold;
      node = &tree[static_cast<std::size_t>(left ? node->left : node->right)];
    }
    sum += node->value;
    squares += node->value * node->value;
  }
  const double count = static_cast<double>(m_trees.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(squares / count - mean * mean, 0.0))};
}

}  // namespace swage::search
