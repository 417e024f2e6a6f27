// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/services/compile_service.h"
#include "core/services/edit_service.h"
#include "ui/models/draft_store.h"
#include "ui/models/project_session.h"

namespace swage::ui {

// What a person does to the shown candidate: nothing, a draft of its source, or an evaluation. Keeps drafts in files
// after ten seconds of rest, and when the candidate changes. GUI thread only.
class KernelEditing final : public QObject {
  Q_OBJECT

 public:
  enum class State : std::uint8_t {
    Unavailable,  // there is nothing to edit, or nobody to evaluate it
    Recorded,     // as in the record; the first key makes a draft
    Draft,
    Evaluating,
  };

  // Without `edits` everything stays as it is recorded. An empty folder keeps no drafts.
  KernelEditing(ProjectSession& session, services::EditService* edits, std::filesystem::path drafts,
                QObject* parent = nullptr);
  ~KernelEditing() override;

  // Shows another candidate; its draft comes back if it has one.
  void setCandidate(const services::CandidateDetail* detail);
  void setDraft(const QString& text);
  void discard();
  void evaluate();
  void evaluate(const domain::Genome& genome);
  void cancel();

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] const QString& text() const { return m_text; }  // the draft's, else the recorded source
  [[nodiscard]] const QString& recorded() const { return m_recorded; }
  [[nodiscard]] services::DraftSource draft() const { return {m_project, m_candidate, m_text.toStdString()}; }
  [[nodiscard]] const QString& stage() const { return m_stage; }
  [[nodiscard]] const QDateTime& recoveredFrom() const { return m_recovered; }  // null: typed in this sitting
  [[nodiscard]] bool mayEvaluate() const;
  // Why a draft cannot be evaluated now; empty: it can.
  [[nodiscard]] QString obstacle() const;

 Q_SIGNALS:
  void changed();

 private:
  void start(const services::EditSpec& spec);
  void handleFinished(const Result<services::EditOutcome>& outcome);
  void setState(State state);
  [[nodiscard]] Result<> keepDraft() const;
  void keep();

  ProjectSession& m_session;
  services::EditService* m_edits;
  DraftStore m_store;
  QTimer m_idle;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  domain::CandidateId m_evaluated;  // the parent of the edit in evaluation
  std::filesystem::path m_evaluatedProject;
  QString m_recorded;
  QString m_text;
  QString m_stage;
  QDateTime m_recovered;
  State m_state = State::Unavailable;
};

}  // namespace swage::ui
