// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_draft.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "ui/pages/code_panes.h"
#include "ui/pages/kernel_editing.h"

namespace swage::ui {
namespace {

using State = KernelEditing::State;

const domain::CompiledBinary* binaryOf(const std::optional<Result<domain::CompileOutcome>>& outcome) {
  return outcome && *outcome ? std::get_if<domain::CompiledBinary>(&**outcome) : nullptr;
}

const domain::CompileFailed* failureOf(const std::optional<Result<domain::CompileOutcome>>& outcome) {
  return outcome && *outcome ? std::get_if<domain::CompileFailed>(&**outcome) : nullptr;
}

}  // namespace

KernelDraft::KernelDraft(ProjectSession& session, services::CompileService* compiles, KernelEditing& editing,
                         CodePanes& code, QObject* parent)
    : QObject(parent), m_session(session), m_editing(editing), m_code(code), m_compiler(compiles) {
  connect(&m_compiler, &DraftCompiler::changed, this, &KernelDraft::show);
}

void KernelDraft::setCandidate(const services::CandidateDetail& detail) {
  const bool isOther = detail.row.id != m_detail.row.id;
  m_detail = detail;
  m_showsDraft = false;  // the page has just put the recorded listing there
  if (isOther) {
    m_evaluateNext.reset();
  }
  showRecorded();
  update();
  show();
}

void KernelDraft::update() {
  const State state = m_editing.state();
  if (state == State::Draft) {
    m_compiler.setDraft(m_editing.draft());
  } else if (state != State::Evaluating) {
    m_evaluateNext.reset();
    m_compiler.clear();
  }
}

void KernelDraft::evaluate() {
  if (!m_editing.mayEvaluate()) {
    return;
  }
  if (!m_compiler.isAvailable()) {
    m_editing.evaluate();
    return;
  }
  m_evaluateNext = m_editing.text();
  m_compiler.setDraft(m_editing.draft());
  m_compiler.compileNow();
  evaluateIfDue();
}

// An error says nothing of the draft: the evaluation will find out the same, or fare better.
void KernelDraft::evaluateIfDue() {
  if (!m_evaluateNext || !m_compiler.outcome()) {
    return;
  }
  const bool isWanted = *std::exchange(m_evaluateNext, std::nullopt) == m_editing.text();
  if (!isWanted) {
    return;  // typing went on
  }
  if (failureOf(m_compiler.outcome()) != nullptr) {
    Q_EMIT refused();
  } else {
    m_editing.evaluate();
  }
}

bool KernelDraft::isListed() const {
  const State state = m_editing.state();
  const bool isDraft = state == State::Draft || state == State::Evaluating;
  return isDraft ? binaryOf(m_compiler.outcome()) != nullptr : !m_showsDraft;
}

QString KernelDraft::stateText() const {
  if (!m_compiler.isAvailable() || !m_compiler.hasDraft()) {
    return {};
  }
  const auto& outcome = m_compiler.outcome();
  if (!outcome) {
    return m_evaluateNext ? tr("compiling, then evaluating") : tr("compiling");
  }
  if (const domain::CompiledBinary* binary = binaryOf(outcome)) {
    return tr("compiles (%1 s)").arg(binary->seconds, 0, 'f', 1);
  }
  if (failureOf(outcome) == nullptr) {
    return tr("cannot compile here: %1").arg(QString::fromStdString(outcome->error().message()));
  }
  const auto errors = std::count_if(m_diagnostics.begin(), m_diagnostics.end(), [](const domain::Diagnostic& one) {
    return one.severity == domain::Diagnostic::Severity::Error;
  });
  return errors == 1 ? tr("1 error") : tr("%1 errors").arg(errors);
}

// While nothing is known of the newest text the marks of the one before it stay: they move with their lines.
void KernelDraft::show() {
  const auto& outcome = m_compiler.outcome();
  if (!m_compiler.hasDraft()) {
    if (std::exchange(m_showsDraft, false)) {
      m_code.setListing(m_detail.assembly, m_detail.program.language);
      m_code.setListingNote({}, {});
      showRecorded();
    }
  } else if (const domain::CompiledBinary* binary = binaryOf(outcome)) {
    showCompiled(*binary);
  } else if (const domain::CompileFailed* failed = failureOf(outcome)) {
    m_diagnostics = domain::diagnosticsOf(domain::Evaluation(*failed), {});
    showFailed(tr("of the last text that compiled"));
  } else if (outcome) {
    m_diagnostics.clear();
    showFailed(tr("of the recorded text"));
  }
  Q_EMIT changed();
  evaluateIfDue();
}

void KernelDraft::showRecorded() {
  m_diagnostics = domain::diagnosticsOf(m_detail.evaluation, m_detail.compileLog);
}

void KernelDraft::showCompiled(const domain::CompiledBinary& binary) {
  m_showsDraft = true;
  m_diagnostics = domain::diagnosticsOf(std::nullopt, binary.log);
  m_code.setListing(binary.assembly, m_detail.program.language);
  m_code.setListingNote(tr("of the draft"), tr("What the compiler made of the text in the editor."));
}

void KernelDraft::showFailed(const QString& note) {
  m_showsDraft = true;
  m_code.setListingNote(note, tr("The text in the editor does not compile."));
}

}  // namespace swage::ui
