// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

#include "ui/models/session.h"

namespace swage::ui {

// Chooses a candidate of the shown run: one of the elites from the list, or any other by typing its number.
class CandidatePicker final : public QComboBox {
  Q_OBJECT

 public:
  CandidatePicker(Session& session, const QString& name, QWidget* parent = nullptr);
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
  void readTyped();

  Session& m_session;
  domain::CandidateId m_candidate;
  QString m_text;  // of it, where it is not in the list
};

}  // namespace swage::ui
