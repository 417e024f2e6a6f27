// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profile_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/profile_text.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/flow_layout.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ProfileBar::ProfileBar(ProjectSession& session, services::ProfileService& profiles, PinnedBaseline& pinned,
                       QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_profiles(profiles),
      m_pinned(pinned),
      m_pins(new QComboBox),
      m_pin(new QToolButton),
      m_profile(new QPushButton),
      m_stage(new ElidedLabel),
      m_progress(new QProgressBar),
      m_cancel(new QPushButton(tr("Cancel"))) {
  makeControls();
  connect(&pinned, &PinnedBaseline::changed, this, &ProfileBar::fillPins);
  connect(m_pins, &QComboBox::activated, this, [this](int index) {
    const auto choices = m_pinned.choices();
    if (index >= 0 && static_cast<std::size_t>(index) < choices.size()) {
      m_pinned.pin(choices[static_cast<std::size_t>(index)].pin);
    }
  });
  connect(m_pin, &QToolButton::clicked, this, &ProfileBar::pinCandidate);
  connect(m_profile, &QPushButton::clicked, this, &ProfileBar::profile);
  connect(m_cancel, &QPushButton::clicked, this, [this] {
    m_cancelled = true;
    m_profiles.cancel();
    updateControls();
  });
  connect(&profiles, &services::ProfileService::progressed, this, &ProfileBar::showProgress);
  connect(&profiles, &services::ProfileService::finished, this, &ProfileBar::handleFinished);
  connect(&session, &ProjectSession::selectionChanged, this, &ProfileBar::updateControls);
  connect(&session, &ProjectSession::stateChanged, this, &ProfileBar::updateControls);
  fillPins();
  updateControls();
}

void ProfileBar::makeControls() {
  m_pins->setObjectName(u"pinPicker"_s);
  m_pins->setAccessibleName(tr("Baseline"));
  m_pins->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_pin->setObjectName(u"pinButton"_s);
  m_pin->setText(tr("Use as Baseline"));
  m_pin->setToolTip(tr("Show the deltas of other candidates against this one"));
  m_profile->setObjectName(u"profileButton"_s);
  m_stage->setObjectName(u"profileStage"_s);
  m_progress->setObjectName(u"profileProgress"_s);
  m_progress->setRange(0, 0);
  m_progress->setTextVisible(false);
  m_progress->setMaximumWidth(fontMetrics().averageCharWidth() * 16);
  m_progress->setFixedHeight(fontMetrics().height() * 2 / 3);
  m_progress->setAccessibleName(tr("Profile in progress"));
  m_cancel->setObjectName(u"profileCancel"_s);
  auto* label = new QLabel(tr("Baseline"));
  label->setBuddy(m_pins);
  auto* row = new FlowLayout;
  row->addPair(label, m_pins);
  row->addWidget(m_pin);
  row->addWidget(m_profile);
  auto* progress = new QHBoxLayout;
  progress->addWidget(m_stage, 1);
  progress->addWidget(m_progress);
  progress->addWidget(m_cancel);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addLayout(progress);
}

void ProfileBar::fillPins() {
  const QSignalBlocker blocker(m_pins);
  m_pins->clear();
  for (const PinnedBaseline::Choice& choice : m_pinned.choices()) {
    m_pins->addItem(choice.name);
    if (choice.pin == m_pinned.pinned()) {
      m_pins->setCurrentIndex(m_pins->count() - 1);
    }
  }
  updateControls();
}

QString ProfileBar::whyNot() const {
  const auto& detail = m_session.detail();
  if (!detail) {
    return tr("Choose a candidate first");
  }
  if (const QString reason = whyNoProfile(*detail); !reason.isEmpty()) {
    return reason;
  }
  return m_session.isActive() ? tr("A search is measuring on the device; stop it first") : QString();
}

void ProfileBar::updateControls() {
  const bool isRunning = m_profiles.profiling().isValid();
  const QString reason = whyNot();
  m_pin->setEnabled(m_session.detail() && m_session.detail()->row.timeNs > 0.0);
  m_profile->setEnabled(reason.isEmpty() && !isRunning);
  m_profile->setText(tr("Profile"));
  m_profile->setToolTip(reason.isEmpty() ? tr("Run this candidate under the profiler and store the result") : reason);
  m_stage->setVisible(isRunning);
  m_progress->setVisible(isRunning);
  m_cancel->setVisible(isRunning);
  m_cancel->setEnabled(!m_cancelled);
}

void ProfileBar::pinCandidate() {
  if (m_session.detail()) {
    m_pinned.pinCandidate(m_session.detail()->row.id);
  }
}

void ProfileBar::profile() {
  if (m_profiles.profiling().isValid() || !whyNot().isEmpty()) {
    return;
  }
  m_cancelled = false;
  m_profiles.start(m_session.project(), m_session.detail()->row.id);
  showProgress({});
}

void ProfileBar::showProgress(const services::ProfileProgress& progress) {
  const QString stage = m_cancelled ? tr("cancelling") : stageName(progress.stage);
  m_stage->setFullText(
      tr("Candidate %1: %2, %3")
          .arg(QString::number(m_profiles.profiling().value()), stage, formatDuration(progress.elapsedSeconds)));
  updateControls();
}

void ProfileBar::handleFinished(domain::CandidateId, const Result<services::ProfileReport>& report) {
  m_cancelled = false;
  updateControls();
  if (!report && report.error().kind() != ErrorKind::Cancelled) {
    m_session.report(report.error());
  }
}

}  // namespace swage::ui
