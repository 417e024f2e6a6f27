// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/domain/device_info.h"
#include "core/patterns/catalogue.h"
#include "core/synth/fusion.h"
#include "core/synth/operations.h"
#include "core/synth/synthesizer.h"

// The parts of the synthesiser around one graph, as the tests of this folder need them.
namespace swage::synth {

[[nodiscard]] const patterns::Catalogue& catalogue();
[[nodiscard]] std::filesystem::path patternsFolder();

[[nodiscard]] domain::DeviceInfo cpuDevice();
[[nodiscard]] domain::DeviceInfo cudaDevice();
[[nodiscard]] inline domain::DeviceInfo device(domain::Language language) {
  return language == domain::Language::Cpp ? cpuDevice() : cudaDevice();
}

[[nodiscard]] std::unique_ptr<Synthesizer> makeSynthesizer(const domain::Graph& graph,
                                                           const domain::DeviceInfo& device);

// Without the first seed of many graphs on a GPU, which has no kernels: PyTorch's own operators as one CUDA graph.
[[nodiscard]] std::vector<domain::Genome> seedsWithKernels(const Synthesizer& synthesizer);

// A graph cut into operations and what may be fused in it.
class Lab {
 public:
  explicit Lab(domain::Graph graph)
      : m_graph(std::move(graph)),
        m_operations(findOperations(m_graph)),
        m_fusion(m_graph, m_operations,
                 [](const Region& region) { return StrategyTable::builtIn().accepts(domain::Language::Cpp, region); }) {
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }
  [[nodiscard]] const OperationGraph& operations() const { return m_operations; }
  [[nodiscard]] const Fusion& fusion() const { return m_fusion; }
  // The program of these operations; fails the test when there is none.
  [[nodiscard]] Region region(const std::vector<int>& operations) const;

 private:
  domain::Graph m_graph;
  OperationGraph m_operations;
  Fusion m_fusion;
};

}  // namespace swage::synth
