// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>

#include "tests/ui/history_fixture.h"
#include "ui/models/candidate_table_model.h"
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
  menu->actions()[roof]->trigger();
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

TEST_F(CandidatesPageTest, EveryControlHasANameForAScreenReader) {
  for (const QString& name : {u"filterText"_s, u"statusFilter"_s, u"columnsButton"_s, u"csvButton"_s, u"pinButton"_s,
                              u"tagsText"_s, u"noteText"_s, u"trashButton"_s, u"candidateTable"_s}) {
    EXPECT_FALSE(child<QWidget>(page, name)->accessibleName().isEmpty()) << name.toStdString();
  }
}

}  // namespace
}  // namespace swage::ui
