// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

#include "core/domain/diagnostic.h"
#include "core/services/types.h"
#include "ui/models/draft_compiler.h"

namespace swage::ui {

class CodePanes;
class KernelEditing;
class ProjectSession;

// What the compiler says of the draft that is shown, as it is typed: its messages, and its listing in place of the
// recorded one. An evaluation waits for it, so that nothing is started for a source that does not compile. GUI thread
// only.
class KernelDraft final : public QObject {
  Q_OBJECT

 public:
  // Without `compiles` a draft is not known before it is evaluated.
  KernelDraft(ProjectSession& session, services::CompileService* compiles, KernelEditing& editing, CodePanes& code,
              QObject* parent = nullptr);

  // Another candidate is shown, or the same one changed.
  void setCandidate(const services::CandidateDetail& detail);
  // The text or the state of the draft changed.
  void update();
  void evaluate();

  // Of the draft, else of the recorded candidate.
  [[nodiscard]] const std::vector<domain::Diagnostic>& diagnostics() const { return m_diagnostics; }
  // The text of the editor is the one that the listing was made of.
  [[nodiscard]] bool isListed() const;
  // "compiles (0.4 s)", "2 errors"; empty: there is no draft.
  [[nodiscard]] QString stateText() const;

 Q_SIGNALS:
  void changed();
  // An evaluation was asked for, and the draft does not compile.
  void refused();

 private:
  void show();
  void showRecorded();
  void showCompiled(const domain::CompiledBinary& binary);
  void showFailed(const QString& note);
  void evaluateIfDue();

  ProjectSession& m_session;
  KernelEditing& m_editing;
  CodePanes& m_code;
  DraftCompiler m_compiler;
  services::CandidateDetail m_detail;
  std::vector<domain::Diagnostic> m_diagnostics;
  bool m_showsDraft = false;              // its listing or its messages
  std::optional<QString> m_evaluateNext;  // as soon as this text is known to compile
};

}  // namespace swage::ui
