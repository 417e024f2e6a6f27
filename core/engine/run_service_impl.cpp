// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_service_impl.h"

#include <QPromise>
#include <QTimer>

#include <iterator>
#include <memory>

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
  services::RunSpec wanted = spec;
  run::SessionParts parts = m_parts;
  if (m_enlist) {
    Result<std::vector<run::ProposerFactory>> more = m_enlist(wanted);
    if (!more) {
      failToStart(more.error());
      return;
    }
    std::move(more->begin(), more->end(), std::back_inserter(parts.proposers));
  }
  m_session = new run::RunSession(std::move(parts));
  m_session->moveToThread(&m_thread);
  forward();
  QMetaObject::invokeMethod(m_session, [session = m_session, wanted] { session->start(wanted); });
}

// As a session that cannot begin ends.
void RunServiceImpl::failToStart(const Error& error) {
  services::RunOutcome outcome;
  outcome.state = services::RunState::Failed;
  outcome.error = error;
  QTimer::singleShot(0, this, [this, outcome] {
    m_state = outcome.state;
    Q_EMIT stateChanged(m_state);
    Q_EMIT finished(outcome);
  });
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
  connect(m_session, &run::RunSession::pairsChanged, this, &RunServiceImpl::pairsChanged);
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

template <class T, class Ask>
QFuture<Result<T>> RunServiceImpl::askSession(Ask ask) {
  if (m_session == nullptr) {
    return QtFuture::makeReadyFuture(Result<T>(Error(ErrorKind::InvalidInput, "no search is running")));
  }
  auto promise = std::make_shared<QPromise<Result<T>>>();
  promise->start();
  QFuture<Result<T>> future = promise->future();
  QMetaObject::invokeMethod(m_session, [session = m_session, promise, ask = std::move(ask)] {
    promise->addResult(ask(*session));
    promise->finish();
  });
  return future;
}

QFuture<Result<>> RunServiceImpl::follow(const services::PairOrder& order) {
  return askSession<void>([order](run::RunSession& session) { return session.follow(order); });
}

QFuture<Result<services::ReplyCheck>> RunServiceImpl::checkReply(const std::string& text) {
  return askSession<services::ReplyCheck>([text](run::RunSession& session) { return session.checkReply(text); });
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
