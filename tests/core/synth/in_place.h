// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "core/domain/candidate.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/tensor_data.h"

// Parts of a concatenation that nobody else reads: of a pooling, a convolution, and perhaps a second one with so many
// channels that what follows does not begin at a multiple of a vector.
namespace swage::synth {

enum class Convolutions : unsigned char { One, Two };
[[nodiscard]] inline domain::Graph fireModule(Convolutions count = Convolutions::Two) {
  const bool areTwo = count == Convolutions::Two;
  GraphBuilder b;
  const auto x = b.input({2, 8, 7, 16});
  const auto zero = listArg({0, 0});
  const auto one = listArg({1, 1});
  const auto convolved = [&](std::int64_t channels, std::int64_t window, const domain::Argument& padding) {
    const auto weight = b.input({channels, 8, window, window});
    return b.call("aten.conv2d.default", {arg(x), arg(weight), noArg(), one, padding, one, arg(1)},
                  {2, channels, 7, 16});
  };
  domain::ArgumentList parts;
  if (areTwo) {
    parts.push_back(arg(b.relu(convolved(5, 1, zero))));
  }
  parts.push_back(
      arg(b.call("aten.max_pool2d.default", {arg(x), listArg({3, 3}), one, one, one, arg(false)}, {2, 8, 7, 16})));
  parts.push_back(arg(b.relu(convolved(16, 3, one))));
  b.output(b.call("aten.cat.default", {domain::Argument{parts}, arg(1)}, {2, areTwo ? 29 : 24, 7, 16}));
  return b.graph();
}

[[nodiscard]] inline std::vector<Bytes> inputsOf(const domain::Graph& graph) {
  std::vector<Bytes> inputs;
  for (const domain::GraphInput& input : graph.inputs) {
    const auto count = static_cast<std::size_t>(graph.type(input.value).elementCount());
    inputs.push_back(toBytes<float>(randomNumbers(count, 3 + inputs.size())));
  }
  return inputs;
}

// With that rewrite alone.
[[nodiscard]] inline bool isInPlace(const domain::Genome& genome) {
  return genome.rewrites.size() == 1 && genome.rewrites.front().rule == "concatenate in place";
}

// Seeds that write in place, one for each choice of patterns.
[[nodiscard]] inline std::vector<domain::Genome> inPlaceSeeds(const Synthesizer& synthesizer, std::size_t most) {
  std::vector<domain::Genome> found;
  const auto isNew = [&found](const domain::Genome& seed) {
    return std::none_of(found.begin(), found.end(), [&seed](const domain::Genome& known) {
      return std::equal(
          seed.regions.begin(), seed.regions.end(), known.regions.begin(), known.regions.end(),
          [](const domain::RegionGene& a, const domain::RegionGene& b) { return a.pattern == b.pattern; });
    });
  };
  for (const domain::Genome& seed : synthesizer.seeds()) {
    if (found.size() < most && isInPlace(seed) && isNew(seed)) {
      found.push_back(seed);
    }
  }
  return found;
}

}  // namespace swage::synth
