// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/domain/task.h"
#include "core/verify/graph_program.h"
#include "core/verify/sealed.h"

namespace swage::verify {

// What a candidate's outputs are compared with.
class Reference {
 public:
  struct Options {
    c10::Device device = c10::Device(c10::kCPU);
    at::ScalarType type = at::kDouble;  // in which floating values are computed
    std::uint64_t maskKey = 0;
    int keptSeeds = 0;  // of the first seeds, what was computed stays
  };
  [[nodiscard]] static Result<Reference> bind(const domain::Graph& graph, const Options& options);

  // Of one output over all seeds that were admitted.
  struct OutputScale {
    double referenceL2 = 0.0;  // of the seed last admitted
    double referenceMax = 0.0;
    double eagerRelativeL2 = 0.0;
    double eagerMaxAbsolute = 0.0;
    double exactRelativeL2 = 0.0;  // of eager without TF32
  };
  // Runs eager and the reference on the inputs of the next seed and takes down how far they are apart.
  // May throw c10::Error, also when eager does not compute what the graph declares.
  void admit(std::span<const at::Tensor> inputs);

  // The results for an admitted seed, flat and in logical order. Computed anew when they were not kept.
  struct Expected {
    std::vector<Sealed> reference;
    std::vector<Sealed> eager;
    std::vector<double> referenceL2;
  };
  [[nodiscard]] Expected expected(std::size_t seed, std::span<const at::Tensor> inputs);

  // Eager, for timing.
  [[nodiscard]] std::vector<at::Tensor> runEager(std::span<const at::Tensor> inputs);

  // Changes when anything that is kept changes. May throw c10::Error.
  [[nodiscard]] std::int64_t fingerprint() const;

  [[nodiscard]] const std::vector<OutputScale>& scales() const { return m_scales; }
  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }

 private:
  Reference(const domain::Graph& graph, const Options& options, GraphProgram eager, GraphProgram reference)
      : m_graph(graph),
        m_options(options),
        m_eager(std::move(eager)),
        m_reference(std::move(reference)),
        m_scales(graph.outputs.size()) {}
  [[nodiscard]] Expected compute(std::span<const at::Tensor> inputs);
  [[nodiscard]] std::vector<at::Tensor> runWidened(std::span<const at::Tensor> inputs);
  void recordExactError(std::span<const at::Tensor> inputs, const Expected& expected);
  [[nodiscard]] std::vector<Sealed> seal(std::vector<at::Tensor> tensors) const;

  domain::Graph m_graph;
  Options m_options;
  GraphProgram m_eager;
  GraphProgram m_reference;
  std::vector<OutputScale> m_scales;
  std::vector<std::vector<double>> m_referenceL2;  // by seed and output
  std::vector<Expected> m_kept;
};

}  // namespace swage::verify
