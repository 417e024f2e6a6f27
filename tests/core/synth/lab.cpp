// SPDX-License-Identifier: Apache-2.0
#include "tests/core/synth/lab.h"

#include <gtest/gtest.h>

#include "core/base/assert.h"

namespace swage::synth {

std::filesystem::path patternsFolder() {
  return SWAGE_TEST_PATTERNS;
}

const patterns::Catalogue& catalogue() {
  static const Result<patterns::Catalogue> loaded = patterns::Catalogue::load(patternsFolder());
  SWAGE_ASSERT(loaded.has_value());
  return *loaded;
}

domain::DeviceInfo cpuDevice() {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cpu;
  device.architecture = "x86-64-v3";
  device.multiprocessors = 8;
  device.threads = 8;
  device.cacheBytes = std::int64_t{32} << 20;
  return device;
}

domain::DeviceInfo cudaDevice() {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cuda;
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.cacheBytes = std::int64_t{60} << 20;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  return device;
}

std::vector<domain::Genome> seedsWithKernels(const Synthesizer& synthesizer) {
  std::vector<domain::Genome> seeds = synthesizer.seeds();
  std::erase_if(seeds, [](const domain::Genome& seed) { return seed.regions.empty(); });
  return seeds;
}

std::unique_ptr<Synthesizer> makeSynthesizer(const domain::Graph& graph, const domain::DeviceInfo& device) {
  auto made = Synthesizer::create(graph, device, catalogue());
  SWAGE_ASSERT(made.has_value());
  return std::move(*made);
}

Region Lab::region(const std::vector<int>& operations) const {
  const Region* program = m_fusion.region(operations);
  EXPECT_NE(program, nullptr) << "these operations are not one region";
  return program != nullptr ? *program : Region();
}

}  // namespace swage::synth
