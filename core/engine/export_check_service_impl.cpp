// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_check_service_impl.h"

#include <utility>

#include "core/base/assert.h"

namespace swage::engine {

ExportCheckServiceImpl::ExportCheckServiceImpl(process::Programs programs, QObject* parent)
    : services::ExportCheckService(parent), m_programs(std::move(programs)) {}

void ExportCheckServiceImpl::start(const std::filesystem::path& project, domain::CandidateId candidate) {
  using Check = ExportChecks::Check;
  SWAGE_ASSERT(!m_candidate.isValid());
  m_candidate = candidate;
  m_checks = std::make_unique<ExportChecks>(m_programs, project, candidate,
                                            std::vector{Check::FreshProcess, Check::Sanitizer, Check::HeldOutShapes},
                                            ExportChecks::Keeping::Must);
  connect(m_checks.get(), &ExportChecks::checkStarted, this, &ExportCheckServiceImpl::checkStarted);
  connect(m_checks.get(), &ExportChecks::checkEnded, this, &ExportCheckServiceImpl::checkEnded);
  connect(m_checks.get(), &ExportChecks::finished, this, [this](const Result<>& done) {
    // It is the one who speaks: it cannot go before it has returned.
    m_checks.release()->deleteLater();
    Q_EMIT finished(std::exchange(m_candidate, {}), done);
  });
  m_checks->start();
}

void ExportCheckServiceImpl::cancel() {
  if (m_checks) {
    m_checks->cancel();
  }
}

}  // namespace swage::engine
