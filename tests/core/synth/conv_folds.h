// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>

#include "tests/core/synth/conv_cases.h"

// Convolutions by wgmma whose results are folded, for the emulation. Numbers have few bits, so that what halves make of
// them is exact.
namespace swage::synth {

inline constexpr double kExact = 3e-6;  // of L2 norms

inline const Changes kSmall{{"mode", 3},        {"tile_columns", 64}, {"tile_pixels", 64}, {"tile_width", 8},
                            {"tile_depth", 16}, {"parts", 1},         {"bring_groups", 1}, {"blocks", 1}};

inline Operands shortOperands(const Conv& c) {
  Operands all(c);
  for (Numbers* numbers : {&all.x, &all.weight, &all.bias}) {
    for (double& number : *numbers) {
      number = std::round(number * 64.0) / 64.0;
    }
  }
  return all;
}

// Results as [image][channel][position].
struct Results {
  const Conv& conv;
  Numbers values;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(conv.positions()); }
  [[nodiscard]] std::size_t channels() const { return static_cast<std::size_t>(conv.outputs); }
  [[nodiscard]] std::size_t images() const { return static_cast<std::size_t>(conv.images); }
  [[nodiscard]] double at(std::size_t image, std::size_t channel, std::size_t position) const {
    return values[(image * channels() + channel) * count() + position];
  }
};

// Seeds that leave nothing to PyTorch, those with the fewest kernels first. Which is tried first follows from
// estimates, and for sizes as small as here folds are not what takes the time.
inline std::vector<domain::Genome> seedsOfOurs(const Synthesizer& synthesizer) {
  const auto operations = [](const domain::Genome& genome) {
    return std::accumulate(genome.regions.begin(), genome.regions.end(), std::size_t{0},
                           [](std::size_t sum, const domain::RegionGene& gene) { return sum + gene.nodes.size(); });
  };
  std::vector<domain::Genome> seeds;
  std::size_t most = 0;
  for (domain::Genome& seed : synthesizer.seeds()) {
    if (!seed.rewrites.empty() || operations(seed) < most) {
      continue;
    }
    if (operations(seed) > most) {
      most = operations(seed);
      seeds.clear();
    }
    seeds.push_back(std::move(seed));
  }
  std::stable_sort(seeds.begin(), seeds.end(), [](const domain::Genome& a, const domain::Genome& b) {
    return a.regions.size() < b.regions.size();
  });
  return seeds;
}

inline domain::Shape resultShape(const Conv& c, std::int64_t channels) {
  return c.shapeOf(c.images, channels, {c.resultSize(0), c.resultSize(1), c.resultSize(2)});
}

inline double sumOf(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}
// With Bessel's correction.
inline double varianceOf(const Numbers& numbers) {
  const double mean = sumOf(numbers) / static_cast<double>(numbers.size());
  double sum = 0.0;
  for (const double x : numbers) {
    sum += (x - mean) * (x - mean);
  }
  return sum / (static_cast<double>(numbers.size()) - 1.0);
}

inline const Changes kRow{{"tile_width", 0}};
inline const Changes kParts{{"parts", 2}, {"tile_columns", 128}};

inline const Conv kPlain{"", 2, 2, 16, 64, {1, 9, 9}, {1, 3, 3}};
inline const Conv kFew{"OfFewChannels", 2, 2, 21, 17, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}};
inline const Conv kMany{"OfTwoGroups", 2, 3, 16, 70, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kParts};
inline const Conv kLong{"InRows", 2, 1, 16, 20, {1, 5, 70}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, kRow};
inline const Conv kThree{"OfThreeDimensions", 3, 2, 16, 16, {3, 9, 14}, {3, 3, 3}, {1, 1, 2}, {1, 0, 1}};
inline const Conv kTransposed =
    transposed({"OfPhases", 2, 2, 16, 18, {1, 7, 6}, {1, 3, 4}, {1, 2, 2}, {0, 1, 0}, {1, 1, 1}, 1, {}});

}  // namespace swage::synth
