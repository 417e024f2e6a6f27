// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/profile_service.h"
#include "ui/models/pinned_baseline.h"

class QComboBox;
class QProgressBar;
class QPushButton;
class QToolButton;

namespace swage::ui {

class ElidedLabel;

// What can be done on the profile page: choose what to compare with, pin the candidate, make a profile. Shows how far
// a profile has got, and cancels it.
class ProfileBar final : public QWidget {
  Q_OBJECT

 public:
  ProfileBar(ProjectSession& session, services::ProfileService& profiles, PinnedBaseline& pinned,
             QWidget* parent = nullptr);

  void profile();
  void pinCandidate();

 private:
  void makeControls();
  void fillPins();
  void showProgress(const services::ProfileProgress& progress);
  void handleFinished(domain::CandidateId candidate, const Result<services::ProfileReport>& report);
  void updateControls();
  [[nodiscard]] QString whyNot() const;  // a profile cannot be made; empty: it can

  ProjectSession& m_session;
  services::ProfileService& m_profiles;
  PinnedBaseline& m_pinned;
  QComboBox* m_pins;
  QToolButton* m_pin;
  QPushButton* m_profile;
  ElidedLabel* m_stage;
  QProgressBar* m_progress;
  QPushButton* m_cancel;
  bool m_cancelled = false;
};

}  // namespace swage::ui
