// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "ui/models/session.h"

class QWidget;

namespace swage::ui {

class DesktopNotifier;

// Sends the desktop a word when a search has ended or failed, or a GPU is lost, while the window is not in front.
class Incidents final : public QObject {
  Q_OBJECT

 public:
  Incidents(Session& session, DesktopNotifier& notifier, QWidget& window);

 private:
  [[nodiscard]] bool isInFront() const;
  void tellOutcome(const services::RunOutcome& outcome);
  void tellNotice(const services::Notice& notice);

  Session& m_session;
  DesktopNotifier& m_notifier;
  QWidget& m_window;
};

}  // namespace swage::ui
