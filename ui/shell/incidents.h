// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <functional>
#include <vector>

#include "ui/models/project_session.h"
#include "ui/widgets/notice_banner.h"

class QWidget;

namespace swage::ui {

class DesktopNotifier;

// What goes wrong outside of the search: its workers are killed, the disk is full, another program holds the record, a
// GPU is lost. Each becomes a banner that says what happened, what it means and what to do, with the buttons for that;
// a line of the log; and, while the window is not in front, a word on the desktop. GUI thread only.
class Incidents final : public QObject {
  Q_OBJECT

 public:
  // The ways out that the window has.
  struct WaysOut {
    std::function<void()> resume;         // the search that failed
    std::function<void()> chooseProject;  // another one
    std::function<void()> openDoctor;     // empty: there is no such page
  };

  Incidents(ProjectSession& session, DesktopNotifier& notifier, NoticeBanner& banner, WaysOut waysOut, QWidget& window);

  // Shows a notice of any kind, with the ways out of what it is about.
  void show(const services::Notice& notice);

 private:
  [[nodiscard]] services::Notice explained(const services::Notice& notice) const;
  [[nodiscard]] std::vector<NoticeAction> actionsFor(const services::Notice& notice) const;
  [[nodiscard]] QString projectPlace() const;
  [[nodiscard]] bool isInFront() const;
  [[nodiscard]] QString foundText(const services::RunOutcome& outcome) const;
  void tellOutcome(const services::RunOutcome& outcome);
  void tellNotice(const services::Notice& notice);

  ProjectSession& m_session;
  DesktopNotifier& m_notifier;
  NoticeBanner& m_banner;
  WaysOut m_waysOut;
  QWidget& m_window;
};

}  // namespace swage::ui
