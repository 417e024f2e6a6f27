// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/services/export_service.h"
#include "core/store/record.h"

namespace swage::engine {

// Exports from a project's record and the bundles its runs name. Opens both for each call, read-only.
class ExportServiceImpl final : public services::ExportService {
 public:
  explicit ExportServiceImpl(std::filesystem::path project) : m_project(std::move(project)) {}

  [[nodiscard]] Result<> exportCandidate(domain::CandidateId candidate, services::ExportFormat format,
                                         const std::filesystem::path& file) const override;

 private:
  std::filesystem::path m_project;
};

}  // namespace swage::engine
