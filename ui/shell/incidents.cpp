// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/incidents.h"

#include <QLocale>
#include <QWidget>

#include <system_error>
#include <utility>

#include "core/base/log.h"

#include "ui/models/format.h"
#include "ui/models/run_words.h"
#include "ui/shell/desktop_notifier.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::Notice;
using Severity = Notice::Severity;
using Subject = Notice::Subject;

// What an engine said of its own stays readable under what it means.
std::string joined(const QString& meaning, const std::string& detail) {
  return (detail.empty() ? meaning : QString(meaning % u'\n' % toQString(detail))).toStdString();
}

}  // namespace

Incidents::Incidents(ProjectSession& session, DesktopNotifier& notifier, NoticeBanner& banner, WaysOut waysOut,
                     QWidget& window)
    : QObject(&window),
      m_session(session),
      m_notifier(notifier),
      m_banner(banner),
      m_waysOut(std::move(waysOut)),
      m_window(window) {
  connect(&session, &ProjectSession::noticed, this, &Incidents::show);
  connect(&session, &ProjectSession::finished, this, &Incidents::tellOutcome);
  connect(&session, &ProjectSession::noticed, this, &Incidents::tellNotice);
}

void Incidents::show(const Notice& notice) {
  if (notice.subject != Subject::Other) {
    log::warn("{}", notice.text);
  }
  m_banner.showNotice(explained(notice), actionsFor(notice));
}

QString Incidents::projectPlace() const {
  const std::filesystem::path& project = m_session.project();
  std::error_code failure;
  const std::filesystem::space_info space = std::filesystem::space(project, failure);
  const QString place = toQString(project.string());
  return failure ? place
                 : tr("%1 (%2 free)").arg(place, QLocale::c().formattedDataSize(static_cast<qint64>(space.available)));
}

// The engine says what it saw; what that means for the search in this window is said here. Warnings leave the search
// going, and their words say so already.
Notice Incidents::explained(const Notice& notice) const {
  if (notice.severity != Severity::Error) {
    return notice;
  }
  Notice said = notice;
  const auto say = [&said, &notice](const QString& what, const QString& meaning) {
    said.text = what.toStdString();
    said.hint = joined(meaning, notice.text);
  };
  switch (notice.subject) {
    case Subject::DiskFull:
      say(tr("The disk is full, and the search has stopped."),
          tr("Everything recorded until then is intact. Free some space for %1, then resume; or go on in a project on "
             "another disk.")
              .arg(projectPlace()));
      break;
    case Subject::RecordLocked:
      say(tr("Another program holds the record, and the search has stopped."),
          tr("Everything recorded until then is intact. Close the program that uses %1, then resume.")
              .arg(toQString((m_session.project() / "runs.sqlite").string())));
      break;
    case Subject::GpuLost:
      say(tr("The GPU is lost, and the search has stopped."),
          tr("Everything recorded until then is intact; what was being evaluated counts as not evaluated. Bring the "
             "device "
             "back (nvidia-smi and the kernel's log say what happened), then resume."));
      break;
    case Subject::WorkerKilled:
      say(tr("The worker cannot be kept running, and the search has stopped."),
          tr("Everything recorded until then is intact. See what the system check says, then resume."));
      break;
    case Subject::Other: break;
  }
  return said;
}

std::vector<NoticeAction> Incidents::actionsFor(const Notice& notice) const {
  std::vector<NoticeAction> actions;
  if (notice.subject == Subject::Other) {
    return actions;
  }
  if (notice.severity == Severity::Error && m_session.canResumeRecorded()) {
    actions.push_back({tr("Resume"), m_waysOut.resume});
  }
  if (notice.subject == Subject::DiskFull || notice.subject == Subject::RecordLocked) {
    if (notice.severity == Severity::Error) {
      actions.push_back({tr("Other Project…"), m_waysOut.chooseProject});
    }
  } else if (m_waysOut.openDoctor) {
    actions.push_back({tr("System Check"), m_waysOut.openDoctor});
  }
  return actions;
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
  m_notifier.notify(DesktopNotifier::Kind::Finished, tr("The search over %1 has ended").arg(task), foundText(outcome));
}

QString Incidents::foundText(const services::RunOutcome& outcome) const {
  const QString best =
      outcome.best.isValid()
          ? tr("Best: %1, candidate %2").arg(formatSpeedupInterval(outcome.bestSpeedup)).arg(outcome.best.value())
          : tr("No correct kernel was found.");
  const auto& run = m_session.summary();
  const QString pytorch = run && run->id == outcome.run ? pytorchWinsText(*run) : QString();
  return pytorch.isEmpty() || !outcome.best.isValid() ? best : tr("%1; %2").arg(best, pytorch);
}

void Incidents::tellNotice(const services::Notice& notice) {
  if (notice.subject == services::Notice::Subject::GpuLost && !isInFront()) {
    m_notifier.notify(DesktopNotifier::Kind::GpuLost, tr("A GPU is lost"), toQString(notice.text));
  }
}

}  // namespace swage::ui
