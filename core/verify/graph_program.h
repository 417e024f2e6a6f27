// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/verify/operator_call.h"

namespace swage::verify {

// In which numbers a graph runs, and as whom.
enum class GraphMode : unsigned char {
  Eager,      // native types, as PyTorch eager would run it
  Reference,  // floating values and dtypes widened, operators exactly as the graph says
};

enum class RunningStats : unsigned char {
  Fresh,  // batch norm updates copies of the buffers it was given
  Reuse,  // it updates the copies of the run before: as cheap as eager, which updates its buffers in place
};

// Values that nobody needs any more, once they are freed (see wiped.h).
enum class Freed : unsigned char {
  AsTheyAre,  // as cheap as eager
  Wiped,
};

// Replaces a value as soon as it was computed.
using ValueChange = std::function<at::Tensor(domain::ValueId id, const at::Tensor& value)>;

// A graph, bound to operators of one device. Values are freed after their last use, as Python would. Holds the state of
// a run, so one run at a time; running may throw c10::Error.
class GraphProgram {
 public:
  [[nodiscard]] static Result<GraphProgram> bind(const domain::Graph& graph, GraphMode mode, const CallMode& call);

  // One tensor for each graph output. `inputs` are those of the graph, in order and already of the right type.
  [[nodiscard]] std::vector<at::Tensor> run(std::span<const at::Tensor> inputs, RunningStats stats, Freed freed,
                                            const ValueChange& change = {});

 private:
  struct Step {
    OperatorCall call;
    // A batch norm in training mode, as a module calls it (eager_batch_norm.h).
    bool eagerBatchNorm = false;
    at::Tensor runningMean;
    at::Tensor runningVar;
    std::vector<std::size_t> freed;       // values nobody needs after this step
    std::vector<domain::ValueId> made{};  // values that this step computes
    bool isWideConvolution = false;       // see wide_convolution.h
  };

  void runStep(Step& step, RunningStats stats);
  void runBatchNorm(Step& step, RunningStats stats);
  void freeSlot(std::size_t value, Freed freed);

  std::vector<Step> m_steps;
  std::vector<std::size_t> m_inputs;
  std::vector<std::size_t> m_outputs;
  std::size_t m_valueCount = 0;
  std::optional<at::ScalarType> m_widenTo;
  Slots m_slots;
};

// Bytes of all values of the graph that are alive at once at the worst moment, without its inputs.
[[nodiscard]] std::int64_t peakIntermediateBytes(const domain::Graph& graph);

}  // namespace swage::verify
