// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/incidents.h"

#include <QWidget>

#include "ui/models/format.h"
#include "ui/shell/desktop_notifier.h"

namespace swage::ui {

Incidents::Incidents(Session& session, DesktopNotifier& notifier, QWidget& window)
    : QObject(&window), m_session(session), m_notifier(notifier), m_window(window) {
  connect(&session, &Session::finished, this, &Incidents::tellOutcome);
  connect(&session, &Session::noticed, this, &Incidents::tellNotice);
}

bool Incidents::isInFront() const {
  return m_window.isVisible() && m_window.isActiveWindow();
}

void Incidents::tellOutcome(const services::RunOutcome& outcome) {
  if (isInFront() || outcome.interrupted) {
    return;
  }
  const QString task = m_session.summary() ? toQString(m_session.summary()->taskName) : tr("The task");
  if (outcome.error) {
    if (outcome.error->kind() != ErrorKind::Cancelled) {
      m_notifier.notify(DesktopNotifier::Kind::Failed, tr("The search over %1 failed").arg(task),
                        toQString(outcome.error->message()));
    }
    return;
  }
  m_notifier.notify(DesktopNotifier::Kind::Finished, tr("The search over %1 has ended").arg(task),
                    outcome.best.isValid()
                        ? tr("Best: %1, candidate %2").arg(formatSpeedup(outcome.bestSpeedup)).arg(outcome.best.value())
                        : tr("No correct kernel was found."));
}

void Incidents::tellNotice(const services::Notice& notice) {
  if (notice.subject == services::Notice::Subject::GpuLost && !isInFront()) {
    m_notifier.notify(DesktopNotifier::Kind::GpuLost, tr("A GPU is lost"), toQString(notice.text));
  }
}

}  // namespace swage::ui
