// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>

#include "core/services/swarm_service.h"
#include "ui/models/project_session.h"

namespace swage::ui {

// What the pairs of the shown run do, live or out of the record. Passes the engine's reports on at most once a frame,
// and only the newest. GUI thread only.
class SwarmActivity final : public QObject {
  Q_OBJECT

 public:
  // Both outlive this.
  SwarmActivity(ProjectSession& session, services::RunService& run, services::SwarmService& swarm,
                QObject* parent = nullptr);

  [[nodiscard]] const services::SwarmReport& report() const { return *m_report; }
  [[nodiscard]] bool isLive() const;  // the shown run is going on: pairs can be told something

 Q_SIGNALS:
  void changed();
  // Another run is shown: nothing of the one before is left.
  void cleared();

 private:
  void clear();
  void ask();
  void take(const services::SwarmSnapshot& report);

  ProjectSession& m_session;
  services::RunService& m_run;
  services::SwarmService& m_swarm;
  services::SwarmSnapshot m_report;  // never null
  QFutureWatcher<Result<services::SwarmSnapshot>> m_answer;
  QTimer m_frame;
};

}  // namespace swage::ui
