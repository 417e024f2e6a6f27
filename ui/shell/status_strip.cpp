// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/status_strip.h"

#include <QStringList>

#include "ui/models/format.h"
#include "ui/widgets/elided_label.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString workerText(const services::WorkerStatus& worker) {
  QString text = toQString(worker.name) % u": "_s % toQString(worker.state);
  if (worker.total > 1) {
    text += u" "_s % QString::number(worker.busy) % u"/"_s % QString::number(worker.total);
  }
  if (worker.done > 0) {
    text += u", "_s % formatCount(worker.done) % u" done"_s;
  }
  return text;
}

}  // namespace

StatusStrip::StatusStrip(Session& session, QWidget* parent)
    : QStatusBar(parent),
      m_session(session),
      m_device(new ElidedLabel(Qt::ElideRight)),
      m_workers(new ElidedLabel(Qt::ElideRight)),
      m_record(new ElidedLabel(Qt::ElideMiddle)) {
  setObjectName(u"statusStrip"_s);
  m_device->setObjectName(u"deviceStatus"_s);
  m_workers->setObjectName(u"workerStatus"_s);
  m_record->setObjectName(u"recordStatus"_s);
  for (ElidedLabel* label : {m_device, m_workers, m_record}) {
    label->setContentsMargins(8, 0, 8, 0);
  }
  m_record->setForegroundRole(QPalette::PlaceholderText);
  m_record->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  setSizeGripEnabled(false);
  addWidget(m_device, 2);
  addWidget(m_workers, 3);
  addPermanentWidget(m_record, 3);
  connect(&session, &Session::workersChanged, this, &StatusStrip::showWorkers);
  connect(&session, &Session::stateChanged, this, &StatusStrip::showWorkers);
  connect(&session, &Session::runShown, this, &StatusStrip::showRecord);
  showWorkers();
  showRecord();
}

void StatusStrip::showWorkers() {
  QStringList parts;
  for (const services::WorkerStatus& worker : m_session.workers()) {
    parts.push_back(workerText(worker));
  }
  if (!m_session.isActive()) {
    parts = {tr("no workers are running")};
  }
  m_workers->setFullText(parts.join(u"   "_s));
}

void StatusStrip::showRecord() {
  const auto& summary = m_session.summary();
  m_device->setFullText(summary
                            ? QString(toQString(summary->deviceName) % u" ("_s % toQString(summary->target) % u")"_s)
                            : tr("no run is shown"));
  const std::filesystem::path& project = m_session.project();
  m_record->setFullText(project.empty() ? tr("no project")
                                        : tr("record: %1").arg(toQString((project / "runs.sqlite").string())));
}

}  // namespace swage::ui
