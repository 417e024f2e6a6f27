// SPDX-License-Identifier: Apache-2.0
#include "core/verify/verdict.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/verify/compare.h"
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

}  // namespace

// One output of one seed.
struct Verdict::Case {
  std::size_t output = 0;
  domain::TensorType type;
  at::Tensor actual;  // flat
  const Sealed& reference;
  const Sealed& eager;
  double referenceL2 = 0.0;
  std::uint8_t poison = 0;
};

Verdict::Verdict(const Reference& reference) : m_reference(reference), m_errors(reference.scales().size()) {
  for (std::size_t i = 0; i < m_errors.size(); ++i) {
    m_errors[i].output = static_cast<int>(i);
    m_errors[i].eagerRelativeL2 = reference.scales()[i].eagerRelativeL2;
    m_errors[i].eagerMaxAbsolute = reference.scales()[i].eagerMaxAbsolute;
  }
}

std::optional<domain::Wrong> Verdict::judge(std::span<const at::Tensor> outputs, const Reference::Expected& expected,
                                            std::uint8_t poison) {
  const domain::Graph& graph = m_reference.graph();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const domain::TensorType& type = graph.type(graph.outputs[i].value);
    if (!hasShapeAndType(outputs[i], type) || outputs[i].device() != expected.eager[i].device()) {
      domain::Wrong wrong;
      wrong.output = static_cast<int>(i);
      wrong.rule = "shape";
      wrong.detail =
          fmt::format("the output is {}[{}], not {}[{}]", c10::toString(outputs[i].scalar_type()),
                      fmt::join(outputs[i].sizes(), ", "), domain::name(type.dtype), fmt::join(type.shape, ", "));
      wrong.errors = m_errors;
      return wrong;
    }
    Case which{i,
               type,
               outputs[i].contiguous().view(-1),
               expected.reference[i],
               expected.eager[i],
               expected.referenceL2[i],
               poison};
    if (auto wrong = judgeOne(which)) {
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<domain::Wrong> Verdict::judgeOne(const Case& which) {
  if (which.actual.is_floating_point()) {
    return judgeFloating(which);
  }
  // A boolean is one of two bytes; any other one would pass for true.
  const bool isBoolean = which.actual.scalar_type() == at::kBool;
  const std::int64_t element =
      firstMismatch(isBoolean ? which.actual.view(at::kByte) : which.actual, which.reference, which.eager);
  if (element < 0) {
    return std::nullopt;
  }
  return wrongAt(which, element, "error", "integers and booleans must be equal");
}

std::optional<domain::Wrong> Verdict::judgeFloating(const Case& which) {
  const auto& scale = m_reference.scales()[which.output];
  const Difference found = difference(which.actual, which.reference);
  const double relative = which.referenceL2 > 0.0 ? found.l2 / which.referenceL2 : found.l2;
  domain::OutputError& error = m_errors[which.output];
  error.relativeL2 = std::max(error.relativeL2, relative);
  error.maxAbsolute = std::max(error.maxAbsolute, found.maxAbsolute);
  if (found.unexpectedNan >= 0) {
    return wrongAt(which, found.unexpectedNan, "nan", "NaN where the reference has a number");
  }
  const ErrorLimit limit =
      errorLimit(which.type.dtype, scale.eagerRelativeL2, scale.eagerMaxAbsolute, scale.referenceMax);
  if (!(relative <= limit.relativeL2) || !(found.maxAbsolute <= limit.maxAbsolute)) {
    const std::string detail =
        fmt::format("relative L2 error {:.3g} (limit {:.3g}), largest error {:.3g} (limit {:.3g})", relative,
                    limit.relativeL2, found.maxAbsolute, limit.maxAbsolute);
    return wrongAt(which, preciseDifference(which.actual, which.reference).worst, "error", detail);
  }
  const double tolerance = kernelBenchTolerance(which.type.dtype);
  const std::int64_t distant = firstNotClose(which.actual, which.eager, tolerance);
  if (distant < 0) {
    return std::nullopt;
  }
  return wrongAt(which, distant, "error",
                 fmt::format("not within KernelBench's tolerance of {:g} of eager's {:g}", tolerance,
                             which.eager.element(distant)));
}

domain::Wrong Verdict::wrongAt(const Case& which, std::int64_t element, std::string rule, std::string detail) const {
  domain::Wrong wrong;
  wrong.output = static_cast<int>(which.output);
  wrong.element = element;
  wrong.rule = std::move(rule);
  wrong.detail = std::move(detail);
  wrong.errors = m_errors;
  if (element >= 0) {
    wrong.expected = which.reference.element(element);
    wrong.actual = which.actual[element].item<double>();
    if (isPoison(which.actual, element, which.poison)) {
      wrong.rule = "unwritten";
      wrong.detail = "no kernel wrote this element";
    }
  }
  return wrong;
}

domain::AccuracyClass Verdict::accuracy() const {
  const domain::Graph& graph = m_reference.graph();
  auto worst = domain::AccuracyClass::Fp32;
  for (std::size_t i = 0; i < m_errors.size(); ++i) {
    worst = std::max(worst, accuracyClass(graph.type(graph.outputs[i].value).dtype, m_errors[i].relativeL2,
                                          m_reference.scales()[i].exactRelativeL2));
  }
  return worst;
}

}  // namespace swage::verify
