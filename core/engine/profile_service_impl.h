// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <memory>

#include "core/engine/record_service_impl.h"
#include "core/run/profile_job.h"
#include "core/services/profile_service.h"

namespace swage::engine {

// ProfileService over the record that `record` has open, which outlives it. Destroying it kills the worker of a
// profile in progress. One thread only; nothing here waits.
class ProfileServiceImpl final : public services::ProfileService {
  Q_OBJECT

 public:
  ProfileServiceImpl(process::Programs programs, const RecordServiceImpl& record, QObject* parent = nullptr);

  [[nodiscard]] Result<std::optional<services::ProfileReport>> report(domain::CandidateId candidate) const override;
  [[nodiscard]] Result<std::vector<services::ExportGate>> gates(domain::CandidateId candidate) const override;
  [[nodiscard]] Result<std::vector<std::string>> doubts(domain::RunId run) const override;
  [[nodiscard]] Result<bool> skippedSelfTest(domain::RunId run) const override;
  void start(const std::filesystem::path& project, domain::CandidateId candidate) override;
  void cancel() override;
  [[nodiscard]] domain::CandidateId profiling() const override { return m_candidate; }

 private:
  void handleProfile(const Result<domain::Profile>& profile);
  [[nodiscard]] Result<services::ProfileReport> storedReport(domain::CandidateId candidate) const;
  void tell();

  process::Programs m_programs;
  const RecordServiceImpl& m_record;
  std::unique_ptr<run::ProfileJob> m_job;
  domain::CandidateId m_candidate;
  services::ProfileProgress m_progress;
  QElapsedTimer m_clock;
  QTimer m_tick;
};

}  // namespace swage::engine
