// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <optional>

#include "core/services/swarm_service.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace swage::ui {

// What a person can do about one pair: pause it, give it a role, say something to it. What cannot be done says why.
class PairControls final : public QWidget {
  Q_OBJECT

 public:
  explicit PairControls(QWidget* parent = nullptr);

  // No value: none is chosen. Only a run in progress can be told anything.
  void setPair(const std::optional<services::PairStanding>& pair, bool isLive);

 Q_SIGNALS:
  void ordered(const swage::services::PairOrder& order);

 private:
  void togglePause();
  void say();
  void takeRole(int index);
  [[nodiscard]] services::PairOrder orderOf(services::PairOrder::Kind kind) const;
  void showRole();
  void showWords(bool canSay);

  std::optional<services::PairStanding> m_pair;
  bool m_isLive = false;
  QLabel* m_name;
  QPushButton* m_pause;
  QComboBox* m_role;
  QLineEdit* m_words;
  QPushButton* m_say;
  QLabel* m_waiting;
};

}  // namespace swage::ui
