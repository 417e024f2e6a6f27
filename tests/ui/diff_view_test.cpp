// SPDX-License-Identifier: Apache-2.0
#include "ui/editor/diff_view.h"

#include <gmock/gmock.h>

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/wait_for.h"
#include "ui/editor/diff_overview.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString numbered(int count, const QString& changed, int step) {
  QString text;
  for (int i = 0; i < count; ++i) {
    text += (i % step == step / 2 ? changed : u"line"_s) + QString::number(i) + u'\n';
  }
  return text;
}

class DiffViewTest : public ::testing::Test {
 protected:
  DiffViewTest() {
    m_view.resize(900, 400);
    m_view.show();
    m_view.setTexts({{u"old"_s, m_left}, {u"new"_s, m_right}});
    focus(0);
  }
  void focus(int pane) {
    QApplication::setActiveWindow(&m_view);
    m_view.findChild<DiffPane*>(u"diffPane%1"_s.arg(pane))->setFocus();
  }
  void press(int key, Qt::KeyboardModifiers modifiers) {
    QWidget* target = m_view.findChild<DiffPane*>(u"diffPane%1"_s.arg(m_view.activePane()))->focusProxy();
    QTest::keyClick(target, static_cast<Qt::Key>(key), modifiers);
  }
  [[nodiscard]] int caret() const { return m_view.pane(m_view.activePane()).caretLine(); }

  // Lines 10, 30, 50 … differ.
  QString m_left = numbered(200, u"left"_s, 20);
  QString m_right = numbered(200, u"right"_s, 20);
  DiffView m_view;
};

TEST_F(DiffViewTest, GoesFromChangeToChangeByTheKeysOfMeld) {
  press(Qt::Key_Down, Qt::AltModifier);
  EXPECT_EQ(caret(), 10);
  press(Qt::Key_D, Qt::ControlModifier);
  EXPECT_EQ(caret(), 30);
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_E, Qt::ControlModifier);
  EXPECT_EQ(caret(), 30);
  press(Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(caret(), 10);
  press(Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(caret(), 10) << "there is none before";
}

TEST_F(DiffViewTest, GoesFromPaneToPane) {
  press(Qt::Key_PageDown, Qt::AltModifier);
  EXPECT_EQ(m_view.activePane(), 1);
  press(Qt::Key_PageDown, Qt::AltModifier);
  EXPECT_EQ(m_view.activePane(), 1);
  press(Qt::Key_PageUp, Qt::AltModifier);
  EXPECT_EQ(m_view.activePane(), 0);
}

TEST_F(DiffViewTest, PushesAndPullsChanges) {
  const QSignalSpy edited(&m_view, &DiffView::edited);
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_Right, Qt::AltModifier);
  EXPECT_TRUE(m_view.text(1).contains(u"left10\n"_s));
  EXPECT_EQ(m_view.text(0), m_left);
  EXPECT_EQ(m_view.changeCount(), 9);
  EXPECT_EQ(caret(), 10) << "stays where it is";
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_Left, Qt::AltModifier | Qt::ShiftModifier);  // pull from the right
  EXPECT_TRUE(m_view.text(0).contains(u"right30\n"_s));
  EXPECT_EQ(edited.size(), 2);
  EXPECT_EQ(edited[1].front().toInt(), 0);
}

TEST_F(DiffViewTest, FromTheRightPaneItPushesToTheLeft) {
  focus(1);
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_Left, Qt::AltModifier);
  EXPECT_TRUE(m_view.text(0).contains(u"right10\n"_s));
  press(Qt::Key_Right, Qt::AltModifier);  // there is no pane beyond
  EXPECT_EQ(m_view.text(1), m_right);
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_Right, Qt::AltModifier | Qt::ShiftModifier);  // pull from the left
  EXPECT_TRUE(m_view.text(1).contains(u"left30\n"_s));
}

TEST_F(DiffViewTest, DeletesAChangeAndTakesItBack) {
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_Delete, Qt::AltModifier);
  EXPECT_FALSE(m_view.text(0).contains(u"left10\n"_s));
  EXPECT_TRUE(m_view.isEdited(0));
  EXPECT_EQ(m_view.findChild<ElidedLabel*>(u"diffTitle0"_s)->fullText(), u"old (edited)"_s);
  press(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(m_view.text(0), m_left);
  EXPECT_FALSE(m_view.isEdited(0));
}

TEST_F(DiffViewTest, DoesNothingWhereTheCaretIsInNoChange) {
  press(Qt::Key_Right, Qt::AltModifier);
  press(Qt::Key_Delete, Qt::AltModifier);
  EXPECT_EQ(m_view.text(0), m_left);
  EXPECT_EQ(m_view.text(1), m_right);
}

TEST_F(DiffViewTest, TextCannotBeTyped) {
  press(Qt::Key_X, Qt::NoModifier);
  EXPECT_EQ(m_view.pane(0).text(), m_left);
}

TEST_F(DiffViewTest, KeepsEditsOfTextsThatAreShownAgainOnAnotherSide) {
  press(Qt::Key_Down, Qt::AltModifier);
  press(Qt::Key_Delete, Qt::AltModifier);
  const QString edited = m_view.text(0);
  m_view.setTexts({{u"new"_s, m_right}, {u"old"_s, m_left}});
  EXPECT_EQ(m_view.text(1), edited);
  m_view.undo();
  EXPECT_EQ(m_view.text(1), m_left);
}

TEST_F(DiffViewTest, AsksToBeSwapped) {
  const QSignalSpy asked(&m_view, &DiffView::swapRequested);
  press(Qt::Key_Backslash, Qt::AltModifier);
  EXPECT_EQ(asked.size(), 1);
}

TEST_F(DiffViewTest, SidesScrollTogetherAlsoWhereLinesWereInserted) {
  QString longer = m_left;
  longer.prepend(u"new line\n"_s.repeated(50));
  m_view.setTexts({{u"old"_s, m_left}, {u"new"_s, longer}});
  auto* left = m_view.findChild<DiffPane*>(u"diffPane0"_s);
  left->setTopLine(100);
  EXPECT_EQ(m_view.pane(1).topLine(), 150);
  m_view.findChild<DiffPane*>(u"diffPane1"_s)->setTopLine(120);
  EXPECT_EQ(m_view.pane(0).topLine(), 70);
}

TEST_F(DiffViewTest, TheOverviewLeadsToWhereItIsClicked) {
  auto* overview = m_view.findChild<DiffOverview*>();
  EXPECT_EQ(overview->bands().size(), 10U);
  QTest::mouseClick(overview, Qt::LeftButton, {}, {overview->width() / 2, overview->height() / 2});
  const int middle = m_view.pane(0).topLine() + m_view.pane(0).visibleLines() / 2;
  EXPECT_NEAR(middle, 100, 3);
  press(Qt::Key_F9, Qt::NoModifier);
  EXPECT_FALSE(overview->isVisible());
}

TEST_F(DiffViewTest, FindsInTheActivePane) {
  focus(1);
  press(Qt::Key_F, Qt::ControlModifier);
  auto* edit = m_view.findChild<QLineEdit*>(u"findText"_s);
  EXPECT_TRUE(edit->isVisible());
  QTest::keyClicks(edit, u"right50"_s);
  EXPECT_EQ(m_view.pane(1).selectedText(), u"right50"_s);
  edit->setText(u"line5"_s);
  press(Qt::Key_F3, Qt::NoModifier);
  EXPECT_EQ(m_view.pane(1).selectedText(), u"line5"_s);
  EXPECT_EQ(caret(), 51);
}

TEST_F(DiffViewTest, UnifiedShowsBothAndGoesFromBlockToBlock) {
  m_view.setLayoutMode(DiffView::Layout::Unified);
  auto* pane = m_view.findChild<DiffPane*>(u"unifiedPane"_s);
  EXPECT_TRUE(pane->text().contains(u"left10\nright10\n"_s));
  EXPECT_TRUE(pane->text().contains(u"⋯"_s)) << "equal lines far from changes are left out";
  m_view.nextChange();
  const int first = pane->caretLine();
  m_view.nextChange();
  EXPECT_GT(pane->caretLine(), first);
  m_view.previousChange();
  EXPECT_EQ(pane->caretLine(), first);
  m_view.setLayoutMode(DiffView::Layout::SideBySide);
  EXPECT_EQ(m_view.pane(0).text(), m_left);
}

TEST_F(DiffViewTest, GoesToLinesThatAreInSightWithoutScrolling) {
  press(Qt::Key_Down, Qt::AltModifier);
  EXPECT_EQ(caret(), 10);
  EXPECT_EQ(m_view.pane(0).topLine(), 0);
  for (int i = 0; i < 5; ++i) {
    press(Qt::Key_Down, Qt::AltModifier);
  }
  EXPECT_EQ(caret(), 110);
  EXPECT_GT(m_view.pane(0).topLine(), 80);
  EXPECT_LT(m_view.pane(0).topLine(), 110);
}

TEST_F(DiffViewTest, OpensAtTheFirstChangeWithTheCaretAtTheTop) {
  QString same;
  for (int line = 0; line < 300; ++line) {
    same += u"the same in both\n"_s;
  }
  m_view.setTexts({{u"A"_s, same + u"old\n"_s + same}, {u"B"_s, same + u"new\n"_s + same}});
  EXPECT_EQ(caret(), 0);
  for (const int pane : {0, 1}) {
    EXPECT_GT(m_view.pane(pane).topLine(), 250);
    EXPECT_LE(m_view.pane(pane).topLine(), 300);
  }
  m_view.setLayoutMode(DiffView::Layout::Unified);
  m_view.setLayoutMode(DiffView::Layout::SideBySide);
  EXPECT_GT(m_view.pane(0).topLine(), 250) << "and stays where the reader is";
}

TEST_F(DiffViewTest, OpensAtTheFirstChangeThatCounts) {
  const QString same = u"the same in both\n"_s.repeated(300);
  m_view.setOptions({.ignoreComments = true});
  m_view.setTexts(
      {{u"A"_s, u"f();  // one\n"_s + same + u"old\n"_s}, {u"B"_s, u"f();  // two\n// more\n"_s + same + u"new\n"_s}});
  ASSERT_EQ(m_view.changeCount(), 1);
  EXPECT_GT(m_view.pane(0).topLine(), 250) << "a comment that is ignored is no change";
}

TEST_F(DiffViewTest, ShowsTheAncestorBetweenTwo) {
  m_view.setTexts({{u"A"_s, u"a\nB\nc\nd\n"_s}, {u"base"_s, u"a\nb\nc\nd\n"_s}, {u"C"_s, u"a\nb2\nc\nD\n"_s}});
  EXPECT_EQ(m_view.paneCount(), 3);
  EXPECT_EQ(m_view.changeCount(), 3);
  EXPECT_EQ(m_view.conflictCount(), 1) << "both changed line 2";
  EXPECT_TRUE(m_view.pane(2).isVisible());
  focus(2);
  press(Qt::Key_Down, Qt::AltModifier);
  EXPECT_EQ(caret(), 1);
  press(Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(m_view.text(1), u"a\nb2\nc\nd\n"_s);
  m_view.setTexts({{u"A"_s, u"a\n"_s}, {u"B"_s, u"b\n"_s}});
  EXPECT_FALSE(m_view.pane(2).isVisible());
}

TEST_F(DiffViewTest, ComparesLongTextsWithoutHoldingUpTheWindow) {
  const QSignalSpy compared(&m_view, &DiffView::compared);
  m_view.setTexts({{u"old"_s, numbered(20000, u"left"_s, 20)}, {u"new"_s, numbered(20000, u"right"_s, 20)}});
  EXPECT_EQ(compared.size(), 0);
  m_view.setTexts({{u"old"_s, numbered(30000, u"left"_s, 20)}, {u"new"_s, numbered(30000, u"right"_s, 20)}});
  ASSERT_TRUE(testing::waitFor([&] { return compared.size() > 0; }));
  EXPECT_EQ(m_view.changeCount(), 1500) << "of the later question";
}

TEST_F(DiffViewTest, OptionsTakeEffectAtOnce) {
  m_view.setTexts({{u"old"_s, u"a = 1;\n"_s}, {u"new"_s, u"a  =  1;  // one\n"_s}});
  EXPECT_EQ(m_view.changeCount(), 1);
  m_view.setOptions({.ignoreWhiteSpace = true, .ignoreComments = true});
  EXPECT_EQ(m_view.changeCount(), 0);
}

TEST_F(DiffViewTest, ASideWithoutATextSaysSo) {
  m_view.setTexts({{u"A"_s, u"a\n"_s}, {u"B"_s, {}, u"B has no source."_s}});
  EXPECT_FALSE(m_view.findChild<EmptyState*>(u"diffEmpty0"_s)->isEmpty());
  auto* right = m_view.findChild<EmptyState*>(u"diffEmpty1"_s);
  EXPECT_TRUE(right->isEmpty());
  EXPECT_EQ(right->findChild<QLabel*>()->text(), u"B has no source."_s);
  m_view.setTexts({{u"A"_s, u"a\n"_s}, {u"B"_s, u"b\n"_s}});
  EXPECT_FALSE(right->isEmpty());
}

TEST_F(DiffViewTest, TheAncestorComesAndGoesWithoutMovingTheReader) {
  const QString same = u"the same in all\n"_s.repeated(300);
  const DiffText a{u"A"_s, same + u"old\n"_s + same};
  const DiffText b{u"B"_s, same + u"new\n"_s + same};
  m_view.setTexts({a, b});
  const int top = m_view.pane(0).topLine();
  ASSERT_GT(top, 250);
  m_view.setTexts({a, {u"base"_s, a.text}, b});
  EXPECT_EQ(m_view.pane(0).topLine(), top);
  EXPECT_GT(m_view.pane(2).topLine(), 250);
  m_view.setTexts({a, b});
  EXPECT_EQ(m_view.pane(0).topLine(), top);
}

TEST_F(DiffViewTest, OpensAtTheFirstChangeAlsoWhereASideIsTheAncestor) {
  const QString same = u"the same in all\n"_s.repeated(300);
  m_view.setTexts({{u"A"_s, same + u"old\n"_s}, {u"base"_s, same + u"old\n"_s}, {u"B"_s, same + u"new\n"_s}});
  EXPECT_GT(m_view.pane(2).topLine(), 200);
  EXPECT_GT(m_view.pane(0).topLine(), 200);
}

}  // namespace
}  // namespace swage::ui
