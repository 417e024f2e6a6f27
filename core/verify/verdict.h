// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "core/domain/evaluation.h"
#include "core/verify/reference.h"

namespace swage::verify {

// Holds a candidate's outputs against what was expected, seed after seed, and keeps the largest errors.
// judge() may throw c10::Error.
class Verdict {
 public:
  explicit Verdict(const Reference& reference);

  // The first output that breaks the contract (see contract.h), or no value. `poison` is what the buffers held before.
  [[nodiscard]] std::optional<domain::Wrong> judge(std::span<const at::Tensor> outputs,
                                                   const Reference::Expected& expected, std::uint8_t poison);

  // The worst of all seeds, one for each output.
  [[nodiscard]] const std::vector<domain::OutputError>& errors() const { return m_errors; }
  [[nodiscard]] domain::AccuracyClass accuracy() const;

 private:
  struct Case;
  [[nodiscard]] std::optional<domain::Wrong> judgeOne(const Case& which);
  [[nodiscard]] std::optional<domain::Wrong> judgeFloating(const Case& which);
  [[nodiscard]] domain::Wrong wrongAt(const Case& which, std::int64_t element, std::string rule,
                                      std::string detail) const;

  const Reference& m_reference;
  std::vector<domain::OutputError> m_errors;
};

}  // namespace swage::verify
