// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/undo_actions.h"

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QMenu>
#include <QTest>
#include <QUndoStack>
#include <QVBoxLayout>

#include "ui/editor/kernel_view.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

class UndoActionsTest : public ::testing::Test {
 protected:
  UndoActionsTest() : m_view(new KernelView(CodeLanguage::Cpp)), m_field(new QLineEdit) {
    auto* column = new QVBoxLayout(&m_window);
    column->addWidget(m_view);
    column->addWidget(m_field);
    m_view->setText(u"int a;\n"_s);
    m_view->setEditing(KernelView::Editing::OnFirstKey);
    m_stack.push(new QUndoCommand(u"pin"_s));
    m_window.show();
    m_window.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&m_window));
  }
  QAction& show(const QString& name) {
    Q_EMIT m_menu.aboutToShow();
    return *m_menu.findChild<QAction*>(name);
  }

  QWidget m_window;
  KernelView* m_view;
  QLineEdit* m_field;
  QUndoStack m_stack;
  QMenu m_menu;
  UndoActions* m_actions = new UndoActions(m_menu, m_stack);
};

TEST_F(UndoActionsTest, ActOnTheEditorWhileItHasTheKeyboard) {
  m_view->setFocus();
  EXPECT_FALSE(show(u"editUndo"_s).isEnabled()) << "nothing was typed";
  QTest::keyClicks(m_view->focusProxy(), u"x"_s);
  QAction& undo = show(u"editUndo"_s);
  ASSERT_TRUE(undo.isEnabled());
  undo.trigger();
  EXPECT_EQ(m_view->text(), u"int a;\n"_s);
  show(u"editRedo"_s).trigger();
  EXPECT_EQ(m_view->text(), u"xint a;\n"_s);
  EXPECT_TRUE(m_stack.canUndo()) << "annotations are as they were";
}

TEST_F(UndoActionsTest, ActOnAFieldThatIsTypedIn) {
  m_field->setFocus();
  QTest::keyClicks(m_field, u"abc"_s);
  show(u"editUndo"_s).trigger();
  EXPECT_EQ(m_field->text(), QString());
}

TEST_F(UndoActionsTest, ElseActOnAnnotationsAndNameThem) {
  m_field->setReadOnly(true);
  m_field->setFocus();
  QAction& undo = show(u"editUndo"_s);
  EXPECT_TRUE(undo.text().contains(u"pin"_s));
  undo.trigger();
  EXPECT_FALSE(m_stack.canUndo());
  EXPECT_FALSE(show(u"editUndo"_s).isEnabled());
}

}  // namespace
}  // namespace swage::ui
