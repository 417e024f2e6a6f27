// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_service_impl.h"

#include "core/base/assert.h"

namespace swage::engine {

RunServiceImpl::RunServiceImpl(run::SessionParts parts, QObject* parent)
    : services::RunService(parent), m_parts(std::move(parts)) {
  m_thread.setObjectName(QStringLiteral("engine"));
  m_thread.start();
}

RunServiceImpl::~RunServiceImpl() {
  if (m_session != nullptr) {
    m_session->disconnect(this);
    m_session->deleteLater();  // runs before the loop ends, and kills what the session started
  }
  m_thread.quit();
  m_thread.wait();
}

void RunServiceImpl::start(const services::RunSpec& spec) {
  SWAGE_ASSERT(m_session == nullptr);
  m_run = spec.resume.value_or(domain::RunId());
  m_session = new run::RunSession(m_parts);
  m_session->moveToThread(&m_thread);
  forward();
  QMetaObject::invokeMethod(m_session, [session = m_session, spec] { session->start(spec); });
}

void RunServiceImpl::forward() {
  connect(m_session, &run::RunSession::stateChanged, this, [this](services::RunState state) {
    m_state = state;
    Q_EMIT stateChanged(state);
  });
  connect(m_session, &run::RunSession::runCreated, this, [this](domain::RunId run) {
    m_run = run;
    Q_EMIT runCreated(run);
  });
  connect(m_session, &run::RunSession::progressed, this, &RunServiceImpl::progressed);
  connect(m_session, &run::RunSession::candidateEvaluated, this, &RunServiceImpl::candidateEvaluated);
  connect(m_session, &run::RunSession::archiveChanged, this, &RunServiceImpl::archiveChanged);
  connect(m_session, &run::RunSession::lanesChanged, this, &RunServiceImpl::lanesChanged);
  connect(m_session, &run::RunSession::proposersChanged, this, &RunServiceImpl::proposersChanged);
  connect(m_session, &run::RunSession::baselineMeasured, this, &RunServiceImpl::baselineMeasured);
  connect(m_session, &run::RunSession::noticed, this, &RunServiceImpl::noticed);
  connect(m_session, &run::RunSession::finished, this, [this](const services::RunOutcome& outcome) {
    m_session->deleteLater();
    m_session = nullptr;  // so that a handler of finished() may start the next run
    Q_EMIT finished(outcome);
  });
}

void RunServiceImpl::tellSession(void (run::RunSession::*what)()) {
  if (m_session != nullptr) {
    QMetaObject::invokeMethod(m_session, [session = m_session, what] { (session->*what)(); });
  }
}

void RunServiceImpl::pause() {
  tellSession(&run::RunSession::pause);
}

void RunServiceImpl::resume() {
  tellSession(&run::RunSession::resume);
}

void RunServiceImpl::stop() {
  tellSession(&run::RunSession::stop);
}

void RunServiceImpl::kill() {
  tellSession(&run::RunSession::kill);
}

}  // namespace swage::engine
