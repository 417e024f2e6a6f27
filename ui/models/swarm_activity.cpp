// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/swarm_activity.h"

#include <chrono>
#include <memory>

namespace swage::ui {
namespace {

using services::SwarmReport;

constexpr std::chrono::milliseconds kFrame{100};

}  // namespace

SwarmActivity::SwarmActivity(ProjectSession& session, services::RunService& run, services::SwarmService& swarm,
                             QObject* parent)
    : QObject(parent), m_session(session), m_run(run), m_swarm(swarm), m_report(std::make_shared<SwarmReport>()) {
  m_frame.setSingleShot(true);
  m_frame.setInterval(kFrame);
  connect(&m_frame, &QTimer::timeout, this, &SwarmActivity::changed);
  connect(&swarm, &services::SwarmService::changed, this, &SwarmActivity::take);
  connect(&m_answer, &QFutureWatcherBase::finished, this, [this] {
    if (m_answer.isCanceled() || m_answer.future().resultCount() == 0) {
      return;
    }
    if (const auto recorded = m_answer.result(); !recorded) {
      m_session.report(recorded.error());
    } else if (!isLive()) {
      m_report = *recorded;
      Q_EMIT changed();
    }
  });
  connect(&session, &ProjectSession::runShown, this, &SwarmActivity::clear);
  connect(&session, &ProjectSession::finished, this, [this] {
    ask();
    Q_EMIT changed();  // nobody can be told anything any more
  });
  ask();
}

bool SwarmActivity::isLive() const {
  return m_session.isActive() && m_run.currentRun() == m_session.shownRun();
}

void SwarmActivity::clear() {
  m_answer.cancel();
  m_answer.setFuture({});
  m_report = std::make_shared<SwarmReport>();
  Q_EMIT cleared();
  Q_EMIT changed();
  ask();
}

void SwarmActivity::ask() {
  if (m_session.hasRecord() && m_session.shownRun().isValid() && !isLive()) {
    m_answer.setFuture(m_swarm.recorded(m_session.project(), m_session.shownRun()));
  }
}

void SwarmActivity::take(const services::SwarmSnapshot& report) {
  if (!isLive()) {
    return;
  }
  m_report = report;
  if (!m_frame.isActive()) {
    m_frame.start();
  }
}

}  // namespace swage::ui
