// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QMenu;

namespace swage::ui {

struct Actions;
class DockLayout;
class HelpPage;
class Shortcuts;

// Leads to the help: F1 to the topic of the page with the focus, the Help menu to each of them. GUI thread only.
class HelpControl final : public QObject {
  Q_OBJECT

 public:
  HelpControl(HelpPage& page, DockLayout& docks, const Actions& actions, QObject* parent);
  // Fills in the topics.
  void fillMenu(QMenu& menu);
  void setShortcuts(const Shortcuts& shortcuts);
  void showTopic(const QString& id);
  void showHere();

 private:
  HelpPage& m_page;
  DockLayout& m_docks;
};

// What F1 explains where the page with the focus is this one.
[[nodiscard]] QString helpTopicOf(const QString& page);

}  // namespace swage::ui
