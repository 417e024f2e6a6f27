// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/core/synth/emulator.h"
#include "tests/core/synth/in_place.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/measured_device.h"

// Parts of a concatenation in place, by kernels in CUDA C++ on the emulation.
namespace swage::synth {
namespace {

using domain::Genome;

// The emulation has not what all patterns call, one kernel beside the other.
bool areAllOf(const Genome& genome, const std::set<std::string>& patterns) {
  return std::all_of(genome.regions.begin(), genome.regions.end(),
                     [&patterns](const domain::RegionGene& gene) { return patterns.contains(gene.pattern); });
}

// Of at most `most` seeds that can be emulated; how many there were.
std::size_t compare(const domain::Graph& graph, const std::set<std::string>& patterns, std::size_t most) {
  const auto synthesizer = Synthesizer::create(graph, measuredDevice(), emulatedCatalogue());
  const auto exact = makeSynthesizer(graph, cpuDevice());
  const std::vector<Genome> all = exact->seeds();
  const auto plain = std::find_if(all.begin(), all.end(), [](const Genome& seed) { return seed.rewrites.empty(); });
  if (!synthesizer || plain == all.end()) {
    ADD_FAILURE() << "there are no seeds";
    return 0;
  }
  const std::vector<Bytes> inputs = inputsOf(graph);
  const std::vector<double> wanted = toNumbers<float>(runOnCpu(*exact->realise(*plain), inputs).front());
  std::vector<Genome> seeds = inPlaceSeeds(**synthesizer, 200);
  std::erase_if(seeds, [&patterns](const Genome& seed) { return !areAllOf(seed, patterns); });
  seeds.resize(std::min(seeds.size(), most));
  for (const Genome& seed : seeds) {
    SCOPED_TRACE(domain::canonicalText(seed));
    const auto program = (*synthesizer)->realise(seed);
    const std::vector<Bytes> results = program ? runEmulated(*program, inputs) : std::vector<Bytes>();
    // Some of them round to TF32.
    EXPECT_EQ(results.empty() ? "not run" : firstDifference(toNumbers<float>(results.front()), wanted, 2e-2), "");
  }
  return seeds.size();
}

TEST(InPlaceOnCuda, TheResultIsThatOfACopy) {
  EXPECT_GE(compare(fireModule(), {"conv_mma", "pool", "direct", "direct_rows"}, 2), 2U);
  EXPECT_GE(compare(fireModule(Convolutions::One), {"conv_wgmma", "pool", "direct", "direct_rows"}, 2), 2U);
}

}  // namespace
}  // namespace swage::synth
