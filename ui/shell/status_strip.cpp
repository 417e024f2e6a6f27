// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/status_strip.h"

#include <QStringList>

#include "ui/models/format.h"
#include "ui/models/profile_text.h"
#include "ui/widgets/elided_label.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using Kind = services::LaneStatus::Kind;

QString withDone(const QString& text, std::int64_t done) {
  return done > 0 ? QString(text % u", "_s % formatCount(done) % u" done"_s) : text;
}

// A worker each; the compilers, of which a machine may have a hundred, together.
QStringList laneTexts(const std::vector<services::LaneStatus>& lanes) {
  QStringList texts;
  int compilers = 0;
  int busy = 0;
  std::int64_t compiled = 0;
  for (const services::LaneStatus& lane : lanes) {
    if (lane.kind == Kind::Worker) {
      texts.push_back(withDone(toQString(lane.name) % u": "_s % toQString(lane.doing), lane.done));
      continue;
    }
    compilers += 1;
    busy += lane.isBusy ? 1 : 0;
    compiled += lane.done;
  }
  if (compilers > 0) {
    texts.push_back(withDone(
        u"compilers: "_s % QString::number(busy) % u" of "_s % QString::number(compilers) % u" busy"_s, compiled));
  }
  return texts;
}

}  // namespace

StatusStrip::StatusStrip(ProjectSession& session, const services::EditService* edits,
                         const services::ProfileService* profiles, QWidget* parent)
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
  connect(&session, &ProjectSession::lanesChanged, this, &StatusStrip::showWorkers);
  connect(&session, &ProjectSession::stateChanged, this, &StatusStrip::showWorkers);
  connect(&session, &ProjectSession::runShown, this, &StatusStrip::showRecord);
  if (edits != nullptr) {
    watch(*edits);
  }
  if (profiles != nullptr) {
    watch(*profiles);
  }
  showWorkers();
  showRecord();
}

void StatusStrip::watch(const services::EditService& edits) {
  connect(&edits, &services::EditService::stageChanged, this, [this](const std::string& stage) {
    m_edit = tr("evaluating an edit: %1").arg(toQString(stage));
    showWorkers();
  });
  connect(&edits, &services::EditService::finished, this, [this] {
    m_edit.clear();
    showWorkers();
  });
}

void StatusStrip::watch(const services::ProfileService& profiles) {
  connect(&profiles, &services::ProfileService::progressed, this, [this](const services::ProfileProgress& progress) {
    m_profile = tr("making a profile: %1").arg(stageName(progress.stage));
    showWorkers();
  });
  connect(&profiles, &services::ProfileService::finished, this, [this] {
    m_profile.clear();
    showWorkers();
  });
}

void StatusStrip::showWorkers() {
  QStringList texts = m_session.isActive() ? laneTexts(m_session.lanes()) : QStringList();
  for (const QString& text : {m_edit, m_profile}) {
    if (!text.isEmpty()) {
      texts.push_back(text);
    }
  }
  const bool isIdle = texts.isEmpty() && !m_session.isActive();
  m_workers->setFullText(isIdle ? tr("no search is running") : texts.join(u"   "_s));
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
