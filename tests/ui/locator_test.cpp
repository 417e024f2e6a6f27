// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/locator.h"

#include <gmock/gmock.h>

#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QTest>

#include "tests/ui/window_fixture.h"
#include "ui/shell/dock_layout.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

class LocatorTest : public WindowTest {
 protected:
  void SetUp() override {
    write(folder / "project" / "runs.sqlite", "");
    openWithTask();
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
  }
  [[nodiscard]] QLineEdit* field() const { return child<QLineEdit>(u"locatorField"_s); }
  [[nodiscard]] QAbstractItemModel* found() const { return child<QListView>(u"locatorList"_s)->model(); }
  [[nodiscard]] QString first() const { return found()->index(0, 0).data().toString(); }
  [[nodiscard]] int lastEnabled() const {
    int row = found()->rowCount() - 1;
    while (row > 0 && !found()->index(row, 0).flags().testFlag(Qt::ItemIsEnabled)) {
      --row;
    }
    return row;
  }
  [[nodiscard]] bool isOpen() const { return child<QWidget>(u"locator"_s)->isVisible(); }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) const {
    QTest::keyClick(QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : window.get(), key,
                    modifiers);
  }
  void openPalette() const { press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier); }
  void openQuickly() const { press(Qt::Key_P, Qt::ControlModifier); }
};

TEST_F(LocatorTest, ThePaletteRunsACommandByAPartOfItsName) {
  openPalette();
  ASSERT_TRUE(isOpen());
  EXPECT_TRUE(field()->hasFocus());
  QTest::keyClicks(field(), u"inspect"_s);
  EXPECT_EQ(first(), u"Inspect"_s);
  EXPECT_EQ(found()->index(0, 0).data(ui::LocatorModel::DetailRole), u"View › Layout"_s);
  EXPECT_EQ(found()->index(0, 0).data(ui::LocatorModel::KeysRole), u"Ctrl+2"_s);
  press(Qt::Key_Return);
  EXPECT_FALSE(isOpen());
  EXPECT_EQ(window->docks().current(), ui::Layout::Inspect);
}

TEST_F(LocatorTest, ThePaletteHasEveryCommandOfTheMenus) {
  openPalette();
  QStringList names;
  for (int row = 0; row < found()->rowCount(); ++row) {
    names.push_back(found()->index(row, 0).data().toString());
  }
  for (const QAction* action : window->findChildren<QAction*>()) {
    const QString text = QString(action->text()).remove(u'&');
    if (!action->objectName().isEmpty() && action->menu() == nullptr && action->parent() == window.get()) {
      EXPECT_TRUE(names.contains(text)) << text.toStdString();
    }
  }
}

TEST_F(LocatorTest, WhatCannotBeDoneNowIsShownButDoesNothing) {
  openPalette();
  QTest::keyClicks(field(), u"resumethisrun"_s);
  const QModelIndex index = found()->index(0, 0);
  EXPECT_EQ(index.data(), u"Resume This Run"_s);
  EXPECT_FALSE(index.flags().testFlag(Qt::ItemIsEnabled));
  press(Qt::Key_Return);
  EXPECT_TRUE(isOpen());
}

TEST_F(LocatorTest, EscapeGivesTheKeyboardBack) {
  auto* table = child<QWidget>(u"candidateTable"_s);
  table->setFocus();
  openPalette();
  press(Qt::Key_Escape);
  EXPECT_FALSE(isOpen());
  EXPECT_TRUE(table->hasFocus());
}

TEST_F(LocatorTest, AClickElsewhereClosesIt) {
  openPalette();
  QTest::mouseClick(child<QWidget>(u"heatMap"_s), Qt::LeftButton);
  EXPECT_FALSE(isOpen());
}

TEST_F(LocatorTest, QuickOpenFindsACellByItsName) {
  openQuickly();
  QTest::keyClicks(field(), u"a1b1c1"_s);
  EXPECT_EQ(first(), u"A1B1C1"_s);
  press(Qt::Key_Return);
  EXPECT_EQ(window->session().selectedCell(), domain::Cell::parse("A1B1C1")->index());
}

TEST_F(LocatorTest, QuickOpenFindsACandidateByItsNumber) {
  openQuickly();
  QTest::keyClicks(field(), u"#12"_s);
  EXPECT_EQ(first(), u"Candidate 12"_s);
  EXPECT_TRUE(found()->index(0, 0).data(ui::LocatorModel::DetailRole).toString().contains(u" · "_s))
      << first().toStdString();
  press(Qt::Key_Return);
  EXPECT_EQ(window->session().selectedCandidate(), domain::CandidateId(12));
  openQuickly();
  QTest::keyClicks(field(), u"99999999999999999999"_s);
  EXPECT_EQ(found()->rowCount(), 0);
}

TEST_F(LocatorTest, QuickOpenFindsRunsTasksAndPages) {
  openQuickly();
  QTest::keyClicks(field(), u"run 7"_s);
  EXPECT_EQ(first(), u"Run 7"_s);
  field()->clear();
  QTest::keyClicks(field(), u"softmaxrows"_s);
  EXPECT_EQ(first(), u"softmax_rows"_s);
  field()->clear();
  QTest::keyClicks(field(), u"candid"_s);
  EXPECT_EQ(first(), u"Candidates"_s);
}

TEST_F(LocatorTest, TheArrowsGoRound) {
  openQuickly();
  auto* list = child<QListView>(u"locatorList"_s);
  EXPECT_EQ(list->currentIndex().row(), 0);
  press(Qt::Key_Up);
  EXPECT_EQ(list->currentIndex().row(), lastEnabled());
  press(Qt::Key_Down);
  EXPECT_EQ(list->currentIndex().row(), 0);
  press(Qt::Key_PageDown);
  EXPECT_GT(list->currentIndex().row(), 5);
}

}  // namespace
}  // namespace swage::testing
