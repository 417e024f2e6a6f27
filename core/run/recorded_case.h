// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/judge/case_facts.h"
#include "core/models/prompt.h"
#include "core/store/record.h"

namespace swage::run {

// What the record knows of a candidate that has ended, for the judge and for prompts. Few have a profile: what is
// fastest gets one during the search or at its end, and anything by a person's wish.
struct RecordedCase {
  store::CandidateRecord candidate;
  std::optional<domain::Profile> profile;

  // No value: it has not ended, or cannot be read.
  [[nodiscard]] static std::optional<RecordedCase> read(const store::Record& record, domain::CandidateId id);
  // Borrows this, and the device.
  [[nodiscard]] judge::Case on(const domain::DeviceInfo& device, const stats::Roofline& task,
                               domain::ScalarType type) const;
};

// Of those that the plan launches, in their order.
[[nodiscard]] std::vector<models::KernelNumbers> kernelNumbers(const judge::Case& what);

}  // namespace swage::run
