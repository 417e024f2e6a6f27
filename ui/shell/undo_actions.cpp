// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/undo_actions.h"

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QUndoStack>

#include "ui/editor/kernel_view.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// The widget itself, or the first one around it of this class.
template <class Widget>
Widget* around(QWidget* widget) {
  for (; widget != nullptr; widget = widget->parentWidget()) {
    if (auto* found = qobject_cast<Widget*>(widget)) {
      return found;
    }
  }
  return nullptr;
}

QLineEdit* editableField(QWidget* widget) {
  auto* field = qobject_cast<QLineEdit*>(widget);
  return field != nullptr && !field->isReadOnly() ? field : nullptr;
}

// A text that may be changed; what is recorded has nothing to undo.
KernelView* editor(QWidget* widget) {
  auto* view = around<KernelView>(widget);
  return view != nullptr && view->editing() != KernelView::Editing::Never ? view : nullptr;
}

}  // namespace

UndoActions::UndoActions(QMenu& menu, QUndoStack& stack)
    : QObject(&menu), m_stack(stack), m_undo(menu.addAction(tr("&Undo"))), m_redo(menu.addAction(tr("&Redo"))) {
  m_undo->setObjectName(u"editUndo"_s);
  m_redo->setObjectName(u"editRedo"_s);
  connect(m_undo, &QAction::triggered, this, &UndoActions::undo);
  connect(m_redo, &QAction::triggered, this, &UndoActions::redo);
  connect(&menu, &QMenu::aboutToShow, this, &UndoActions::update);
  // Whoever triggers an action without the menu finds it as it was left: it must not stay disabled.
  connect(
      &menu, &QMenu::aboutToHide, this,
      [this] {
        m_undo->setEnabled(true);
        m_redo->setEnabled(true);
      },
      Qt::QueuedConnection);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { handleFocus(now); });
  handleFocus(QApplication::focusWidget());
}

// A menu bar that is used by keys takes the keyboard for a moment.
void UndoActions::handleFocus(QWidget* widget) {
  if (widget != nullptr && qobject_cast<QMenuBar*>(widget) == nullptr && qobject_cast<QMenu*>(widget) == nullptr) {
    m_focus = widget;
  }
}

void UndoActions::update() {
  const auto label = [](const QString& verb, const QString& what) {
    return what.isEmpty() ? verb : QString(verb % u' ' % what);
  };
  QString undoText;
  QString redoText;
  if (const KernelView* view = editor(m_focus)) {
    m_undo->setEnabled(view->canUndo());
    m_redo->setEnabled(view->canRedo());
  } else if (const QLineEdit* field = editableField(m_focus)) {
    m_undo->setEnabled(field->isUndoAvailable());
    m_redo->setEnabled(field->isRedoAvailable());
  } else {
    m_undo->setEnabled(m_stack.canUndo());
    m_redo->setEnabled(m_stack.canRedo());
    undoText = m_stack.undoText();
    redoText = m_stack.redoText();
  }
  m_undo->setText(label(tr("&Undo"), undoText));
  m_redo->setText(label(tr("&Redo"), redoText));
}

void UndoActions::undo() {
  if (KernelView* view = editor(m_focus)) {
    view->undo();
  } else if (QLineEdit* field = editableField(m_focus)) {
    field->undo();
  } else {
    m_stack.undo();
  }
}

void UndoActions::redo() {
  if (KernelView* view = editor(m_focus)) {
    view->redo();
  } else if (QLineEdit* field = editableField(m_focus)) {
    field->redo();
  } else {
    m_stack.redo();
  }
}

}  // namespace swage::ui
