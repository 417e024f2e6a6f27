// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <filesystem>

#include "core/services/record_check_service.h"

class QLabel;
class QPushButton;

namespace swage::ui {

// Shown when the last start did not end cleanly: what is known of it, and how to go on. Until the user chooses, nothing
// of that session has been restored, as it may be what went wrong.
class RecoveryDialog final : public QDialog {
  Q_OBJECT

 public:
  struct Content {
    QString note;                                   // empty: it was killed and could not write one
    std::filesystem::path project;                  // of that session; empty: none
    services::RecordCheckService* check = nullptr;  // null: the record cannot be checked
  };
  RecoveryDialog(const Content& content, QWidget* parent);

 Q_SIGNALS:
  void restoreRequested();

 private:
  void checkRecord();
  void showVerdict(const Result<>& verdict);

  Content m_content;
  QLabel* m_verdict;
  QPushButton* m_check;
};

}  // namespace swage::ui
