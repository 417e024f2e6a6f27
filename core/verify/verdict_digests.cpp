// SPDX-License-Identifier: Apache-2.0
// The part of Verdict that looks at sums of outputs only.
#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/verify/digest.h"
#include "core/verify/tensors.h"
#include "core/verify/verdict.h"

namespace swage::verify {
namespace {

// The sums give the L2 error to a few percent: what is nearer to its limit is looked at in full.
constexpr double kSurely = 0.85;
// Of its standard deviation: no sum of ordinary errors is so far off, of however many.
constexpr double kRandomly = 8.0;

}  // namespace

Verdict::BegunDigests Verdict::begin(std::span<const at::Tensor> outputs, const Reference::Digests& expected,
                                     InputClass inputs, std::uint8_t poison, Answers& answers) const {
  BegunDigests begun;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Reference::Digests::Output& output = expected.outputs[i];
    if (checkShape(outputs[i], i, output.reference.device())) {
      begun.m_isMisshapen = true;
      return begun;
    }
    const Question question{i, inputs, poison};
    if (output.isWhole) {
      begun.m_whole.push_back(
          caseOf(question, outputs[i], output.reference, output.eager, expected.referenceL2[i], answers));
    } else {
      begun.m_sums.push_back(sumsOf(question, outputs[i], expected, answers));
    }
  }
  return begun;
}

Verdict::Sums Verdict::sumsOf(const Question& question, const at::Tensor& output, const Reference::Digests& expected,
                              Answers& answers) const {
  const Reference::Digests::Output& known = expected.outputs[question.output];
  const at::Tensor flat = output.contiguous().view(-1);
  const at::Tensor sums = m_reference.digester().sumsOf(flat.scalar_type() == at::kBool ? flat.view(at::kByte) : flat);
  const Wiped reference = known.reference.chunk(0, known.reference.size());
  Sums begun{question.output,
             question.inputs,
             flat.numel(),
             flat.is_floating_point(),
             expected.referenceL2[question.output],
             {},
             {},
             {}};
  if (begun.isFloating) {
    const Wiped differences(sums.sub(*reference));
    begun.l2 = answers.add({at::linalg_vector_norm(*differences, 2)});
    begun.maximum = answers.add({at::linalg_vector_norm(*differences, std::numeric_limits<double>::infinity())});
  } else {
    const Wiped eager = known.eager.chunk(0, known.eager.size());
    begun.differs = answers.add({sums.ne(*reference).logical_and(sums.ne(*eager)).any()});
  }
  return begun;
}

bool Verdict::passes(const BegunDigests& begun, const Answers& answers) {
  return !begun.m_isMisshapen && std::all_of(begun.m_sums.begin(), begun.m_sums.end(), [&](const Sums& which) {
    return passes(which, answers);
  }) && std::none_of(begun.m_whole.begin(), begun.m_whole.end(), [&](const Case& which) {
    return judge(which, answers).has_value();
  });
}

bool Verdict::passes(const Sums& which, const Answers& answers) {
  if (!which.isFloating) {
    return answers.firstSetOf(which.differs) < 0;
  }
  const double l2 = answers.numbersOf(which.l2).front();
  const double maximum = answers.numbersOf(which.maximum).front();
  // With an infinity or NaN anywhere there is nothing to compare.
  if (!std::isfinite(l2) || !std::isfinite(maximum)) {
    return false;
  }
  if (isHard(which.inputs) && !m_reference.scales(which.inputs)[which.output].isMeaningful) {
    return true;  // no limit follows, and there is no NaN
  }
  const double run = static_cast<double>(Digester::runLength(which.elements));
  const double ordinary = kRandomly * l2 * std::sqrt(run / static_cast<double>(which.elements));
  const double relative = which.referenceL2 > 0.0 ? l2 / which.referenceL2 : l2;
  const ErrorLimit limit = limitOf(which.inputs, which.output);
  if (relative > kSurely * limit.relativeL2 || maximum > limit.maxAbsolute + ordinary) {
    return false;
  }
  const auto inputs = static_cast<std::size_t>(which.inputs);
  domain::OutputError& error = m_errors[inputs][which.output];
  error.relativeL2 = std::max(error.relativeL2, relative);
  double& largest = m_largestOfSums[inputs][which.output];
  largest = std::max(largest, maximum);
  return true;
}

// Checks may have been admitted since this was made.
std::vector<domain::OutputError> Verdict::errors(InputClass inputs) const {
  std::vector<domain::OutputError> errors = m_errors[static_cast<std::size_t>(inputs)];
  const std::vector<Reference::OutputScale>& scales = m_reference.scales(inputs);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i].eagerRelativeL2 = scales[i].eagerRelativeL2;
    errors[i].eagerMaxAbsolute = scales[i].eagerMaxAbsolute;
    if (errors[i].maxAbsolute == 0.0) {
      errors[i].maxAbsolute = m_largestOfSums[static_cast<std::size_t>(inputs)][i];
    }
  }
  return errors;
}

}  // namespace swage::verify
