// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

class QAction;
class QMenu;
class QUndoStack;
class QWidget;

namespace swage::ui {

// Undo and redo at the top of a menu, of what the person works in: the text of an editor or a field while it has the
// keyboard, else the stack. Keys go to the widget itself; these are for the menu and the palette. GUI thread only.
class UndoActions final : public QObject {
  Q_OBJECT

 public:
  UndoActions(QMenu& menu, QUndoStack& stack);

 private:
  void handleFocus(QWidget* widget);
  void update();
  void undo();
  void redo();

  QUndoStack& m_stack;
  QPointer<QWidget> m_focus;  // that had the keyboard before the menu
  QAction* m_undo;
  QAction* m_redo;
};

}  // namespace swage::ui
