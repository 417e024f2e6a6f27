// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMap>
#include <QMenu>

namespace swage::ui {

class Dialogs;
class DockLayout;

// View ▸ Layout: those that every window has, those the user saved, and what to do with them.
class LayoutMenu final : public QMenu {
  Q_OBJECT

 public:
  LayoutMenu(DockLayout& docks, Dialogs& dialogs, QWidget* window);
  void setSaved(const QMap<QString, QByteArray>& layouts);
  [[nodiscard]] const QMap<QString, QByteArray>& saved() const { return m_saved; }

 private:
  void makeBuiltIn();
  void saveAs(const QString& name);
  void fillSaved();

  DockLayout& m_docks;
  Dialogs& m_dialogs;
  QWidget* m_window;
  QMap<QString, QByteArray> m_saved;
  QList<QAction*> m_savedActions;
  QAction* m_beforeSaved = nullptr;
  QMenu* m_remove;
};

}  // namespace swage::ui
