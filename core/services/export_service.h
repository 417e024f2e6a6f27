// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/domain/candidate.h"

namespace swage::services {

enum class ExportFormat : std::uint8_t { ModelNew };

class ExportService {
 public:
  virtual ~ExportService() = default;
  // Writes the candidate as a file the user owns. Refuses a candidate that is not verified.
  [[nodiscard]] virtual Result<> exportCandidate(domain::CandidateId candidate, ExportFormat format,
                                                 const std::filesystem::path& file) const = 0;
};

}  // namespace swage::services
