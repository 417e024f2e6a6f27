// SPDX-License-Identifier: Apache-2.0
#include "core/run/profile_job.h"

#include <QTimer>

#include <utility>

namespace swage::run {

ProfileJob::ProfileJob(const process::Programs& programs, std::filesystem::path project, domain::CandidateId candidate,
                       QObject* parent)
    : QObject(parent), m_programs(programs), m_project(std::move(project)), m_candidate(candidate) {}

void ProfileJob::start() {
  QTimer::singleShot(0, this, [this] {
    const Result<> prepared = m_cancelled ? Error(ErrorKind::Cancelled, "the profile was cancelled") : prepare();
    if (!prepared) {
      Q_EMIT finished(prepared.error());
      return;
    }
    connect(m_profiling.get(), &Profiling::stageChanged, this, &ProfileJob::stageChanged);
    connect(m_profiling.get(), &Profiling::finished, this, &ProfileJob::handleProfile);
    m_profiling->start();
  });
}

Result<> ProfileJob::prepare() {
  {
    // A project that is not there is not made.
    SWAGE_TRY_ASSIGN(const store::Record existing, store::Record::open(m_project, store::Record::Mode::ReadOnly));
    SWAGE_TRY(existing.candidate(m_candidate));
  }
  SWAGE_TRY_ASSIGN(m_record, store::Record::open(m_project, store::Record::Mode::ReadWrite));
  SWAGE_TRY_ASSIGN(trust::RecordedCandidate candidate, trust::readCandidate(*m_record, m_candidate));
  Profiling::Options options;
  options.worker = m_programs.workerCommand(candidate.device);
  options.stopGrace = m_programs.stopGrace;
  m_profiling = std::make_unique<Profiling>(std::move(options), std::move(candidate));
  return {};
}

void ProfileJob::handleProfile(const Result<domain::Profile>& profile) {
  if (profile) {
    if (const Result<> stored = m_record->setProfile(m_candidate, *profile); !stored) {
      m_record.reset();
      Q_EMIT finished(stored.error());
      return;
    }
  }
  m_record.reset();
  Q_EMIT finished(profile);
}

void ProfileJob::cancel() {
  m_cancelled = true;
  if (m_profiling) {
    m_profiling->cancel();
  }
}

}  // namespace swage::run
