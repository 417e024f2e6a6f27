// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QStringList>
#include <QWidget>

#include "core/services/doctor_service.h"
#include "core/services/self_test_service.h"
#include "ui/widgets/theme.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QTableView;

namespace swage::ui {

class DoctorModel;
class EmptyState;
class SelfTestModel;
class ToneDelegate;

// What a search needs and whether it is there, with what to do about the rest; and whether cheats are found on this
// device. Looks when it is first shown, and again when asked.
class DoctorPage final : public QWidget {
  Q_OBJECT

 public:
  // `selfTest` null: without that part.
  DoctorPage(services::DoctorService& doctor, services::SelfTestService* selfTest, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void check();

 Q_SIGNALS:
  // Names what is missing of that without which nothing works.
  void checked(const QStringList& missing);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeChecks();
  [[nodiscard]] QWidget* makeSelfTest();
  void showChecks(const std::vector<services::DoctorCheck>& checks);
  void copyReport() const;
  void toggleSelfTest();
  void showCase(const services::SelfTestCase& one, int done, int total);
  void showStored();
  void showReport(const Result<services::SelfTestReport>& report);

  services::DoctorService& m_doctor;
  services::SelfTestService* m_selfTest;
  DoctorModel* m_checks;
  SelfTestModel* m_cases;
  ToneDelegate* m_delegate;
  QLabel* m_summary;
  QPushButton* m_again;
  QPushButton* m_copy;
  QTableView* m_table = nullptr;
  EmptyState* m_tableOrEmpty = nullptr;
  QLabel* m_verdict;
  QPushButton* m_run;
  QProgressBar* m_progress;
  EmptyState* m_casesOrEmpty = nullptr;
  QElapsedTimer m_elapsed;  // of the self-test
  bool m_checking = false;
  bool m_checked = false;
  bool m_testing = false;
};

}  // namespace swage::ui
