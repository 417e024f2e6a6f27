// SPDX-License-Identifier: Apache-2.0
#include "core/verify/verdict.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/verify/contract.h"
#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

// Whether the element still holds what the buffer was filled with before the run.
bool isPoison(const at::Tensor& flat, std::int64_t element, std::uint8_t poison) {
  std::uint64_t pattern = 0;
  std::memset(&pattern, poison, sizeof pattern);
  const at::Tensor bits = flatBits(flat.narrow(0, element, 1)).to(at::kLong);
  const auto width = static_cast<unsigned>(8 * flat.element_size());
  const std::uint64_t mask = ~std::uint64_t{0} >> (64U - width);
  return (static_cast<std::uint64_t>(bits.item<std::int64_t>()) & mask) == (pattern & mask);
}

// Denormals beside anything else are nothing, and everything else may be a bias.
Elements elementsOf(InputClass inputs) {
  switch (inputs) {
    case InputClass::Equal:
    case InputClass::Ties: return Elements::Alike;
    case InputClass::Denormal: return Elements::Flushed;
    default: return Elements::Varied;
  }
}

}  // namespace

Verdict::Verdict(const Reference& reference, Nearness nearness) : m_reference(reference), m_nearness(nearness) {
  for (std::size_t inputs = 0; inputs < kInputClasses; ++inputs) {
    const auto& scales = reference.scales(static_cast<InputClass>(inputs));
    std::vector<domain::OutputError>& errors = m_errors[inputs];
    errors.resize(scales.size());
    m_largestOfSums[inputs].resize(scales.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
      errors[i].output = static_cast<int>(i);
    }
  }
}

std::vector<domain::InputErrors> Verdict::byInputs() const {
  std::vector<domain::InputErrors> result;
  for (std::size_t inputs = 0; inputs < kInputClasses; ++inputs) {
    if (m_checks[inputs] == 0) {
      continue;
    }
    domain::InputErrors& found = result.emplace_back();
    found.inputs = name(static_cast<InputClass>(inputs));
    found.checks = m_checks[inputs];
    const auto which = static_cast<InputClass>(inputs);
    const std::vector<domain::OutputError> all = errors(which);
    std::copy_if(all.begin(), all.end(), std::back_inserter(found.errors), [&](const domain::OutputError& error) {
      return !isHard(which) || m_reference.scales(which)[static_cast<std::size_t>(error.output)].isMeaningful;
    });
  }
  return result;
}

Verdict::Begun Verdict::begin(std::span<const at::Tensor> outputs, const Reference::Expected& expected,
                              InputClass inputs, std::uint8_t poison, Answers& answers) const {
  Begun begun;
  for (std::size_t i = 0; i < outputs.size() && !begun.m_misshapen; ++i) {
    begun.m_misshapen = checkShape(outputs[i], i, expected.reference[i].device());
    if (begun.m_misshapen) {
      continue;
    }
    begun.m_cases.push_back(caseOf({i, inputs, poison}, outputs[i], expected.reference[i],
                                   expected.eager.empty() ? Sealed() : expected.eager[i], expected.referenceL2[i],
                                   answers));
  }
  return begun;
}

Verdict::Case Verdict::caseOf(const Question& question, const at::Tensor& output, const Sealed& reference,
                              const Sealed& eager, double referenceL2, Answers& answers) const {
  Case made{question.output,
            m_reference.graph().type(m_reference.graph().outputs[question.output].value),
            output.contiguous().view(-1),
            reference,
            eager,
            referenceL2,
            question.inputs,
            question.poison,
            std::nullopt};
  if (made.actual.is_floating_point() && !isHard(question.inputs)) {
    made.distances = DistancesUnderWay::begin(made.actual, made.reference, made.eager, answers);
  }
  return made;
}

std::optional<domain::Wrong> Verdict::conclude(const Begun& begun, const Answers& answers) {
  if (begun.m_misshapen) {
    return begun.m_misshapen;
  }
  for (const Case& which : begun.m_cases) {
    if (auto wrong = judge(which, answers)) {
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<domain::Wrong> Verdict::judge(const Case& which, const Answers& answers) {
  return which.actual.is_floating_point() ? judgeFloating(which, answers) : judgeInteger(which);
}

std::optional<domain::Wrong> Verdict::judge(std::span<const at::Tensor> outputs, const Reference::Expected& expected,
                                            InputClass inputs, std::uint8_t poison) {
  Answers answers;
  const Begun begun = begin(outputs, expected, inputs, poison, answers);
  answers.fetch();
  return conclude(begun, answers);
}

std::optional<domain::Wrong> Verdict::checkShape(const at::Tensor& output, std::size_t index,
                                                 c10::Device device) const {
  const domain::TensorType& type = m_reference.graph().type(m_reference.graph().outputs[index].value);
  if (hasShapeAndType(output, type) && output.device() == device) {
    return std::nullopt;
  }
  domain::Wrong wrong;
  wrong.output = static_cast<int>(index);
  wrong.rule = "shape";
  wrong.detail = fmt::format("the output is {}[{}], not {}[{}]", c10::toString(output.scalar_type()),
                             fmt::join(output.sizes(), ", "), domain::name(type.dtype), fmt::join(type.shape, ", "));
  wrong.errors = errors();
  return wrong;
}

std::optional<domain::Wrong> Verdict::judgeInteger(const Case& which) const {
  // Equal or nearly equal values make ties, and which of them an index names is nobody's promise.
  if (which.inputs == InputClass::Equal || which.inputs == InputClass::Denormal || which.inputs == InputClass::Offset ||
      which.inputs == InputClass::Negative || which.inputs == InputClass::Cancelling) {
    return std::nullopt;
  }
  // A boolean is one of two bytes; any other one would pass for true. Of exact ties it tells whether they count.
  const bool isBoolean = which.actual.scalar_type() == at::kBool;
  if (isSpecial(which.inputs) || (which.inputs == InputClass::Ties && !isBoolean)) {
    return std::nullopt;
  }
  const at::Tensor flat = isBoolean ? which.actual.view(at::kByte) : which.actual;
  const std::int64_t element = firstMismatch(flat, which.reference, which.eager);
  if (element < 0) {
    return std::nullopt;
  }
  return wrongAt(which, element, "error", "integers and booleans must be equal",
                 mismatch(flat, which.reference, which.eager));
}

// No limit follows from an eager that is itself lost, but where it is not NaN nobody else has to be, and what is NaN or
// infinity with PyTorch has to be seen; on a GPU that is not asked yet (isForCpusOnly).
std::optional<domain::Wrong> Verdict::judgeNotFinite(const Case& which) const {
  // Kernels pad products with zeros.
  const bool mayMakeNan = isSpecial(which.inputs) && m_reference.hasProducts();
  if (const std::int64_t nan = mayMakeNan ? -1 : firstNan(which.actual, which.reference, which.eager); nan >= 0) {
    return wrongAt(which, nan, "nan", "NaN where PyTorch and the reference have a number",
                   unexpectedNan(which.actual, which.reference, which.eager));
  }
  if (which.actual.is_cuda() || !m_reference.scales(which.inputs)[which.output].isSurelyNotFinite) {
    return std::nullopt;
  }
  const std::int64_t lost = firstNotArrived(which.actual, which.reference, which.eager, signsOf(which.inputs));
  if (lost < 0) {
    return std::nullopt;
  }
  return wrongAt(which, lost, "lost nan",
                 fmt::format("{:g} where PyTorch and the reference have {:g}", which.actual[lost].item<double>(),
                             which.eager.element(lost)),
                 notArrived(which.actual, which.reference, which.eager, signsOf(which.inputs)));
}

std::optional<domain::Wrong> Verdict::judgeFloating(const Case& which, const Answers& answers) {
  if (isHard(which.inputs) && !m_reference.scales(which.inputs)[which.output].isMeaningful) {
    return judgeNotFinite(which);
  }
  // KernelBench only ever sees the task's own inputs.
  if (!which.distances) {
    return judgeError(which, difference(which.actual, which.reference));
  }
  const Distances found = which.distances->read(answers);
  if (auto wrong = judgeError(which, found.fromReference)) {
    return wrong;
  }
  if (m_nearness == Nearness::EagerOrReference && isAsExactAsEager(which, found.fromReference)) {
    return std::nullopt;
  }
  // Nor does it see what a module keeps for itself. Running statistics behind many layers in TF32 differ by more with
  // every order of the same sums.
  if (m_reference.graph().outputs[which.output].kind == domain::OutputKind::BufferMutation) {
    return std::nullopt;
  }
  // Most candidates are far inside the absolute tolerance.
  const double tolerance = kernelBenchTolerance(which.type.dtype);
  const std::int64_t distant = found.fromEager <= tolerance ? -1 : firstNotClose(which.actual, which.eager, tolerance);
  if (distant < 0) {
    return std::nullopt;
  }
  domain::Wrong wrong = wrongAt(which, distant, "error",
                                fmt::format("differs from eager's {:g} by more than KernelBench's tolerance of {:g}",
                                            which.eager.element(distant), tolerance),
                                notClose(which.actual, which.eager, tolerance));
  // The reference's values may be close to the result: show eager's, which it was compared with.
  wrong.expected = which.eager.element(distant);
  for (domain::WrongElement& one : wrong.first) {
    one.expected = which.eager.element(one.element);
  }
  return wrong;
}

double Verdict::relativeTo(const Case& which, double l2) {
  return which.referenceL2 > 0.0 ? l2 / which.referenceL2 : l2;
}

std::optional<domain::Wrong> Verdict::judgeError(const Case& which, const Difference& found) {
  const double relative = relativeTo(which, found.l2);
  domain::OutputError& error = m_errors[static_cast<std::size_t>(which.inputs)][which.output];
  error.relativeL2 = std::max(error.relativeL2, relative);
  error.maxAbsolute = std::max(error.maxAbsolute, found.maxAbsolute);
  const ErrorLimit limit = limitOf(which.inputs, which.output);
  if (found.unexpectedNan < 0 && relative <= limit.relativeL2 && found.maxAbsolute <= limit.maxAbsolute) {
    return std::nullopt;
  }
  // Where all are a little off, and none by itself too much, those are told that make up most of it.
  const double tooFar = found.maxAbsolute > limit.maxAbsolute ? limit.maxAbsolute : found.maxAbsolute / 2.0;
  const Fault fault = furtherThan(tooFar, which.actual, which.reference);
  if (found.unexpectedNan >= 0) {
    return wrongAt(which, found.unexpectedNan, "nan", "NaN where the reference has a number", fault);
  }
  const std::string detail = fmt::format("relative L2 error {:.3g} (limit {:.3g}), largest error {:.3g} (limit {:.3g})",
                                         relative, limit.relativeL2, found.maxAbsolute, limit.maxAbsolute);
  return wrongAt(which, preciseDifference(which.actual, which.reference).worst, "error", detail, fault);
}

bool Verdict::isAsExactAsEager(const Case& which, const Difference& found) const {
  const Reference::OutputScale& eager = m_reference.scales(which.inputs)[which.output];
  return relativeTo(which, found.l2) <= eager.eagerRelativeL2 && found.maxAbsolute <= eager.eagerMaxAbsolute;
}

ErrorLimit Verdict::limitOf(InputClass inputs, std::size_t output) const {
  const auto& scale = m_reference.scales(inputs)[output];
  const domain::ScalarType dtype = m_reference.graph().type(m_reference.graph().outputs[output].value).dtype;
  const ErrorLimit limit = errorLimit(dtype, scale.eagerRelativeL2, scale.eagerMaxAbsolute, scale.referenceMax);
  if (!isHard(inputs) && scale.roundingRelativeL2 <= 0.0) {
    return limit;
  }
  return hardErrorLimit(limit, dtype, scale.roundingRelativeL2, scale.roundingMaxAbsolute, elementsOf(inputs));
}

domain::Wrong Verdict::wrongAt(const Case& which, std::int64_t element, std::string rule, std::string detail,
                               const Fault& fault) const {
  domain::Wrong wrong;
  wrong.output = static_cast<int>(which.output);
  wrong.element = element;
  wrong.rule = std::move(rule);
  wrong.detail = std::move(detail);
  wrong.errors = errors(which.inputs);
  if (element >= 0) {
    wrong.expected = which.reference.element(element);
    wrong.actual = which.actual[element].item<double>();
    if (isPoison(which.actual, element, which.poison)) {
      wrong.rule = "unwritten";
      wrong.detail = "no kernel wrote this element";
    }
  }
  for (const std::int64_t one : firstWith(fault, which.actual, domain::kMostWrongElements)) {
    wrong.first.push_back({.element = one,
                           .place = domain::placeOf(one, which.type.shape),
                           .expected = which.reference.element(one),
                           .actual = which.actual[one].item<double>()});
  }
  return wrong;
}

domain::AccuracyClass Verdict::accuracy() const {
  const domain::Graph& graph = m_reference.graph();
  auto worst = domain::AccuracyClass::Fp32;
  const std::vector<domain::OutputError>& errors = m_errors[static_cast<std::size_t>(InputClass::Task)];
  for (std::size_t i = 0; i < errors.size(); ++i) {
    worst = std::max(worst, accuracyClass(graph.type(graph.outputs[i].value).dtype, errors[i].relativeL2,
                                          m_reference.scales(InputClass::Task)[i].exactRelativeL2));
  }
  return worst;
}

}  // namespace swage::verify
