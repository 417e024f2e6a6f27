// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/domain/task.h"
#include "core/verify/checks.h"
#include "core/verify/compare.h"
#include "core/verify/digest.h"
#include "core/verify/graph_program.h"
#include "core/verify/sealed.h"

namespace swage::verify {

class RoundingNoise;

// Zeros of both signs make infinities of both, and which sign a zero has that an operation makes is nobody's promise.
[[nodiscard]] Signs signsOf(InputClass inputs);

// What a candidate's outputs are compared with.
class Reference {
 public:
  struct Options {
    c10::Device device = c10::Device(c10::kCPU);
    at::ScalarType type = at::kDouble;  // in which floating values are computed
    std::uint64_t maskKey = 0;
  };
  enum class Keep : unsigned char {
    Digests,  // of what is large; all of the rest
    Results,
    Both,  // a look at digests costs less
  };
  [[nodiscard]] static Result<Reference> bind(const domain::Graph& graph, const Options& options);

  // Of one output over all checks of one class of inputs. Kept apart by class: what eager gets wrong on huge values
  // must not excuse an error on ordinary ones.
  struct OutputScale {
    double referenceL2 = 0.0;  // of the check last admitted
    double referenceMax = 0.0;
    double eagerRelativeL2 = 0.0;
    double eagerMaxAbsolute = 0.0;
    double exactRelativeL2 = 0.0;  // of eager without TF32; for the task's own inputs
    // Of the reference when every value is one rounding off; for hard inputs, and for tasks in float64.
    double roundingRelativeL2 = 0.0;
    double roundingMaxAbsolute = 0.0;
    // Whether an error can be judged: eager and the reference are finite, and eager computes something like the
    // reference. Where PyTorch itself overflows or is left with nothing but rounding, no limit follows from its error.
    bool isMeaningful = true;
    // Whether every NaN and infinity that eager and the reference both have is there as well when every value is one
    // rounding off, or, where inputs are no numbers, depends on these: then it has to arrive. Of hard inputs.
    bool isSurelyNotFinite = true;
  };
  // Runs eager and the reference on the inputs of a check and takes down how far they are apart. Checks are numbered in
  // the order in which they are admitted. May throw c10::Error, also when eager does not compute what the graph
  // declares; then nothing is admitted.
  void admit(const Check& check, std::span<const at::Tensor> inputs, Keep keep);

  // The results for an admitted check, flat and in logical order.
  struct Expected {
    std::vector<Sealed> reference;
    std::vector<Sealed> eager;  // none where they are computed anew and no verdict asks for them
    std::vector<double> referenceL2;
  };
  // What is kept is masked. The rest is computed anew for every call, and masked only where it has to be: that moves as
  // many bytes as the comparison itself.
  enum class Masking : unsigned char {
    IfKept,
    Always,  // a candidate that may still pass runs while the results exist
  };
  [[nodiscard]] Expected expected(std::size_t check, std::span<const at::Tensor> inputs, Masking masking);
  // What stays of results that are not kept or take long to look at: see digest.h.
  struct Digests {
    struct Output {
      bool isWhole = false;  // results, not their sums: a few elements
      Sealed reference;
      Sealed eager;  // of large outputs only where they are integers
    };
    std::vector<Output> outputs;
    std::vector<double> referenceL2;
  };
  // Of an admitted check; null: its results are kept, and no digests.
  [[nodiscard]] const Digests* digests(std::size_t check) const;
  [[nodiscard]] const Digester& digester() const { return m_digester; }

  // Eager's part of it alone, masked if kept.
  [[nodiscard]] std::vector<Sealed> expectedEager(std::size_t check, std::span<const at::Tensor> inputs);

  // Eager, for timing. What it frees on its way is not wiped: that would be timed.
  [[nodiscard]] WipedTensors runEager(std::span<const at::Tensor> inputs);

  // Eager, as a module that was just made computes it.
  [[nodiscard]] WipedTensors runFreshEager(std::span<const at::Tensor> inputs);

  // Changes when anything changes that is kept of an admitted check. May throw c10::Error.
  [[nodiscard]] std::int64_t fingerprint(std::size_t check) const;

  // One for each output. Of held-back seeds: together with the task's own, which have the same distribution.
  [[nodiscard]] const std::vector<OutputScale>& scales(InputClass inputs) const {
    return m_scales[static_cast<std::size_t>(inputs)];
  }
  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }
  // Whether something is computed that kernels pad with zeros and sum up as they like.
  [[nodiscard]] bool hasProducts() const;

 private:
  Reference(const domain::Graph& graph, const Options& options, GraphProgram eager, GraphProgram reference)
      : m_graph(graph),
        m_options(options),
        m_eager(std::move(eager)),
        m_reference(std::move(reference)),
        m_digester(options.device, options.maskKey) {
    m_scales.fill(std::vector<OutputScale>(graph.outputs.size()));
  }
  [[nodiscard]] Expected compute(std::span<const at::Tensor> inputs, std::uint64_t maskKey);
  [[nodiscard]] Digests digestsOf(const Expected& results) const;
  [[nodiscard]] std::vector<Sealed> computeEager(std::span<const at::Tensor> inputs, std::uint64_t maskKey);
  [[nodiscard]] std::vector<Sealed> computeReference(std::span<const at::Tensor> inputs, std::uint64_t maskKey);
  // Hard inputs are judged by the reference alone, but for integers and where the reference has nothing to say.
  [[nodiscard]] bool needsEager(std::size_t check) const;
  [[nodiscard]] std::vector<at::Tensor> runWidened(std::span<const at::Tensor> inputs);
  [[nodiscard]] std::vector<at::Tensor> runRounded(InputClass which, std::span<const at::Tensor> inputs,
                                                   RoundingNoise& noise);
  // Eager computes the reference itself then, and its error says nothing.
  [[nodiscard]] bool isInFloat64() const;
  void measureEager(Expected& results, std::vector<OutputScale>& scales) const;
  void recordExactError(std::span<const at::Tensor> inputs, const Expected& expected, std::vector<OutputScale>& scales);
  // Of what recordRounding() computed.
  void recordArrival(const at::Tensor& moved, std::size_t output, const Expected& expected, InputClass inputs,
                     OutputScale& scale) const;
  // Of inputs that are no numbers.
  void recordDependence(std::span<const at::Tensor> inputs, const Expected& expected, std::vector<OutputScale>& scales);
  [[nodiscard]] std::vector<at::Tensor> runWithNumbers(std::span<const at::Tensor> inputs, double factor);
  void recordRounding(const Check& check, std::span<const at::Tensor> inputs, const Expected& expected,
                      std::vector<OutputScale>& scales);

  domain::Graph m_graph;
  Options m_options;
  GraphProgram m_eager;
  GraphProgram m_reference;
  std::array<std::vector<OutputScale>, kInputClasses> m_scales;
  std::vector<InputClass> m_admitted;              // of each check
  std::vector<std::vector<double>> m_referenceL2;  // by check and output
  std::map<std::size_t, Expected> m_kept;          // by check
  Digester m_digester;
  std::map<std::size_t, Digests> m_digests;  // of the other checks
};

}  // namespace swage::verify
