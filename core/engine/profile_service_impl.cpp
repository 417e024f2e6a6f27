// SPDX-License-Identifier: Apache-2.0
#include "core/engine/profile_service_impl.h"

#include <chrono>
#include <utility>

#include "core/base/assert.h"

namespace swage::engine {
namespace {

using std::chrono_literals::operator""ms;

}  // namespace

ProfileServiceImpl::ProfileServiceImpl(process::Programs programs, const RecordServiceImpl& record, QObject* parent)
    : services::ProfileService(parent), m_programs(std::move(programs)), m_record(record) {
  m_tick.setInterval(500ms);
  connect(&m_tick, &QTimer::timeout, this, &ProfileServiceImpl::tell);
}

Result<std::optional<services::ProfileReport>> ProfileServiceImpl::report(domain::CandidateId candidate) const {
  return m_record.profileReport(candidate);
}

Result<std::vector<services::ExportGate>> ProfileServiceImpl::gates(domain::CandidateId candidate) const {
  return m_record.gates(candidate);
}

Result<std::vector<std::string>> ProfileServiceImpl::doubts(domain::RunId run) const {
  return m_record.doubts(run);
}

Result<bool> ProfileServiceImpl::skippedSelfTest(domain::RunId run) const {
  return m_record.skippedSelfTest(run);
}

void ProfileServiceImpl::start(const std::filesystem::path& project, domain::CandidateId candidate) {
  SWAGE_ASSERT(!m_candidate.isValid());
  m_candidate = candidate;
  m_progress = {};
  m_clock.start();
  m_tick.start();
  m_job = std::make_unique<run::ProfileJob>(m_programs, project, candidate);
  connect(m_job.get(), &run::ProfileJob::stageChanged, this, [this](services::ProfileProgress::Stage stage) {
    m_progress.stage = stage;
    tell();
  });
  connect(m_job.get(), &run::ProfileJob::finished, this, &ProfileServiceImpl::handleProfile);
  m_job->start();
}

void ProfileServiceImpl::cancel() {
  if (m_job) {
    m_job->cancel();
  }
}

void ProfileServiceImpl::tell() {
  m_progress.elapsedSeconds = static_cast<double>(m_clock.elapsed()) / 1e3;
  Q_EMIT progressed(m_progress);
}

void ProfileServiceImpl::handleProfile(const Result<domain::Profile>& profile) {
  const domain::CandidateId candidate = std::exchange(m_candidate, {});
  m_tick.stop();
  // It is the one who speaks: it cannot go before it has returned.
  m_job.release()->deleteLater();
  Q_EMIT finished(candidate, profile ? storedReport(candidate) : Result<services::ProfileReport>(profile.error()));
}

Result<services::ProfileReport> ProfileServiceImpl::storedReport(domain::CandidateId candidate) const {
  SWAGE_TRY_ASSIGN(std::optional<services::ProfileReport> report, m_record.profileReport(candidate));
  if (!report) {
    return Error(ErrorKind::NotFound, "the open project does not have the candidate that was profiled",
                 "open its project again");
  }
  return std::move(*report);
}

}  // namespace swage::engine
