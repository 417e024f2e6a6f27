// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_editing.h"

#include <chrono>

#include "core/base/log.h"
#include "ui/models/format.h"

namespace swage::ui {
namespace {

constexpr std::chrono::seconds kIdle{10};

}  // namespace

KernelEditing::KernelEditing(ProjectSession& session, services::EditService* edits, std::filesystem::path drafts,
                             QObject* parent)
    : QObject(parent), m_session(session), m_edits(edits), m_store(std::move(drafts)) {
  m_idle.setSingleShot(true);
  m_idle.setInterval(kIdle);
  connect(&m_idle, &QTimer::timeout, this, &KernelEditing::keep);
  connect(&session, &ProjectSession::stateChanged, this, &KernelEditing::changed);
  if (m_edits != nullptr) {
    connect(m_edits, &services::EditService::stageChanged, this, [this](const std::string& stage) {
      m_stage = toQString(stage);
      Q_EMIT changed();
    });
    connect(m_edits, &services::EditService::finished, this, &KernelEditing::handleFinished);
  }
}

// The session may be gone by now.
KernelEditing::~KernelEditing() {
  if (const Result<> kept = keepDraft(); !kept) {
    log::warn("{}", kept.error().message());
  }
}

void KernelEditing::setCandidate(const services::CandidateDetail* detail) {
  const domain::CandidateId id = detail != nullptr ? detail->row.id : domain::CandidateId();
  if (id == m_candidate && m_session.project() == m_project && m_state != State::Unavailable) {
    return;  // shown again, perhaps because its row changed
  }
  keep();
  m_project = m_session.project();
  m_candidate = id;
  m_recorded = detail != nullptr ? toQString(detail->program.source) : QString();
  m_text = m_recorded;
  m_recovered = {};
  if (m_edits == nullptr || m_recorded.isEmpty()) {
    setState(State::Unavailable);
    return;
  }
  const std::optional<Draft> draft = m_store.load(m_project, m_candidate);
  const bool hasDraft = draft && draft->text != m_recorded;
  if (hasDraft) {
    m_text = draft->text;
  }
  if (m_edits->isActive() && m_evaluated == m_candidate && m_evaluatedProject == m_project) {
    setState(State::Evaluating);
    return;
  }
  m_recovered = hasDraft ? draft->savedAt : QDateTime();
  setState(hasDraft ? State::Draft : State::Recorded);
}

void KernelEditing::setDraft(const QString& text) {
  m_text = text;
  m_recovered = {};
  m_idle.start();
  if (m_state == State::Recorded) {
    // What a search finds must not take the page away from under the hands.
    m_session.selectCandidate(m_candidate);
    setState(State::Draft);
  }
}

void KernelEditing::discard() {
  m_idle.stop();
  m_store.remove(m_project, m_candidate);
  m_text = m_recorded;
  m_recovered = {};
  setState(State::Recorded);
}

QString KernelEditing::obstacle() const {
  if (m_session.isActive()) {
    return tr("A search is writing this project: stop it, or wait for its end, then evaluate.");
  }
  return m_edits != nullptr && m_edits->isActive() ? tr("Another edit is being evaluated.") : QString();
}

bool KernelEditing::mayEvaluate() const {
  return m_state == State::Draft && obstacle().isEmpty();
}

void KernelEditing::evaluate() {
  if (mayEvaluate()) {
    keep();
    start({.project = m_project, .parent = m_candidate, .change = services::SourceEdit{m_text.toStdString()}});
  }
}

void KernelEditing::evaluate(const domain::Genome& genome) {
  if (m_edits != nullptr && obstacle().isEmpty()) {
    start({.project = m_project, .parent = m_candidate, .change = services::ParameterEdit{genome}});
  }
}

void KernelEditing::start(const services::EditSpec& spec) {
  m_evaluated = spec.parent;
  m_evaluatedProject = spec.project;
  m_stage = tr("starting");
  m_edits->evaluate(spec);
  setState(State::Evaluating);
}

void KernelEditing::cancel() {
  if (m_state == State::Evaluating) {
    m_edits->cancel();
  }
}

void KernelEditing::handleFinished(const Result<services::EditOutcome>& outcome) {
  const bool isShown = m_evaluated == m_candidate && m_evaluatedProject == m_project;
  if (!outcome) {
    if (outcome.error().kind() != ErrorKind::Cancelled) {
      m_session.report(outcome.error());
    }
    if (isShown) {
      setState(m_text == m_recorded ? State::Recorded : State::Draft);
    }
    return;
  }
  m_store.remove(m_evaluatedProject, m_evaluated);
  if (!isShown) {
    Q_EMIT changed();
    return;
  }
  m_idle.stop();
  m_text = m_recorded;  // the draft lives on as a candidate
  m_state = State::Recorded;
  m_session.showRun(outcome->detail.row.run);
  m_session.selectCandidate(outcome->detail.row.id);
}

void KernelEditing::setState(State state) {
  m_state = state;
  Q_EMIT changed();
}

Result<> KernelEditing::keepDraft() const {
  return m_state == State::Draft && m_text != m_recorded ? m_store.save(m_project, m_candidate, m_text) : Result<>();
}

void KernelEditing::keep() {
  m_idle.stop();
  if (const Result<> kept = keepDraft(); !kept) {
    m_session.report(kept.error());
  }
}

}  // namespace swage::ui
