// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/engine/export_checks.h"
#include "core/services/export_check_service.h"

namespace swage::engine {

// ExportCheckService by all the checks of ExportChecks. Destroying it kills what it started. One thread only.
class ExportCheckServiceImpl final : public services::ExportCheckService {
  Q_OBJECT

 public:
  explicit ExportCheckServiceImpl(process::Programs programs, QObject* parent = nullptr);

  void start(const std::filesystem::path& project, domain::CandidateId candidate) override;
  void cancel() override;
  [[nodiscard]] domain::CandidateId checking() const override { return m_candidate; }

 private:
  process::Programs m_programs;
  domain::CandidateId m_candidate;
  std::unique_ptr<ExportChecks> m_checks;
};

}  // namespace swage::engine
