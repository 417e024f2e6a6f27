// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

#include <memory>
#include <vector>

#include "ui/models/project_session.h"

namespace swage::ui {

// Chooses a candidate of the shown run, or of the run it is given: one of the elites from the list, or any other of the
// record by typing its number.
class CandidatePicker final : public QComboBox {
  Q_OBJECT

 public:
  CandidatePicker(ProjectSession& session, const QString& name, QWidget* parent = nullptr);
  // Whose elites are listed. Null: those of the shown run.
  void setSource(std::shared_ptr<const services::RecordService> record, domain::RunId run);
  // Shows a choice that was made elsewhere; says nothing.
  void setCandidate(const services::CandidateRow& row);
  void clearCandidate();

 Q_SIGNALS:
  void chosen(swage::domain::CandidateId candidate);

 protected:
  // Elites are gathered when the list is opened: they change many times a second while a search runs.
  void showPopup() override;

 private:
  void fill();
  [[nodiscard]] std::vector<services::CellSummary> cells() const;
  void readTyped();

  ProjectSession& m_session;
  std::shared_ptr<const services::RecordService> m_record;
  domain::RunId m_run;
  domain::CandidateId m_candidate;
  QString m_text;  // of it, where it is not in the list
};

}  // namespace swage::ui
