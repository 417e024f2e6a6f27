// SPDX-License-Identifier: Apache-2.0
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>

#include <algorithm>

#include "tests/ui/history_fixture.h"
#include "ui/models/format.h"
#include "ui/models/run_comparison.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/run_comparison_dialog.h"
#include "ui/pages/runs_page.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using swage::testing::HistoryPage;

class RunsPageTest : public HistoryPage {
 protected:
  RunsPageTest() {
    services::RunSummary older = record.runRows.front();
    older.id = domain::RunId(3);
    older.taskName = "matmul";
    older.status = domain::RunStatus::Interrupted;
    record.runRows.insert(record.runRows.begin(), older);
    session.showRun(swage::testing::kDemoRun);
    show(page);
    table = child<QTableView>(page, u"runTable"_s);
  }

  RunsPage page{session, record};
  QTableView* table = nullptr;
};

TEST_F(RunsPageTest, ListsEveryRunAndMarksTheShownOne) {
  ASSERT_EQ(table->model()->rowCount(), 2);
  EXPECT_EQ(table->model()->index(0, 0).data().toString(), u"r7"_s);
  EXPECT_EQ(table->currentIndex().row(), 0);
  EXPECT_EQ(child<QLabel>(page, u"runCount"_s)->text(), u"2 runs in this project"_s);
  EXPECT_EQ(child<QLabel>(page, u"runCount"_s)->toolTip(), toQString(folder.path().string()));
}

TEST_F(RunsPageTest, ADoubleClickShowsARun) {
  const QRect place = table->visualRect(table->model()->index(1, 1));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, place.center());
  QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, place.center());
  EXPECT_EQ(session.shownRun(), domain::RunId(3));
}

TEST_F(RunsPageTest, StaysWithTheRunThatIsSearching) {
  session.start({});
  page.grab();
  run.create(swage::testing::kDemoRun);
  table->setCurrentIndex(table->model()->index(1, 0));
  Q_EMIT table->activated(table->model()->index(1, 0));
  EXPECT_EQ(session.shownRun(), swage::testing::kDemoRun);
}

TEST_F(RunsPageTest, CanBeFiltered) {
  auto* filter = child<QLineEdit>(page, u"filterText"_s);
  QTest::keyClicks(filter, u"task:matmul"_s);
  QTest::keyClick(filter, Qt::Key_Return);
  EXPECT_EQ(table->model()->rowCount(), 1);
  EXPECT_EQ(child<QLabel>(page, u"runCount"_s)->text(), u"1 of 2 runs in this project"_s);
}

TEST_F(RunsPageTest, HasAMenuForOneAndForTwo) {
  page.offerReports();
  const QSignalSpy reported(&page, &RunsPage::reportRequested);
  const QSignalSpy compared(&page, &RunsPage::compareRequested);
  const auto openMenu = [this] {
    Q_EMIT table->customContextMenuRequested(QPoint(5, 5));
    return child<QMenu>(page, u"runMenu"_s);
  };
  table->selectRow(1);
  QMenu* menu = openMenu();
  menu->findChild<QAction*>(u"exportReport"_s)->trigger();
  EXPECT_EQ(reported.count(), 1);
  menu->findChild<QAction*>(u"openRun"_s)->trigger();
  EXPECT_EQ(session.shownRun(), domain::RunId(3));
  menu->close();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  table->selectAll();
  menu = openMenu();
  menu->findChild<QAction*>(u"compareBest"_s)->trigger();
  EXPECT_EQ(compared.count(), 1);
  menu->findChild<QAction*>(u"compareRuns"_s)->trigger();
  menu->close();
  const auto* dialog = page.findChild<RunComparisonDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_TRUE(dialog->isVisible());
}

// Another project with one run, which was opened lately, and a folder that is gone.
class RunsOfProjects : public RunsPageTest {
 protected:
  RunsOfProjects() {
    std::ofstream(other / "runs.sqlite").flush();
    page.setOtherProjects(
        [this](const std::filesystem::path&) {
          auto opened = std::make_shared<swage::testing::FakeRecordService>();
          opened->runRows = {record.runRows.back()};
          opened->runRows[0].id = domain::RunId(1);
          opened->runRows[0].taskName = "attention";
          opened->runRows[0].startedAtMs = record.runRows.back().startedAtMs + 1000;
          return Result<std::shared_ptr<services::RecordService>>(std::move(opened));
        },
        {});
    page.setRecentProjects([this] {
      return QStringList{toQString(folder.path().string()), u"/nowhere"_s, toQString(other.path().string())};
    });
    scope = child<QComboBox>(page, u"runScope"_s);
  }
  [[nodiscard]] QString text(int row, RunColumn column) const {
    return table->model()->index(row, static_cast<int>(column)).data().toString();
  }

  swage::testing::TempDir other;
  QComboBox* scope = nullptr;
};

TEST_F(RunsOfProjects, AreListedWithTheirProjectWhenAskedFor) {
  EXPECT_TRUE(scope->isVisible());
  EXPECT_TRUE(table->isColumnHidden(static_cast<int>(RunColumn::Project)));
  scope->setCurrentIndex(1);
  ASSERT_EQ(table->model()->rowCount(), 3);
  EXPECT_FALSE(table->isColumnHidden(static_cast<int>(RunColumn::Project)));
  EXPECT_EQ(text(0, RunColumn::Task), u"attention"_s) << "the newest first";
  EXPECT_EQ(text(0, RunColumn::Project), toQString(other.path().filename().string()));
  EXPECT_EQ(text(1, RunColumn::Project), QString());
  EXPECT_EQ(child<QLabel>(page, u"runCount"_s)->text(), u"3 runs"_s);
  scope->setCurrentIndex(0);
  EXPECT_EQ(table->model()->rowCount(), 2);
}

TEST_F(RunsOfProjects, AreOpenedWithTheirProject) {
  const QSignalSpy opened(&page, &RunsPage::runOfProjectRequested);
  scope->setCurrentIndex(1);
  Q_EMIT table->activated(table->model()->index(0, 0));
  ASSERT_EQ(opened.count(), 1);
  EXPECT_EQ(opened[0][0].value<std::filesystem::path>(), std::filesystem::canonical(other.path()));
  EXPECT_EQ(opened[0][1].value<domain::RunId>(), domain::RunId(1));
  EXPECT_EQ(session.shownRun(), swage::testing::kDemoRun) << "whoever opens projects does it";
}

TEST_F(RunsOfProjects, AreComparedWithThoseOfThisOne) {
  const QSignalSpy compared(&page, &RunsPage::compareRequested);
  scope->setCurrentIndex(1);
  table->clearSelection();
  table->selectRow(0);
  table->selectionModel()->select(table->model()->index(1, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  Q_EMIT table->customContextMenuRequested(QPoint(5, 5));
  auto* menu = child<QMenu>(page, u"runMenu"_s);
  menu->findChild<QAction*>(u"compareBest"_s)->trigger();
  menu->close();
  ASSERT_EQ(compared.count(), 1);
  const auto left = compared[0][0].value<CandidateRef>();
  const auto right = compared[0][1].value<CandidateRef>();
  EXPECT_NE(left.record == nullptr, right.record == nullptr) << "one is of this project";
}

TEST_F(RunsPageTest, RunsAreComparedByWhatTheyFoundAndHowSoon) {
  services::RunSummary better = record.runRows.back();
  better.bestSpeedup = {4.0, 3.9, 4.1};
  better.seed = 7;
  better.status = domain::RunStatus::Interrupted;
  ComparedRun left{.from = {nullptr, {}, record.runRows.back()}, .history = record.points, .cells = record.cellRows};
  left.from.run.bestSpeedup = {2.0, 1.9, 2.1};
  ComparedRun right = left;
  right.from.run = better;
  right.from.run.taskName = left.from.run.taskName;
  const auto find = [&](const QString& name) {
    const std::vector<ComparisonRow> rows = compareRuns(left, right);
    const auto found = std::find_if(rows.begin(), rows.end(), [&name](const auto& row) { return row.name == name; });
    EXPECT_NE(found, rows.end()) << name.toStdString();
    return found == rows.end() ? ComparisonRow() : *found;
  };
  EXPECT_EQ(find(u"Best speedup"_s).delta.verdict, Verdict::Better);
  EXPECT_EQ(find(u"Seed"_s).right, u"7"_s);
  EXPECT_EQ(find(u"Status"_s).right, u"stopped"_s);
  EXPECT_EQ(find(u"Time to best"_s).left, formatDuration(record.points.back().elapsedSeconds));
  EXPECT_TRUE(find(u"Cells filled"_s).left.contains(u" of "_s));
  right.from.run.taskName = "another";
  EXPECT_EQ(find(u"Best speedup"_s).delta.verdict, Verdict::Unknown) << "speedups on other tasks say nothing";
}

}  // namespace
}  // namespace swage::ui
