// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QTimer>

#include "core/services/swarm_service.h"
#include "ui/widgets/theme.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace swage::ui {

class Dialogs;
class EmptyState;
class KernelView;

// A person as a language model: the prompt that waits, to be copied, and a reply, to be pasted, opened or typed. How
// the search reads the reply is shown before it can be sent. Stays open for the next prompt.
class ExchangeDialog final : public QDialog {
  Q_OBJECT

 public:
  // Both outlive this.
  ExchangeDialog(services::SwarmService& swarm, Dialogs& dialogs, QWidget* parent);
  void setTheme(const Theme& theme);
  // What waits now; a reply that was begun for a prompt that still waits stays.
  void setWaiting(const std::vector<services::WaitingPrompt>& waiting);

 private:
  [[nodiscard]] QWidget* makePrompt();
  [[nodiscard]] QWidget* makeReply();
  void choose();
  void openFile();
  void paste();
  void edited();
  void check();
  void showCheck(const Result<services::ReplyCheck>& checked);
  void send();
  [[nodiscard]] const services::WaitingPrompt* current() const;

  services::SwarmService& m_swarm;
  Dialogs& m_dialogs;
  std::vector<services::WaitingPrompt> m_waiting;
  QComboBox* m_which;
  KernelView* m_prompt;
  KernelView* m_reply;
  QPushButton* m_copy;
  QPushButton* m_send;
  QLabel* m_result;
  EmptyState* m_empty = nullptr;
  QTimer m_rest;
  int m_question = 0;  // the newest check counts
};

}  // namespace swage::ui
