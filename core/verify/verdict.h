// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/domain/evaluation.h"
#include "core/verify/compare.h"
#include "core/verify/reference.h"

namespace swage::verify {

// Holds a candidate's outputs against what was expected, check after check, and keeps the largest errors of each class
// of inputs. judge() may throw c10::Error.
class Verdict {
 public:
  explicit Verdict(const Reference& reference);

  // The first output that breaks the contract (see contract.h), or no value. `poison` is what the buffers held before.
  [[nodiscard]] std::optional<domain::Wrong> judge(std::span<const at::Tensor> outputs,
                                                   const Reference::Expected& expected, InputClass inputs,
                                                   std::uint8_t poison);

  // One more check with such inputs; a repetition is none.
  void count(InputClass inputs) { ++m_checks[static_cast<std::size_t>(inputs)]; }

  // The worst on the task's own inputs, one for each output.
  [[nodiscard]] const std::vector<domain::OutputError>& errors() const { return errors(InputClass::Task); }
  // Of every class that was checked. An output of which nothing can be said there (Reference::OutputScale) is missing.
  [[nodiscard]] std::vector<domain::InputErrors> byInputs() const;
  [[nodiscard]] domain::AccuracyClass accuracy() const;

 private:
  struct Case;
  [[nodiscard]] std::optional<domain::Wrong> checkShape(const at::Tensor& output, std::size_t index,
                                                        c10::Device device) const;
  [[nodiscard]] static std::vector<std::optional<Distances>> measure(const std::vector<Case>& cases);
  [[nodiscard]] std::optional<domain::Wrong> judgeFloating(const Case& which, const std::optional<Distances>& found);
  [[nodiscard]] domain::Wrong wrongAt(const Case& which, std::int64_t element, std::string rule,
                                      std::string detail) const;

  [[nodiscard]] std::optional<domain::Wrong> judgeInteger(const Case& which) const;
  [[nodiscard]] std::optional<domain::Wrong> judgeError(const Case& which, const Difference& found);
  [[nodiscard]] const std::vector<domain::OutputError>& errors(InputClass inputs) const {
    return m_errors[static_cast<std::size_t>(inputs)];
  }

  const Reference& m_reference;
  std::array<std::vector<domain::OutputError>, kInputClasses> m_errors;
  std::array<int, kInputClasses> m_checks{};
};

}  // namespace swage::verify
