// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>

#include "tests/support/wait_for.h"
#include "tests/ui/history_fixture.h"
#include "ui/models/candidate_table_model.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/candidates_page.h"
#include "ui/widgets/annotation_bar.h"
#include "ui/widgets/filter_edit.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::CandidateId;
using swage::testing::HistoryPage;

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

class CandidatesPageTest : public HistoryPage {
 protected:
  CandidatesPageTest() {
    show(page);
    table = child<QTableView>(page, u"candidateTable"_s);
    filter = child<QLineEdit>(page, u"filterText"_s);
  }
  [[nodiscard]] int rows() const { return table->model()->rowCount(); }
  // The list follows an edit at once, or after the rest that a slow search takes.
  [[nodiscard]] bool lists(int count) const {
    return QTest::qWaitFor([this, count] { return rows() == count; }, kDeadlineMs);
  }
  [[nodiscard]] QAction* action(const QString& name) { return page.findChild<QAction*>(name); }
  void selectRows(int first, int last) {
    table->selectionModel()->select(
        QItemSelection(table->model()->index(first, 0), table->model()->index(last, table->model()->columnCount() - 1)),
        QItemSelectionModel::ClearAndSelect);
  }

  CandidatesPage page{session, record};
  QTableView* table = nullptr;
  QLineEdit* filter = nullptr;
};

TEST_F(CandidatesPageTest, TypingAFilterListsWhatMatches) {
  const int all = rows();
  QTest::keyClicks(filter, u"status:correct speedup>2"_s);
  QTest::keyClick(filter, Qt::Key_Return);
  EXPECT_GT(rows(), 0);
  EXPECT_LT(rows(), all);
  EXPECT_EQ(child<QLabel>(page, u"candidateCount"_s)->text(), u"%1 candidates"_s.arg(rows()));
  QTest::keyClick(filter, Qt::Key_Escape);
  EXPECT_EQ(rows(), all);
}

TEST_F(CandidatesPageTest, AFilterTakesEffectWhenTypingRests) {
  QTest::keyClicks(filter, u"id:5"_s);
  EXPECT_TRUE(QTest::qWaitFor([this] { return rows() == 1; }, kDeadlineMs));
}

TEST_F(CandidatesPageTest, AWrongFilterSaysWhereAndKeepsTheList) {
  const int all = rows();
  page.setFilterText(u"status:corect"_s);
  const auto* error = child<QLabel>(page, u"filterError"_s);
  EXPECT_TRUE(error->isVisible());
  EXPECT_EQ(error->text(), u"'corect' is no status; did you mean 'correct'?"_s);
  EXPECT_EQ(rows(), all);
  page.setFilterText(u"status:correct"_s);
  EXPECT_FALSE(error->isVisible());
  EXPECT_LT(rows(), all);
}

TEST_F(CandidatesPageTest, NothingThatMatchesIsSaid) {
  page.setFilterText(u"nothinglikethis"_s);
  EXPECT_EQ(rows(), 0);
  EXPECT_TRUE(child<QLabel>(page, u"emptySentence"_s)->text().startsWith(u"No candidate matches"_s));
}

TEST_F(CandidatesPageTest, PinsTagsNotesAndTheTrashCanBeUndone) {
  selectRows(0, 2);
  const std::vector<CandidateId> chosen = child<AnnotationBar>(page, u"annotationBar"_s)->chosen();
  ASSERT_EQ(chosen.size(), 3U);
  const int all = rows();
  action(u"pinCandidates"_s)->trigger();
  EXPECT_EQ(record.edits.back().pin, chosen);
  auto* tags = child<QLineEdit>(page, u"tagsText"_s);
  tags->setFocus();
  QTest::keyClicks(tags, u"fast, to read"_s);
  QTest::keyClick(tags, Qt::Key_Return);
  EXPECT_EQ(record.edits.back().tag.size(), 6U);
  page.setFilterText(u"tag:fast"_s);
  EXPECT_EQ(rows(), 3);
  page.setFilterText({});
  selectRows(0, 0);
  action(u"trashCandidates"_s)->trigger();
  EXPECT_TRUE(lists(all - 1));
  page.undoStack().undo();
  EXPECT_TRUE(lists(all));
  page.undoStack().undo();
  page.setFilterText(u"tag:fast"_s);
  EXPECT_TRUE(lists(0));
  page.setFilterText(u"pinned"_s);
  EXPECT_TRUE(lists(3));
}

TEST_F(CandidatesPageTest, OneCandidatesTagsAreTakenAwayByDeletingThem) {
  session.selectCandidate(CandidateId(5));
  auto* tags = child<QLineEdit>(page, u"tagsText"_s);
  QTest::keyClicks(tags, u"slow,fast"_s);
  QTest::keyClick(tags, Qt::Key_Return);
  EXPECT_EQ(tags->text(), u"fast, slow"_s) << "although the list may show it later";
  tags->selectAll();
  QTest::keyClicks(tags, u"fast"_s);
  QTest::keyClick(tags, Qt::Key_Return);
  EXPECT_EQ(record.rows[4].annotation.tags, (std::vector<std::string>{"fast"}));
}

TEST_F(CandidatesPageTest, ColumnsAreChosenAndRemembered) {
  const int roof = static_cast<int>(CandidateField::Roof);
  EXPECT_TRUE(table->isColumnHidden(roof));
  auto* menu = child<QMenu>(page, u"columnsMenu"_s);
  Q_EMIT menu->aboutToShow();
  ASSERT_EQ(menu->actions().size(), table->model()->columnCount());
  EXPECT_FALSE(menu->actions().front()->isEnabled());
  const int roofPosition = table->horizontalHeader()->visualIndex(roof);
  menu->actions()[roofPosition]->trigger();
  EXPECT_FALSE(table->isColumnHidden(roof));
  table->sortByColumn(static_cast<int>(CandidateField::Time), Qt::AscendingOrder);
  page.setFilterText(u"pinned"_s);
  QTest::keyClick(filter, Qt::Key_Return);
  CandidatesPage other(session, record);
  other.restoreState(page.saveState());
  const auto* restored = child<QTableView>(other, u"candidateTable"_s);
  EXPECT_FALSE(restored->isColumnHidden(roof));
  EXPECT_EQ(restored->horizontalHeader()->sortIndicatorSection(), static_cast<int>(CandidateField::Time));
  EXPECT_EQ(other.findChild<FilterEdit*>()->history(), QStringList{u"pinned"_s});
  other.restoreState({{QStringLiteral("columns"), QStringLiteral("garbage")}});
}

TEST_F(CandidatesPageTest, AColumnThatHasNoOrderLeavesTheOrderAsItIs) {
  auto* header = table->horizontalHeader();
  table->sortByColumn(static_cast<int>(CandidateField::Note), Qt::AscendingOrder);
  EXPECT_EQ(header->sortIndicatorSection(), static_cast<int>(CandidateField::Speedup));
}

TEST_F(CandidatesPageTest, TheListedCandidatesAreExported) {
  page.setFilterText(u"id:1..3"_s);
  const QSignalSpy asked(&page, &CandidatesPage::exportRequested);
  child<QToolButton>(page, u"csvButton"_s)->click();
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked.front().front().toString(), u"softmax_rows.csv"_s);
  const QSignalSpy finished(&page, &CandidatesPage::exportFinished);
  page.exportCsv(QString::fromStdString((folder / "list.csv").string()));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !finished.isEmpty(); }, kDeadlineMs));
  std::ifstream file(folder / "list.csv");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), 4);
}

TEST_F(CandidatesPageTest, EarlierFiltersComeBackWithUp) {
  page.setFilterText(u"pinned"_s);
  QTest::keyClick(filter, Qt::Key_Return);
  page.setFilterText(u"id:5"_s);
  QTest::keyClick(filter, Qt::Key_Return);
  filter->clear();
  QTest::keyClick(filter, Qt::Key_Up);
  EXPECT_EQ(filter->text(), u"id:5"_s);
  QTest::keyClick(filter, Qt::Key_Up);
  EXPECT_EQ(filter->text(), u"pinned"_s);
  QTest::keyClick(filter, Qt::Key_Down);
  QTest::keyClick(filter, Qt::Key_Down);
  EXPECT_EQ(filter->text(), QString());
}

TEST_F(CandidatesPageTest, PresetsWriteTheirFilter) {
  const auto* menu = child<QMenu>(page, u"presetsMenu"_s);
  const int all = rows();
  for (QAction* preset : menu->actions()) {
    preset->trigger();
    EXPECT_EQ(filter->text(), preset->data().toString());
    EXPECT_FALSE(child<QLabel>(page, u"filterError"_s)->isVisible()) << preset->text().toStdString();
  }
  page.setFilterText(u"failed"_s);
  EXPECT_GT(rows(), 0);
  EXPECT_LT(rows(), all);
}

TEST_F(CandidatesPageTest, GroupsFoldByKeyAndByDoubleClick) {
  child<QComboBox>(page, u"groupBy"_s)->setCurrentIndex(static_cast<int>(GroupBy::Operator));
  ASSERT_TRUE(swage::testing::waitFor([&] { return rows() > 0; }));
  const int folded = rows();
  EXPECT_LT(folded, 15);
  table->setFocus();
  table->setCurrentIndex(table->model()->index(0, 0));
  QTest::keyClick(table, Qt::Key_Right);
  EXPECT_GT(rows(), folded);
  QTest::keyClick(table, Qt::Key_Left);
  EXPECT_EQ(rows(), folded);
  const QSignalSpy opened(&page, &CandidatesPage::candidateOpened);
  QTest::keyClick(table, Qt::Key_Return);
  EXPECT_GT(rows(), folded);
  EXPECT_EQ(opened.size(), 0) << "a group is no candidate";
}

TEST_F(CandidatesPageTest, AnEmptyColumnOfRegistersIsNotShown) {
  const int registers = static_cast<int>(CandidateField::Registers);
  EXPECT_TRUE(table->isColumnHidden(registers)) << "the demo's run is on a CPU";
  record.runRows.front().target = "cuda";
  session.showRun(swage::testing::kDemoRun);
  EXPECT_FALSE(table->isColumnHidden(registers));
  const int tags = table->columnViewportPosition(static_cast<int>(CandidateField::Tags));
  EXPECT_LT(tags, table->viewport()->width()) << "what one says about candidates is in sight";
}

// The menu that every page shares.
class CandidateMenuTest : public CandidatesPageTest {
 protected:
  CandidateMenuTest() {
    const auto note = [this](const char* what) {
      return
          [this, what](CandidateId id) { done.push_back(u"%1 %2"_s.arg(QString::fromLatin1(what)).arg(id.value())); };
    };
    commands = {.open = note("open"),
                .showLineage = note("lineage"),
                .showConversation = note("conversation"),
                .profile = note("profile"),
                .exportKernel = note("export"),
                .useAsBaseline = note("baseline"),
                .compare = [this](CandidateId a,
                                  CandidateId b) { done.push_back(u"compare %1 %2"_s.arg(a.value()).arg(b.value())); },
                .askText = [this](QWidget*, const QString&, const QString&,
                                  const std::function<void(const QString&)>& answered) { answered(answer); }};
  }
  [[nodiscard]] QStringList fill(const std::vector<CandidateId>& ids) {
    menu.clear();
    CandidateMenu(session, record, page.annotations(), commands).fill(menu, ids);
    QStringList names;
    for (const QAction* one : menu.actions()) {
      if (!one->isSeparator()) {
        names.push_back(one->objectName());
      }
    }
    return names;
  }
  void trigger(const std::vector<CandidateId>& ids, const QString& name) {
    menu.clear();
    CandidateMenu shared(session, record, page.annotations(), commands);
    shared.fill(menu, ids);
    auto* found = menu.findChild<QAction*>(name);
    ASSERT_NE(found, nullptr) << name.toStdString();
    EXPECT_TRUE(found->isEnabled()) << name.toStdString();
    found->trigger();
  }
  [[nodiscard]] CandidateId best() const { return session.summary()->best; }

  CandidateCommands commands;
  QMenu menu;
  QStringList done;
  QString answer;
};

TEST_F(CandidateMenuTest, OffersForOneWhatCanBeDoneWithIt) {
  EXPECT_EQ(fill({best()}),
            (QStringList{u"menuOpen"_s, u"menuCompareBest"_s, u"menuCompareParent"_s, u"menuLineage"_s,
                         u"menuConversation"_s, u"menuProfile"_s, u"menuExport"_s, u"menuBaseline"_s, u"menuPin"_s,
                         u"menuTags"_s, u"menuNote"_s, u"menuTrash"_s, u"menuCopyIds"_s}));
  EXPECT_FALSE(menu.findChild<QAction*>(u"menuCompareBest"_s)->isEnabled()) << "it is the best itself";
  for (const QString& name : {u"menuOpen"_s, u"menuLineage"_s, u"menuProfile"_s, u"menuExport"_s, u"menuBaseline"_s}) {
    trigger({best()}, name);
  }
  EXPECT_EQ(done.size(), 5);
  EXPECT_TRUE(done.front().startsWith(u"open "_s));
}

TEST_F(CandidateMenuTest, ShowsTheConversationOfALanguageModelAlone) {
  const auto isOffered = [this](const domain::ProposerName& madeBy) {
    record.rows[2].madeBy = madeBy;
    EXPECT_TRUE(fill({CandidateId(3)}).contains(u"menuConversation"_s));
    return menu.findChild<QAction*>(u"menuConversation"_s)->isEnabled();
  };
  EXPECT_FALSE(isOffered(domain::OperatorKind::Crossover));
  EXPECT_FALSE(isOffered(*domain::ProposerName::parse("mcp/claude code"))) << "nobody here knows what it was asked";
  EXPECT_TRUE(isOffered(*domain::ProposerName::parse("fast")));
  trigger({CandidateId(3)}, u"menuConversation"_s);
  EXPECT_EQ(done, QStringList{u"conversation 3"_s});
}

TEST_F(CandidateMenuTest, ComparesTwoAndSaysSomethingAboutMany) {
  trigger({CandidateId(3), CandidateId(5)}, u"menuCompareTwo"_s);
  EXPECT_EQ(done, QStringList{u"compare 3 5"_s});
  trigger({CandidateId(3), CandidateId(5)}, u"menuPin"_s);
  EXPECT_TRUE(record.rows[2].annotation.pinned);
  EXPECT_TRUE(record.rows[4].annotation.pinned);
  answer = u"fast, to read"_s;
  trigger({CandidateId(3)}, u"menuTags"_s);
  EXPECT_EQ(record.rows[2].annotation.tags.size(), 2U);
  answer = u"-fast"_s;
  trigger({CandidateId(3)}, u"menuTags"_s);
  EXPECT_EQ(record.rows[2].annotation.tags, std::vector<std::string>{"to read"});
  page.undoStack().undo();
  page.undoStack().undo();
  EXPECT_TRUE(record.rows[2].annotation.tags.empty()) << "undone as if it was done on the page";
}

TEST_F(CandidateMenuTest, WhatTheWindowCannotDoIsLeftOut) {
  commands = {};
  EXPECT_EQ(fill({best()}), (QStringList{u"menuPin"_s, u"menuTrash"_s, u"menuCopyIds"_s}));
  EXPECT_TRUE(fill({CandidateId(99999)}).isEmpty()) << "there is no such candidate";
}

TEST_F(CandidateMenuTest, TheTableHasItWithItsOwnKeys) {
  CandidateMenu shared(session, record, page.annotations(), commands);
  page.setMenu(&shared);
  selectRows(0, 1);
  Q_EMIT table->customContextMenuRequested(QPoint(5, 5));
  auto* shown = child<QMenu>(page, u"candidateMenu"_s);
  EXPECT_NE(shown->findChild<QAction*>(u"menuCompareTwo"_s), nullptr);
  EXPECT_TRUE(shown->actions().contains(action(u"pinCandidates"_s)));
  shown->close();
}

TEST_F(CandidatesPageTest, EveryControlHasANameForAScreenReader) {
  for (const QString& name :
       {u"filterText"_s, u"statusFilter"_s, u"groupBy"_s, u"filterPresets"_s, u"columnsButton"_s, u"csvButton"_s,
        u"pinButton"_s, u"tagsText"_s, u"noteText"_s, u"trashButton"_s, u"candidateTable"_s}) {
    EXPECT_FALSE(child<QWidget>(page, name)->accessibleName().isEmpty()) << name.toStdString();
  }
}

}  // namespace
}  // namespace swage::ui
