// SPDX-License-Identifier: Apache-2.0
#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "tests/ui/history_fixture.h"
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
    older.status = "interrupted";
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
  EXPECT_EQ(child<QLabel>(page, u"runCount"_s)->text(), u"1 run"_s);
}

}  // namespace
}  // namespace swage::ui
