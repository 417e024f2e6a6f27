// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/services/profile_service.h"

namespace swage::workbench {

// What a recording says of its candidates; a recording makes no new profiles. `source` outlives this.
class ReplayProfiles final : public services::ProfileService {
  Q_OBJECT

 public:
  explicit ReplayProfiles(const services::ProfileService& source, QObject* parent = nullptr)
      : ProfileService(parent), m_source(source) {}

  [[nodiscard]] Result<std::optional<services::ProfileReport>> report(domain::CandidateId candidate) const override {
    return m_source.report(candidate);
  }
  [[nodiscard]] Result<std::vector<services::ExportGate>> gates(domain::CandidateId candidate) const override {
    return m_source.gates(candidate);
  }
  [[nodiscard]] Result<std::vector<std::string>> doubts(domain::RunId run) const override {
    return m_source.doubts(run);
  }
  [[nodiscard]] Result<bool> skippedSelfTest(domain::RunId run) const override { return m_source.skippedSelfTest(run); }
  void start(const std::filesystem::path& project, domain::CandidateId candidate) override;
  void cancel() override {}
  [[nodiscard]] domain::CandidateId profiling() const override { return {}; }

 private:
  const services::ProfileService& m_source;
};

}  // namespace swage::workbench
