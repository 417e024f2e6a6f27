// SPDX-License-Identifier: Apache-2.0
#include "core/synth/example.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/synth/strategy.h"
#include "core/synth/synthesizer.h"

namespace swage::synth {

Example exampleOf(const patterns::Pattern& pattern) {
  const Strategy* const strategy = StrategyTable::builtIn().find(pattern.language, pattern.id);
  return strategy == nullptr ? Example() : strategy->example();
}

domain::DeviceInfo exampleDevice(domain::Language language) {
  domain::DeviceInfo device;
  device.kind = domain::factsOf(language).device;
  if (device.kind == domain::DeviceKind::Cpu) {
    device.architecture = "x86-64-v3";
    device.multiprocessors = 8;
    device.threads = 8;
    return device;
  }
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  return device;
}

Result<domain::Program> exampleProgram(const patterns::Pattern& pattern, const patterns::Catalogue& catalogue) {
  const Example example = exampleOf(pattern);
  SWAGE_TRY_ASSIGN(const std::unique_ptr<Synthesizer> synthesizer,
                   Synthesizer::create(example.graph, exampleDevice(pattern.language), catalogue));
  const std::vector<domain::Genome> seeds = synthesizer->seeds();
  const auto found = std::find_if(seeds.begin(), seeds.end(), [&](const domain::Genome& genome) {
    return !genome.regions.empty() && genome.regions.back().pattern == pattern.id &&
           (genome.regions.size() == 1 || !example.isOneRegion);
  });
  if (found == seeds.end()) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}' does not fit its example", pattern.id));
  }
  return synthesizer->realise(*found);
}

}  // namespace swage::synth
