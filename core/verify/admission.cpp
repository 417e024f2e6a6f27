// SPDX-License-Identifier: Apache-2.0
#include "core/verify/admission.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/verify/compare.h"
#include "core/verify/contract.h"
#include "core/verify/hard_inputs.h"

namespace swage::verify {
namespace {

// robust-kbench admits a task when its outputs have at least this standard deviation; here for values above 1 it is
// relative to their mean.
constexpr double kLeastDeviation = 0.01;
// Changes in the last places are rounding: a bias before a normalisation moves nothing else.
constexpr double kNoChange = 1e-5;
constexpr double kTrialSeconds = 5.0;
constexpr std::uint64_t kTrialSeed = 450;

std::string subject(const domain::Graph& graph, std::size_t output) {
  return graph.outputs.size() == 1 ? std::string("the output") : fmt::format("output {}", output);
}

// What the values of one output over all elements and seeds say.
std::optional<std::string> doubtAbout(const Spread& all, const std::string& who, double tolerance) {
  const double middle = 0.5 * (all.lowest + all.highest);
  const double size = std::max(1.0, std::abs(all.mean()));
  if (all.lowest == 0.0 && all.highest == 0.0) {
    return fmt::format("{} is zero whatever the inputs are", who);
  }
  if (all.highest - middle <= tolerance * (1.0 + std::abs(middle))) {
    return fmt::format(
        "{} is constant: all its values lie between {:.6g} and {:.6g}, and KernelBench's tolerance of "
        "{:g} cannot tell them from {:.6g}",
        who, all.lowest, all.highest, tolerance, middle);
  }
  if (all.deviation() < kLeastDeviation * size) {
    return fmt::format("{} is nearly constant: mean {:.6g}, standard deviation {:.3g} over its elements and all seeds",
                       who, all.mean(), all.deviation());
  }
  return std::nullopt;
}

bool isSame(const at::Tensor& actual, const Sealed& expected) {
  const at::Tensor flat = actual.contiguous().view(-1);
  if (!expected.isFloating()) {
    return firstMismatch(flat.scalar_type() == at::kBool ? flat.view(at::kByte) : flat, expected, expected) < 0;
  }
  const Difference moved = difference(flat, expected);
  const double size = magnitude(expected).l2;
  return moved.l2 <= kNoChange * size;
}

class Admission {
 public:
  explicit Admission(SessionState& state) : m_state(state), m_graph(state.reference.graph()) {}

  std::vector<std::string> find() {
    judgeOutputs();
    judgeInputs();
    return std::move(m_doubts);
  }

 private:
  void judgeOutputs() {
    std::vector<Spread> all(m_graph.outputs.size());
    std::vector<bool> isFixed(m_graph.outputs.size(), m_state.admittedTaskChecks() > 1);
    const std::vector<Sealed> first = m_state.reference.expectedEager(0, m_state.pristine(0));
    for (std::size_t check = 0; check < m_state.admittedTaskChecks(); ++check) {
      const std::vector<Sealed> results =
          check == 0 ? first : m_state.reference.expectedEager(check, m_state.pristine(check));
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].add(spread(results[i]));
        isFixed[i] = isFixed[i] && isSame(*results[i].chunk(0, results[i].size()), first[i]);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      // A buffer that a module keeps for itself, such as a count of batches, may well be constant.
      if (m_graph.outputs[i].kind == domain::OutputKind::User && all[i].count > 0) {
        judgeOutput(i, all[i], isFixed[i]);
      }
    }
  }

  void judgeOutput(std::size_t output, const Spread& all, bool isFixed) {
    const domain::ScalarType type = m_graph.type(m_graph.outputs[output].value).dtype;
    const double tolerance = domain::isFloating(type) ? kernelBenchTolerance(type) : 0.0;
    if (auto doubt = doubtAbout(all, subject(m_graph, output), tolerance)) {
      m_doubts.push_back(std::move(*doubt));
    } else if (isFixed) {
      m_doubts.push_back(fmt::format("{} is the same for every draw of the inputs", subject(m_graph, output)));
    }
  }

  void judgeInputs() {
    const std::vector<at::Tensor> pristine = m_state.pristine(0);
    const std::vector<at::Tensor> others = m_state.admittedTaskChecks() > 1 ? m_state.pristine(1) : pristine;
    const std::vector<Sealed> expected = m_state.reference.expectedEager(0, pristine);
    const WorkingInputs& set = m_state.fillWorking(0, pristine);
    const auto start = std::chrono::steady_clock::now();
    for (const std::size_t input : inputsInOrder()) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kTrialSeconds) {
        log::info("not every weight was tried for whether an output depends on it: PyTorch takes too long");
        return;
      }
      const at::Tensor other = otherValue(input, pristine[input], others[input]);
      if (!other.defined() || other.equal(pristine[input])) {
        continue;
      }
      set.tensors()[input].copy_(other);
      if (changesNothing(set, expected)) {
        m_doubts.push_back(describe(m_graph.inputs[input]));
      }
      set.tensors()[input].copy_(pristine[input]);
    }
  }

  // User inputs first: there are few of them.
  [[nodiscard]] std::vector<std::size_t> inputsInOrder() const {
    std::vector<std::size_t> order(m_graph.inputs.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    std::stable_partition(order.begin(), order.end(),
                          [this](std::size_t i) { return m_graph.inputs[i].kind == domain::InputKind::User; });
    return order;
  }

  // Undefined where nothing is known to be valid: a constant of the graph, an index that every draw has the same.
  [[nodiscard]] at::Tensor otherValue(std::size_t input, const at::Tensor& value, const at::Tensor& drawn) const {
    const domain::GraphInput& which = m_graph.inputs[input];
    if (which.kind == domain::InputKind::Constant || value.numel() == 0) {
      return {};
    }
    if (which.kind == domain::InputKind::User && !value.equal(drawn)) {
      return drawn;
    }
    return value.is_floating_point() ? otherWeight(which, value, m_state.baseSeed + kTrialSeed + input) : at::Tensor();
  }

  [[nodiscard]] bool changesNothing(const WorkingInputs& set, std::span<const Sealed> expected) {
    const WipedTensors results = m_state.reference.runFreshEager(set.tensors());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!isSame(results[i], expected[i])) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] static std::string describe(const domain::GraphInput& input) {
    const bool isUser = input.kind == domain::InputKind::User;
    return fmt::format("no output depends on the {} '{}'", isUser ? "input" : "weight", input.name);
  }

  SessionState& m_state;
  const domain::Graph& m_graph;
  std::vector<std::string> m_doubts;
};

}  // namespace

std::vector<std::string> findDoubts(SessionState& state) {
  return Admission(state).find();
}

}  // namespace swage::verify
