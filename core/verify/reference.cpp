// SPDX-License-Identifier: Apache-2.0
#include "core/verify/reference.h"

#include <ATen/Context.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <utility>

#include "core/base/scope_exit.h"
#include "core/domain/aten.h"
#include "core/verify/compare.h"
#include "core/verify/hard_inputs.h"
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

// Eager that is this far from the reference computes something else: overflow, or the rounding of a difference.
constexpr double kMeaninglessError = 0.1;
constexpr int kRoundingTrials = 2;
// Of an output: what two trials find in a few elements, one finds in so many.
constexpr std::int64_t kManyElements = std::int64_t{1} << 22;

// Wipes and frees each tensor as soon as its sealed copy exists.
std::vector<Sealed> seal(std::vector<at::Tensor> tensors, std::uint64_t maskKey) {
  std::vector<Sealed> sealed;
  for (at::Tensor& tensor : tensors) {
    sealed.emplace_back(tensor, maskKey);
    wipe(tensor);
    tensor.reset();
  }
  return sealed;
}

double relative(double error, double scale) {
  return scale > 0.0 ? error / scale : error;
}

}  // namespace

Signs signsOf(InputClass inputs) {
  return inputs == InputClass::Ties ? Signs::DoNotMatter : Signs::Matter;
}

Result<Reference> Reference::bind(const domain::Graph& graph, const Options& options) {
  SWAGE_TRY_ASSIGN(GraphProgram eager,
                   GraphProgram::bind(graph, GraphMode::Eager, CallMode{options.device, std::nullopt}));
  SWAGE_TRY_ASSIGN(GraphProgram reference,
                   GraphProgram::bind(graph, GraphMode::Reference, CallMode{options.device, options.type}));
  return Reference(graph, options, std::move(eager), std::move(reference));
}

void Reference::admit(const Check& check, std::span<const at::Tensor> inputs, Keep keep) {
  // No candidate runs while a task is loaded.
  Expected results = compute(inputs, keep != Keep::Digests ? m_options.maskKey : 0);
  // Held-back seeds come last, and are drawn as the task's own were.
  const bool isHeldBack = check.inputs == InputClass::HeldBack;
  const bool isFirst = std::find(m_admitted.begin(), m_admitted.end(), check.inputs) == m_admitted.end();
  std::vector<OutputScale> scales = this->scales(isHeldBack && isFirst ? InputClass::Task : check.inputs);
  measureEager(results, scales);
  if (isSpecial(check.inputs)) {
    recordDependence(inputs, results, scales);
  } else if (isHard(check.inputs) || isInFloat64()) {
    recordRounding(check, inputs, results, scales);
  }
  if (!isHard(check.inputs)) {
    recordExactError(inputs, results, scales);
  }
  m_scales[static_cast<std::size_t>(check.inputs)] = std::move(scales);
  m_admitted.push_back(check.inputs);
  if (keep != Keep::Digests) {
    m_kept.emplace(m_referenceL2.size(), results);
  }
  if (keep != Keep::Results) {
    m_digests.emplace(m_referenceL2.size(), digestsOf(results));
  }
  m_referenceL2.push_back(std::move(results.referenceL2));
}

Reference::Digests Reference::digestsOf(const Expected& results) const {
  const auto sumsOf = [this](const Sealed& many) { return Sealed(*Wiped(m_digester.sumsOf(many)), m_options.maskKey); };
  const auto copied = [this](const Sealed& few) { return Sealed(*few.chunk(0, few.size()), m_options.maskKey); };
  Digests digests;
  digests.referenceL2 = results.referenceL2;
  for (std::size_t i = 0; i < results.reference.size(); ++i) {
    const Sealed& reference = results.reference[i];
    Digests::Output& output = digests.outputs.emplace_back();
    output.isWhole = reference.size() < Digester::kFewestElements;
    if (output.isWhole) {
      output.reference = copied(reference);
      output.eager = copied(results.eager[i]);
      continue;
    }
    output.reference = sumsOf(reference);
    if (!reference.isFloating()) {
      output.eager = sumsOf(results.eager[i]);
    }
  }
  return digests;
}

const Reference::Digests* Reference::digests(std::size_t check) const {
  const auto found = m_digests.find(check);
  return found != m_digests.end() ? &found->second : nullptr;
}

bool Reference::isInFloat64() const {
  return std::any_of(m_graph.outputs.begin(), m_graph.outputs.end(), [this](const domain::GraphOutput& output) {
    return m_graph.type(output.value).dtype == domain::ScalarType::Float64;
  });
}

void Reference::measureEager(Expected& results, std::vector<OutputScale>& scales) const {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    OutputScale& scale = scales[i];
    const Sealed& reference = results.reference[i];
    if (!reference.isFloating()) {
      continue;
    }
    const Magnitude size = magnitude(reference, toTorch(m_graph.type(m_graph.outputs[i].value).dtype));
    const Difference error = difference(*results.eager[i].chunk(0, reference.size()), reference);
    const double relativeError = relative(error.l2, size.l2);
    scale.referenceL2 = size.l2;
    scale.referenceMax = std::max(scale.referenceMax, size.maxAbsolute);
    scale.eagerRelativeL2 = std::max(scale.eagerRelativeL2, relativeError);
    scale.eagerMaxAbsolute = std::max(scale.eagerMaxAbsolute, error.maxAbsolute);
    scale.isMeaningful = scale.isMeaningful && isFinite(reference) && isFinite(results.eager[i]) &&
                         (size.l2 == 0.0 || relativeError <= kMeaninglessError);
    results.referenceL2[i] = size.l2;
  }
}

bool Reference::hasProducts() const {
  return std::any_of(m_graph.nodes.begin(), m_graph.nodes.end(), [](const domain::Node& node) {
    const domain::AtenWork work = domain::atenWork(node.op);
    return work == domain::AtenWork::Product || work == domain::AtenWork::Other;
  });
}

// TF32 exists in products on CUDA only; elsewhere eager itself is exact.
void Reference::recordExactError(std::span<const at::Tensor> inputs, const Expected& expected,
                                 std::vector<OutputScale>& scales) {
  if (!m_options.device.is_cuda() || !hasProducts()) {
    for (OutputScale& scale : scales) {
      scale.exactRelativeL2 = scale.eagerRelativeL2;
    }
    return;
  }
  const WipedTensors exact(withoutTf32([&] { return m_eager.run(inputs, RunningStats::Fresh, Freed::Wiped); }));
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (expected.reference[i].isFloating()) {
      const Difference error = difference(exact[i].contiguous().view(-1), expected.reference[i]);
      scales[i].exactRelativeL2 = std::max(scales[i].exactRelativeL2, relative(error.l2, expected.referenceL2[i]));
    }
  }
}

// How much of the result hangs on the last place of the inputs and of everything computed on the way. On hard inputs
// that may be a great deal, eager may be exact by luck, and another order of the same sums lands somewhere else within
// this distance. Random, so the larger of two trials where there are few elements. Denormals are zero as well: what a
// kernel that flushes them reads.
void Reference::recordRounding(const Check& check, std::span<const at::Tensor> inputs, const Expected& expected,
                               std::vector<OutputScale>& scales) {
  at::manual_seed(check.seed);
  RoundingNoise noise(m_options.type, m_options.device);
  const bool areMany = std::all_of(expected.reference.begin(), expected.reference.end(),
                                   [](const Sealed& output) { return output.size() >= kManyElements; });
  for (int trial = 0; trial < (areMany ? 1 : kRoundingTrials); ++trial) {
    const WipedTensors moved(runRounded(check.inputs, inputs, noise));
    for (std::size_t i = 0; i < scales.size(); ++i) {
      if (expected.reference[i].isFloating()) {
        const Difference distance = difference(moved[i].contiguous().view(-1), expected.reference[i]);
        scales[i].roundingRelativeL2 =
            std::max(scales[i].roundingRelativeL2, relative(distance.l2, expected.referenceL2[i]));
        scales[i].roundingMaxAbsolute = std::max(scales[i].roundingMaxAbsolute, distance.maxAbsolute);
        recordArrival(moved[i].contiguous().view(-1), i, expected, check.inputs, scales[i]);
      }
    }
  }
}

void Reference::recordArrival(const at::Tensor& moved, std::size_t output, const Expected& expected, InputClass inputs,
                              OutputScale& scale) const {
  if (scale.isMeaningful || !scale.isSurelyNotFinite) {
    return;
  }
  const Wiped stored(moved.to(toTorch(m_graph.type(m_graph.outputs[output].value).dtype)));
  scale.isSurelyNotFinite =
      firstNotArrived(*stored, expected.reference[output], expected.eager[output], signsOf(inputs)) < 0;
}

// 0 * NaN is NaN, and who knows that the zero is always there leaves the product out: of a diagonal matrix, of a mask.
// So only where the result depends on the input does NaN have to arrive, and where it is everywhere nothing is said.
void Reference::recordDependence(std::span<const at::Tensor> inputs, const Expected& expected,
                                 std::vector<OutputScale>& scales) {
  constexpr double kLarge = 8.0;
  constexpr double kOther = -4.0;  // of the other sign and size: a maximum, a root and a magnitude differ
  const WipedTensors large(runWithNumbers(inputs, kLarge));
  const WipedTensors other(runWithNumbers(inputs, kOther));
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (expected.reference[i].isFloating()) {
      scales[i].isMeaningful = false;
      scales[i].isSurelyNotFinite = spread(expected.eager[i]).count > 0 &&
                                    firstUnmoved(large[i].contiguous().view(-1), other[i].contiguous().view(-1),
                                                 expected.reference[i], expected.eager[i]) < 0;
    }
  }
}

std::vector<at::Tensor> Reference::runWithNumbers(std::span<const at::Tensor> inputs, double factor) {
  std::vector<at::Tensor> made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool isChanged = inputs[i].is_floating_point() && m_graph.inputs[i].kind == domain::InputKind::User;
    made.push_back(isChanged && inputs[i].numel() > 0 ? withNumbers(inputs[i], factor) : inputs[i]);
  }
  return runWidened(made);
}

std::vector<at::Tensor> Reference::runRounded(InputClass which, std::span<const at::Tensor> inputs,
                                              RoundingNoise& noise) {
  std::vector<at::Tensor> rounded;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& input = inputs[i];
    const bool isFlushed = which == InputClass::Denormal && m_graph.inputs[i].kind == domain::InputKind::User;
    const at::Tensor wide = input.is_floating_point() ? input.to(m_options.type) : input;
    rounded.push_back(isFlushed && input.is_floating_point()
                          ? at::zeros_like(wide)
                          : noise.apply(wide, m_graph.type(m_graph.inputs[i].value).dtype));
  }
  const ValueChange change = [this, &noise](domain::ValueId id, const at::Tensor& value) {
    return noise.apply(value, m_graph.type(id).dtype);
  };
  return withoutTf32([&] { return m_reference.run(rounded, RunningStats::Fresh, Freed::Wiped, change); });
}

Reference::Expected Reference::expected(std::size_t check, std::span<const at::Tensor> inputs, Masking masking) {
  if (const auto kept = m_kept.find(check); kept != m_kept.end()) {
    return kept->second;
  }
  const std::uint64_t maskKey = masking == Masking::Always ? m_options.maskKey : 0;
  Expected results;
  if (needsEager(check)) {
    results.eager = computeEager(inputs, maskKey);
  }
  results.reference = computeReference(inputs, maskKey);
  results.referenceL2 = m_referenceL2.at(check);
  return results;
}

std::vector<Sealed> Reference::expectedEager(std::size_t check, std::span<const at::Tensor> inputs) {
  const auto kept = m_kept.find(check);
  return kept != m_kept.end() ? kept->second.eager : computeEager(inputs, 0);
}

bool Reference::needsEager(std::size_t check) const {
  const InputClass which = m_admitted.at(check);
  const std::vector<OutputScale>& scales = this->scales(which);
  bool isNeeded = !isHard(which);
  for (std::size_t i = 0; i < scales.size() && !isNeeded; ++i) {
    isNeeded = !scales[i].isMeaningful || !domain::isFloating(m_graph.type(m_graph.outputs[i].value).dtype);
  }
  return isNeeded;
}

std::int64_t Reference::fingerprint(std::size_t check) const {
  std::vector<at::Tensor> all;
  const auto add = [&all](const Sealed& sealed) {
    if (sealed.isThere()) {
      all.push_back(sealed.bits());
    }
  };
  if (const auto kept = m_kept.find(check); kept != m_kept.end()) {
    std::for_each(kept->second.reference.begin(), kept->second.reference.end(), add);
    std::for_each(kept->second.eager.begin(), kept->second.eager.end(), add);
  }
  if (const Digests* left = digests(check)) {
    for (const Digests::Output& output : left->outputs) {
      add(output.reference);
      add(output.eager);
    }
  }
  return bitSum(all);
}

WipedTensors Reference::runEager(std::span<const at::Tensor> inputs) {
  return WipedTensors(m_eager.run(inputs, RunningStats::Reuse, Freed::AsTheyAre));
}

WipedTensors Reference::runFreshEager(std::span<const at::Tensor> inputs) {
  return WipedTensors(m_eager.run(inputs, RunningStats::Fresh, Freed::Wiped));
}

Reference::Expected Reference::compute(std::span<const at::Tensor> inputs, std::uint64_t maskKey) {
  Expected results;
  results.eager = computeEager(inputs, maskKey);
  results.reference = computeReference(inputs, maskKey);
  results.referenceL2.assign(results.reference.size(), 0.0);
  for (std::size_t i = 0; i < results.reference.size(); ++i) {
    TORCH_CHECK(results.reference[i].size() == results.eager[i].size(), "output ", i,
                " has another size in the reference");
  }
  return results;
}

std::vector<Sealed> Reference::computeEager(std::span<const at::Tensor> inputs, std::uint64_t maskKey) {
  std::vector<at::Tensor> eager = m_eager.run(inputs, RunningStats::Fresh, Freed::Wiped);
  for (std::size_t i = 0; i < eager.size(); ++i) {
    TORCH_CHECK(hasShapeAndType(eager[i], m_graph.type(m_graph.outputs[i].value)), "PyTorch computes output ", i,
                " in another shape or type than the task's graph declares");
  }
  return seal(std::move(eager), maskKey);
}

std::vector<Sealed> Reference::computeReference(std::span<const at::Tensor> inputs, std::uint64_t maskKey) {
  return seal(runWidened(inputs), maskKey);
}

std::vector<at::Tensor> Reference::runWidened(std::span<const at::Tensor> inputs) {
  std::vector<at::Tensor> widened;
  for (const at::Tensor& input : inputs) {
    widened.push_back(input.is_floating_point() ? input.to(m_options.type) : input);
  }
  return withoutTf32([&] { return m_reference.run(widened, RunningStats::Fresh, Freed::Wiped); });
}

}  // namespace swage::verify
