// SPDX-License-Identifier: Apache-2.0
#include "core/verify/reference.h"

#include <ATen/Context.h>

#include <algorithm>
#include <utility>

#include "core/base/scope_exit.h"
#include "core/verify/compare.h"
#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

// Runs with IEEE float32 everywhere.
template <class Action>
auto withoutTf32(Action action) {
  at::Context& context = at::globalContext();
  const bool convolutions = context.allowTF32CuDNN();
  const bool products = context.allowTF32CuBLAS();
  const ScopeExit restore([&] {
    context.setAllowTF32CuDNN(convolutions);
    context.setAllowTF32CuBLAS(products);
  });
  context.setAllowTF32CuDNN(false);
  context.setAllowTF32CuBLAS(false);
  return action();
}

double relative(double error, double scale) {
  return scale > 0.0 ? error / scale : error;
}

}  // namespace

Result<Reference> Reference::bind(const domain::Graph& graph, const Options& options) {
  SWAGE_TRY_ASSIGN(GraphProgram eager,
                   GraphProgram::bind(graph, GraphMode::Eager, CallMode{options.device, std::nullopt}));
  SWAGE_TRY_ASSIGN(GraphProgram reference,
                   GraphProgram::bind(graph, GraphMode::Reference, CallMode{options.device, options.type}));
  return Reference(graph, options, std::move(eager), std::move(reference));
}

void Reference::admit(std::span<const at::Tensor> inputs) {
  Expected results = compute(inputs);
  for (std::size_t i = 0; i < m_scales.size(); ++i) {
    OutputScale& scale = m_scales[i];
    const Sealed& reference = results.reference[i];
    if (!reference.isFloating()) {
      continue;
    }
    const Magnitude size = magnitude(reference);
    const Difference error = difference(results.eager[i].chunk(0, reference.size()), reference);
    scale.referenceL2 = size.l2;
    scale.referenceMax = std::max(scale.referenceMax, size.maxAbsolute);
    scale.eagerRelativeL2 = std::max(scale.eagerRelativeL2, relative(error.l2, size.l2));
    scale.eagerMaxAbsolute = std::max(scale.eagerMaxAbsolute, error.maxAbsolute);
    results.referenceL2[i] = size.l2;
  }
  recordExactError(inputs, results);
  m_referenceL2.push_back(results.referenceL2);
  if (static_cast<int>(m_kept.size()) < m_options.keptSeeds) {
    m_kept.push_back(std::move(results));
  }
}

// TF32 exists on CUDA only; elsewhere eager itself is exact.
void Reference::recordExactError(std::span<const at::Tensor> inputs, const Expected& expected) {
  if (!m_options.device.is_cuda()) {
    for (OutputScale& scale : m_scales) {
      scale.exactRelativeL2 = scale.eagerRelativeL2;
    }
    return;
  }
  const auto exact = withoutTf32([&] { return m_eager.run(inputs, RunningStats::Fresh); });
  for (std::size_t i = 0; i < m_scales.size(); ++i) {
    if (expected.reference[i].isFloating()) {
      const Difference error = difference(exact[i].contiguous().view(-1), expected.reference[i]);
      m_scales[i].exactRelativeL2 = std::max(m_scales[i].exactRelativeL2, relative(error.l2, expected.referenceL2[i]));
    }
  }
}

Reference::Expected Reference::expected(std::size_t seed, std::span<const at::Tensor> inputs) {
  if (seed < m_kept.size()) {
    return m_kept[seed];
  }
  Expected results = compute(inputs);
  results.referenceL2 = m_referenceL2.at(seed);
  return results;
}

std::int64_t Reference::fingerprint() const {
  std::vector<at::Tensor> all;
  for (const Expected& results : m_kept) {
    for (const std::vector<Sealed>* sealed : {&results.reference, &results.eager}) {
      std::transform(sealed->begin(), sealed->end(), std::back_inserter(all),
                     [](const Sealed& one) { return one.bits(); });
    }
  }
  return bitSum(all);
}

std::vector<at::Tensor> Reference::runEager(std::span<const at::Tensor> inputs) {
  return m_eager.run(inputs, RunningStats::Reuse);
}

Reference::Expected Reference::compute(std::span<const at::Tensor> inputs) {
  Expected results;
  std::vector<at::Tensor> eager = m_eager.run(inputs, RunningStats::Fresh);
  for (std::size_t i = 0; i < eager.size(); ++i) {
    TORCH_CHECK(hasShapeAndType(eager[i], m_graph.type(m_graph.outputs[i].value)), "PyTorch computes output ", i,
                " in another shape or type than the task's graph declares");
  }
  results.eager = seal(std::move(eager));
  results.reference = seal(runWidened(inputs));
  results.referenceL2.assign(results.reference.size(), 0.0);
  for (std::size_t i = 0; i < results.reference.size(); ++i) {
    TORCH_CHECK(results.reference[i].size() == results.eager[i].size(), "output ", i,
                " has another size in the reference");
  }
  return results;
}

std::vector<at::Tensor> Reference::runWidened(std::span<const at::Tensor> inputs) {
  std::vector<at::Tensor> widened;
  for (const at::Tensor& input : inputs) {
    widened.push_back(input.is_floating_point() ? input.to(m_options.type) : input);
  }
  return withoutTf32([&] { return m_reference.run(widened, RunningStats::Fresh); });
}

// Frees each tensor as soon as its sealed copy exists.
std::vector<Sealed> Reference::seal(std::vector<at::Tensor> tensors) const {
  std::vector<Sealed> sealed;
  for (at::Tensor& tensor : tensors) {
    sealed.emplace_back(tensor, m_options.maskKey);
    tensor.reset();
  }
  return sealed;
}

}  // namespace swage::verify
