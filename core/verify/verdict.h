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
// of inputs. Judging may throw c10::Error.
class Verdict {
  // One output of one check.
  struct Case {
    std::size_t output = 0;
    domain::TensorType type;
    at::Tensor actual;  // flat
    Sealed reference;
    Sealed eager;  // of nothing where only the reference judges
    double referenceL2 = 0.0;
    InputClass inputs = InputClass::Task;
    std::uint8_t poison = 0;
    std::optional<DistancesUnderWay> distances;  // where it is judged by them
  };

 public:
  explicit Verdict(const Reference& reference);

  // What is judged, and what the device has been asked about it.
  class Begun {
    friend class Verdict;
    std::vector<Case> m_cases;
    std::optional<domain::Wrong> m_misshapen;
  };
  // `poison` is what the buffers held before. Does not wait for the device.
  [[nodiscard]] Begun begin(std::span<const at::Tensor> outputs, const Reference::Expected& expected, InputClass inputs,
                            std::uint8_t poison, Answers& answers) const;
  // When the answers are there: the first output that breaks the contract (see contract.h), or no value.
  [[nodiscard]] std::optional<domain::Wrong> conclude(const Begun& begun, const Answers& answers);
  // Both, with the wait between them.
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
  [[nodiscard]] std::optional<domain::Wrong> checkShape(const at::Tensor& output, std::size_t index,
                                                        c10::Device device) const;
  [[nodiscard]] std::optional<domain::Wrong> judgeFloating(const Case& which, const Answers& answers);
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
