// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QFile>
#include <QItemSelectionModel>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"
#include "tests/ui/demo_data.h"
#include "ui/models/annotation_editor.h"
#include "ui/models/candidate_table_model.h"
#include "ui/models/csv_export.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::CandidateId;

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

domain::Filter filterOf(std::string_view text) {
  return domain::parseFilter(text, domain::candidateFilterKeys()).value();
}

class SlowCandidateTable : public ::testing::Test {
 protected:
  SlowCandidateTable() {
    swage::testing::fillDemo(record);
    model.setRun(swage::testing::kDemoRun);
    record.isSlow = true;
  }
  // At once, or after the rest that a search takes on a slow machine.
  [[nodiscard]] bool startRefresh() {
    model.refresh();
    return QTest::qWaitFor([this] { return model.isSearching(); }, kDeadlineMs);
  }
  // The answers come through the event loop.
  [[nodiscard]] bool waitForSearch() {
    record.answerAll();
    return QTest::qWaitFor([this] { return !model.isSearching(); }, kDeadlineMs);
  }

  swage::testing::FakeRecordService record;
  CandidateTableModel model{record};
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::Warning};
};

TEST_F(SlowCandidateTable, ShowsWhatItHasUntilTheAnswerComes) {
  const int all = model.rowCount();
  model.setFilter(filterOf("status:correct"));
  EXPECT_TRUE(model.isSearching());
  EXPECT_EQ(model.rowCount(), all);
  ASSERT_TRUE(waitForSearch());
  EXPECT_LT(model.rowCount(), all);
  EXPECT_EQ(model.rowAt(0)->status, domain::CandidateStatus::Correct);
}

TEST_F(SlowCandidateTable, OnlyTheNewestQuestionCounts) {
  model.setFilter(filterOf("status:wrong"));
  model.setFilter(filterOf("id:5"));
  model.sort(static_cast<int>(CandidateField::Speedup), Qt::DescendingOrder);
  ASSERT_TRUE(waitForSearch());
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.candidateAt(0), CandidateId(5));
}

TEST_F(SlowCandidateTable, AnAnswerAfterItHasGoneIsNoTrouble) {
  auto other = std::make_unique<CandidateTableModel>(record);
  other->setRun(swage::testing::kDemoRun);
  other.reset();
  record.answerAll();
  testing::turnEventLoop();
  EXPECT_FALSE(model.isSearching());
}

TEST_F(SlowCandidateTable, SeveralRefreshesAreOneMore) {
  const QSignalSpy searches(&model, &CandidateTableModel::searched);
  ASSERT_TRUE(startRefresh());
  model.refresh();
  model.refresh();
  record.isSlow = false;
  record.answerAll();
  EXPECT_TRUE(QTest::qWaitFor([&] { return searches.size() == 2; }, kDeadlineMs));
  testing::turnEventLoop();
  EXPECT_EQ(searches.size(), 2);
}

TEST_F(SlowCandidateTable, ASelectionOfManyIsKnownWithoutReadingThem) {
  QItemSelectionModel selection(&model);
  const int before = record.queries;
  selection.select(QItemSelection(model.index(10, 0), model.index(400, model.columnCount() - 1)),
                   QItemSelectionModel::Select);
  const std::vector<CandidateId> ids = model.idsOf(selection.selection());
  EXPECT_EQ(ids.size(), 391U);
  EXPECT_EQ(ids.front(), model.candidateAt(10));
  EXPECT_EQ(record.queries, before);
}

TEST_F(SlowCandidateTable, ShowsAnnotations) {
  record.rows[0].annotation = {true, false, {"fast", "to read"}, "first line\nsecond"};
  ASSERT_TRUE(startRefresh());
  ASSERT_TRUE(waitForSearch());
  const auto text = [&](CandidateField field) { return model.index(0, static_cast<int>(field)).data().toString(); };
  EXPECT_EQ(text(CandidateField::Tags), u"★ fast, to read"_s);
  EXPECT_EQ(text(CandidateField::Note), u"first line"_s);
  EXPECT_EQ(model.index(0, static_cast<int>(CandidateField::Note)).data(Qt::ToolTipRole).toString(),
            u"first line\nsecond"_s);
}

class AnnotationEditing : public ::testing::Test {
 protected:
  AnnotationEditing() { swage::testing::fillDemo(record); }
  [[nodiscard]] const domain::Annotation& first() const { return record.rows[0].annotation; }

  swage::testing::FakeRecordService record;
  AnnotationEditor editor{record};
};

TEST_F(AnnotationEditing, CanBeUndoneAndDoneAgain) {
  editor.apply({.pin = {CandidateId(1)}, .note = {{CandidateId(1), "so"}}}, u"Pin"_s);
  EXPECT_EQ(first(), (domain::Annotation{true, false, {}, "so"}));
  EXPECT_EQ(editor.undoStack().undoText(), u"Pin"_s);
  editor.undoStack().undo();
  EXPECT_EQ(first(), domain::Annotation());
  editor.undoStack().redo();
  EXPECT_EQ(first(), (domain::Annotation{true, false, {}, "so"}));
}

TEST_F(AnnotationEditing, UndoesOnlyWhatItChanged) {
  record.rows[0].annotation.pinned = true;
  editor.apply({.pin = {CandidateId(1), CandidateId(2)}}, u"Pin"_s);
  editor.undoStack().undo();
  EXPECT_TRUE(first().pinned);
  EXPECT_FALSE(record.rows[1].annotation.pinned);
}

TEST_F(AnnotationEditing, AnUndoBeforeTheAnswerWaitsForIt) {
  record.isSlow = true;
  editor.apply({.trash = {CandidateId(1)}}, u"Trash"_s);
  editor.undoStack().undo();
  EXPECT_EQ(record.edits.size(), 1U);
  record.answerAll();
  ASSERT_TRUE(QTest::qWaitFor([&] { return record.edits.size() == 2; }, kDeadlineMs));
  EXPECT_TRUE(first().trashed);
  record.answerAll();
  EXPECT_FALSE(first().trashed);
}

TEST_F(AnnotationEditing, AFailureChangesNothingAndIsTold) {
  const QSignalSpy failures(&editor, &AnnotationEditor::failed);
  record.failure = Error(ErrorKind::Storage, "database is locked");
  editor.apply({.pin = {CandidateId(1)}}, u"Pin"_s);
  EXPECT_EQ(failures.size(), 1);
  record.failure.reset();
  editor.undoStack().undo();  // of nothing
  EXPECT_EQ(record.edits.back(), domain::AnnotationEdit());
}

TEST(CsvExport, WritesWhatIsListedWithPointsAndQuotes) {
  swage::testing::FakeRecordService record;
  swage::testing::fillDemo(record);
  record.rows[1].annotation = {true, false, {"a", "b"}, "say \"so\",\nplease"};
  const swage::testing::TempDir folder;
  const QString file = QString::fromStdString((folder / "out.csv").string());
  auto ids = std::make_shared<std::vector<CandidateId>>();
  for (const auto& row : record.rows) {
    ids->push_back(row.id);
  }
  CsvExport csv(record, ids, file);
  const QSignalSpy finished(&csv, &CsvExport::finished);
  csv.start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !finished.isEmpty(); }, kDeadlineMs));
  QFile written(file);
  ASSERT_TRUE(written.open(QIODevice::ReadOnly));
  const QByteArray text = written.readAll();
  EXPECT_TRUE(text.startsWith(csvHeader() + '\n' + csvLine(record.rows[0]) + '\n'));
  EXPECT_TRUE(text.contains(",1,0,a; b,\"say \"\"so\"\",\nplease\","));
  EXPECT_EQ(text.count('\n'), static_cast<qsizetype>(record.rows.size()) + 2);
}

TEST(CsvExport, LeavesNoFileWhenItIsGivenUpOrFails) {
  swage::testing::FakeRecordService record;
  swage::testing::fillDemo(record);
  const swage::testing::TempDir folder;
  const QString file = QString::fromStdString((folder / "out.csv").string());
  auto ids = std::make_shared<std::vector<CandidateId>>(std::vector{CandidateId(1), CandidateId(2)});
  CsvExport given(record, ids, file);
  const QSignalSpy ends(&given, &CsvExport::finished);
  given.start();
  given.cancel();
  EXPECT_EQ(ends.size(), 1);
  EXPECT_FALSE(QFile::exists(file));
  CsvExport failing(record, ids, QString::fromStdString((folder / "no" / "out.csv").string()));
  Result<> result;
  QObject::connect(&failing, &CsvExport::finished, &failing, [&result](const Result<>& end) { result = end; });
  failing.start();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::Io);
}

}  // namespace
}  // namespace swage::ui
