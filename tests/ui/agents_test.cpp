// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <cmath>

#include "tests/ui/demo_activity.h"
#include "tests/ui/demo_data.h"
#include "ui/charts/decimate.h"
#include "ui/charts/small_multiples.h"
#include "ui/charts/timeline_chart.h"
#include "ui/models/lane_model.h"
#include "ui/models/proposer_grid_model.h"
#include "ui/models/search_activity.h"
#include "ui/pages/agents_page.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/series_colors.h"
#include "ui/widgets/share_delegate.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using Tester = QAbstractItemModelTester;

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

QString textAt(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

double luminance(const QColor& color) {
  const auto linear = [](double part) {
    return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double lighter = std::max(luminance(a), luminance(b));
  return (lighter + 0.05) / (std::min(luminance(a), luminance(b)) + 0.05);
}

TEST(SeriesColors, AreSeenOnBothThemes) {
  for (const ui::Theme* theme : {&ui::Theme::light(), &ui::Theme::darkTheme()}) {
    for (std::size_t i = 0; i < ui::kSeriesColors; ++i) {
      EXPECT_GE(contrast(ui::seriesColor(*theme, i), theme->base), 3.0) << i;
    }
  }
}

TEST(Decimate, KeepsEveryPeakAndBothEnds) {
  QList<QPointF> points;
  for (int i = 0; i < 100000; ++i) {
    points.append({i * 1.0, i == 61803 ? 9.0 : i == 40000 ? -3.0 : std::sin(i / 500.0)});
  }
  const QList<QPointF> kept = ui::decimate(points, 400);
  EXPECT_LE(kept.size(), 400);
  EXPECT_TRUE(kept.contains(QPointF(61803.0, 9.0)));
  EXPECT_TRUE(kept.contains(QPointF(40000.0, -3.0)));
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(), [](auto a, auto b) { return a.x() < b.x(); }));
  EXPECT_EQ(ui::decimate(points.first(3), 400), points.first(3));
}

TEST(Steps, LeadFromPointToPointAndOnToNow) {
  EXPECT_EQ(ui::steps({{1.0, 2.0}, {3.0, 5.0}}, 4.0), (QList<QPointF>{{1.0, 2.0}, {3.0, 2.0}, {3.0, 5.0}, {4.0, 5.0}}));
  EXPECT_TRUE(ui::steps({}, 4.0).isEmpty());
}

TEST(TimelineChart, DrawsLittleAndTakesAwayEverything) {
  ui::TimelineChart chart({u"Credit"_s, u"%"_s, {}});
  QList<QPointF> points;
  for (int i = 0; i < 5000; ++i) {
    points.append({i * 0.5, 50.0 + (i % 7)});
  }
  chart.setSeries({{.name = u"merge"_s, .points = points}, {.name = u"split"_s, .points = points}}, 2500.0);
  EXPECT_LE(chart.pointsDrawn(), 2 * 400);
  EXPECT_EQ(chart.chartTable().rows.size(), 10000U);
  EXPECT_EQ(chart.chartTable().rows.front(), (QStringList{u"merge"_s, u"0"_s, u"50"_s}));
  EXPECT_FALSE(chart.grab().isNull());
}

TEST(LaneModel, SaysWhatEachLaneDoes) {
  ui::LaneModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.updateRows(demoLanes(54.0));
  ASSERT_EQ(model.rowCount(), 6);
  using Column = ui::LaneColumn;
  const auto text = [&model](int row, Column column) { return textAt(model, row, static_cast<int>(column)); };
  EXPECT_EQ(text(0, Column::Name), u"GPU 0, Example GPU"_s);
  EXPECT_EQ(text(0, Column::Doing), u"timing #741"_s);
  EXPECT_EQ(text(0, Column::Since), u"1 s"_s);
  EXPECT_EQ(text(0, Column::Busy), u"81 %"_s);
  EXPECT_EQ(text(0, Column::Replaced), u"–"_s);
  EXPECT_EQ(text(1, Column::Doing), u"lost"_s);
  EXPECT_EQ(text(1, Column::Replaced), u"2"_s);
  EXPECT_TRUE(model.index(1, 0).data(ui::LaneModel::LostRole).toBool());
  EXPECT_TRUE(text(1, Column::LastEnd).startsWith(u"the device is given up"_s));
}

TEST(LaneModel, ChangesInPlaceWhileTheLanesStay) {
  ui::LaneModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.updateRows(demoLanes(10.0));
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
  model.updateRows(demoLanes(20.0));
  EXPECT_EQ(resets.count(), 0);
  EXPECT_EQ(changes.count(), 1);
  model.updateRows({});
  EXPECT_EQ(resets.count(), 1);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(LaneModel, ALifeThatNobodyKnowsHasNoShare) {
  ui::LaneModel model;
  services::LaneStatus compilers;
  compilers.name = "compilers";
  compilers.busySeconds = 12.0;
  model.updateRows({compilers});
  const auto busy = model.index(0, static_cast<int>(ui::LaneColumn::Busy));
  EXPECT_EQ(busy.data().toString(), u"–"_s);
  EXPECT_FALSE(busy.data(ui::LaneModel::BusyShareRole).isValid());
}

services::ProposerReport smallReport() {
  services::ProposerReport report;
  report.proposers = {{"synthesis", 0.5, 0.25}, {"coder and judge 1", 0.75, 0.75}};
  report.tallies = {{"synthesis", 0, 8, 4, 2, 1, domain::CandidateId(31), "wrong"},
                    {"coder and judge 1", 2, 1200, 600, 9, 3, domain::CandidateId(1231), "correct"},
                    {"human", 1, 1, 1, 0, 0, domain::CandidateId(900), "correct"}};
  return report;
}

TEST(ProposerGridModel, HasARowForWhoeverProposesAndAColumnForEachIsland) {
  ui::ProposerGridModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.setReport(smallReport());
  using Grid = ui::ProposerGridModel;
  ASSERT_EQ(model.rowCount(), 3);
  ASSERT_EQ(model.columnCount(), Grid::FirstIsland + 3);
  EXPECT_EQ(model.headerData(Grid::FirstIsland + 2, Qt::Horizontal).toString(), u"Island 2"_s);
  EXPECT_EQ(textAt(model, 1, Grid::NameColumn), u"coder and judge 1"_s);
  EXPECT_EQ(textAt(model, 1, Grid::CreditColumn), u"75 %"_s);
  EXPECT_EQ(textAt(model, 0, Grid::ShareColumn), u"25 %"_s);
  EXPECT_EQ(textAt(model, 2, Grid::CreditColumn), u"–"_s) << "a person does not compete for proposals";
  EXPECT_EQ(textAt(model, 1, Grid::FirstIsland + 2), u"1,200 proposed, 50 % correct, 3 elites, #1231 correct"_s);
  EXPECT_EQ(textAt(model, 0, Grid::FirstIsland + 1), u"–"_s) << "it has proposed nothing there";
  EXPECT_EQ(model.candidateAt(model.index(0, Grid::FirstIsland)), domain::CandidateId(31));
  EXPECT_FALSE(model.candidateAt(model.index(0, Grid::NameColumn)).isValid());
}

TEST(ProposerGridModel, ChangesInPlaceUntilSomebodyNewComes) {
  ui::ProposerGridModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  services::ProposerReport report = smallReport();
  model.setReport(report);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  ++report.tallies[0].proposed;
  model.setReport(report);
  EXPECT_EQ(resets.count(), 0);
  report.proposers.push_back({"merge", 0.1, 0.1});
  model.setReport(report);
  EXPECT_EQ(resets.count(), 1);
  model.setReport({});
  EXPECT_EQ(model.rowCount(), 0);
}

class AgentsTest : public ::testing::Test {
 protected:
  AgentsTest() {
    fillDemo(record);
    fillDemoActivity(record);
  }
  // A search over a new run, up to its first report.
  void startLive() {
    session.start({});
    run.enter(services::RunState::Running);
    run.create(kDemoRun);
  }
  void report(double seconds) {
    services::Progress progress = demoProgress(record);
    progress.elapsedSeconds = seconds;
    Q_EMIT run.progressed(progress);
    Q_EMIT run.lanesChanged(demoLanes(seconds));
    Q_EMIT run.proposersChanged(demoReport(record, seconds));
  }

  FakeRunService run;
  FakeRecordService record;
  ui::ProjectSession session{run, record};
};

TEST_F(AgentsTest, ARecordedRunIsShownFromItsRecord) {
  session.openProject("/nonexistent");
  const ui::SearchActivity activity(session, run, record);
  ASSERT_TRUE(session.project() == "/nonexistent");
  session.start({});
  run.create(kDemoRun);  // opens the record
  run.finish({});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !activity.timeline().empty(); }, kDeadlineMs));
  EXPECT_FALSE(activity.isLive());
  EXPECT_EQ(activity.lanes().size(), 6U);
  EXPECT_EQ(activity.report().tallies.size(), record.runActivity.report.tallies.size());
}

TEST_F(AgentsTest, TenThousandReportsReachAPageOnceAFrameAndStayFew) {
  record.runActivity = {};
  ui::SearchActivity activity(session, run, record);
  startLive();
  QSignalSpy changes(&activity, &ui::SearchActivity::proposersChanged);
  services::ProposerReport one = demoReport(record, 1.0);
  for (int i = 0; i < 10000; ++i) {
    one.elapsedSeconds = 1.0 + i * 0.01;
    Q_EMIT run.proposersChanged(one);
  }
  ASSERT_TRUE(changes.wait(kDeadlineMs));
  EXPECT_LE(changes.count(), 3);
  EXPECT_LE(activity.timeline().size(), 4096U);
  EXPECT_DOUBLE_EQ(activity.timeline().back().elapsedSeconds, one.elapsedSeconds);
  EXPECT_LT(activity.timeline().front().elapsedSeconds, 2.0) << "thinned, not cut off";
}

TEST_F(AgentsTest, AResumedRunBeginsWithWhatItsRecordHas) {
  record.isSlow = true;  // the record answers when the search goes on already
  const ui::SearchActivity activity(session, run, record);
  startLive();
  report(60.0);
  report(60.5);
  record.answerAll();
  ASSERT_TRUE(QTest::qWaitFor([&] { return activity.timeline().size() > 2; }, kDeadlineMs));
  EXPECT_LT(activity.timeline().front().elapsedSeconds, 1.0);
  EXPECT_DOUBLE_EQ(activity.timeline().back().elapsedSeconds, 60.5);
  EXPECT_TRUE(std::is_sorted(activity.timeline().begin(), activity.timeline().end(),
                             [](const auto& a, const auto& b) { return a.elapsedSeconds < b.elapsedSeconds; }));
  EXPECT_DOUBLE_EQ(activity.report().elapsedSeconds, 60.5) << "what is live is newer";
}

TEST_F(AgentsTest, ThePageSaysHowLongItStillTakesAndWhy) {
  ui::AgentsPage page(session, run, record);
  page.show();
  EXPECT_TRUE(page.findChild<ui::EmptyState*>()->isEmpty()) << "nothing is shown yet";
  startLive();
  report(20.0);
  auto* left = page.findChild<QLabel*>(u"timeLeft"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return left->text() == u"about 0:40 left"_s; }, kDeadlineMs));
  EXPECT_TRUE(page.findChild<QLabel*>(u"timeLeftReason"_s)->text().startsWith(u"time limit of 1:00"_s));
  services::Progress progress = demoProgress(record);
  progress.budgetSeconds = 0.0;
  progress.maxEvaluations = progress.evaluations + 137;
  Q_EMIT run.progressed(progress);
  ASSERT_TRUE(QTest::qWaitFor([&] { return left->text() == u"about 0:10 left"_s; }, kDeadlineMs));
  run.enter(services::RunState::Paused);
  EXPECT_EQ(left->text(), u"paused"_s);
  record.runRows.front().status = domain::RunStatus::Interrupted;
  run.finish({});
  EXPECT_EQ(left->text(), u"run 7: stopped"_s);
}

TEST_F(AgentsTest, ThePageShowsLanesGridAndCharts) {
  ui::AgentsPage page(session, run, record);
  page.resize(1100, 900);
  page.show();
  startLive();
  report(20.0);
  report(30.0);
  auto* lanes = page.findChild<QTableView*>(u"laneTable"_s);
  auto* grid = page.findChild<QTableView*>(u"proposerGrid"_s);
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return lanes->model()->rowCount() == 6 && grid->model()->rowCount() > 5; }, kDeadlineMs));
  EXPECT_EQ(grid->model()->columnCount(), ui::ProposerGridModel::FirstIsland + 4);
  EXPECT_GE(lanes->viewport()->height(), 6 * lanes->fontMetrics().height()) << "all rows are seen: the page scrolls";
  EXPECT_GE(grid->viewport()->height(), 14 * grid->fontMetrics().height());
  int columns = 0;
  for (int column = 0; column < grid->model()->columnCount(); ++column) {
    columns += grid->columnWidth(column);
  }
  EXPECT_NEAR(columns, grid->viewport()->width(), 4) << "the islands share what the page has left";
  EXPECT_FALSE(lanes->accessibleName().isEmpty());
  EXPECT_FALSE(grid->accessibleName().isEmpty());
  auto* credit = page.findChild<ui::SmallMultiples*>(u"creditChart"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return credit->series().size() == 7; }, kDeadlineMs));
  EXPECT_GT(credit->highestValue(), 0.0);
  EXPECT_GE(credit->columnsIn(credit->width()), 2) << "beside each other, not on one another";
  const auto* convergence = page.findChild<ui::TimelineChart*>(u"convergenceChart"_s);
  ASSERT_EQ(convergence->series().size(), 4U);
  EXPECT_FALSE(convergence->series()[1].points.isEmpty());
  for (const ui::Theme* theme : {&ui::Theme::light(), &ui::Theme::darkTheme()}) {
    page.setTheme(*theme);
    EXPECT_FALSE(page.grab().isNull());
  }
}

TEST_F(AgentsTest, SaysHowOftenIslandsExchangedAndThatNothingImproves) {
  ui::AgentsPage page(session, run, record);
  page.resize(1000, 900);
  page.show();
  startLive();
  report(20.0);
  auto* exchange = page.findChild<QLabel*>(u"islandExchange"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return exchange->isVisible(); }, kDeadlineMs));
  EXPECT_EQ(exchange->text(), u"2 migrations between the islands, 3 of the copies improved a cell"_s);
  report(54.0);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return exchange->text().endsWith(u"stagnating: no improvement in the last 54 evaluations"_s); },
      kDeadlineMs))
      << exchange->text().toStdString();
}

TEST_F(AgentsTest, NoIslandIsClippedInANarrowPage) {
  ui::AgentsPage page(session, run, record);
  page.resize(640, 900);
  page.show();
  startLive();
  report(54.0);
  auto* grid = page.findChild<QTableView*>(u"proposerGrid"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return grid->model()->rowCount() > 0; }, kDeadlineMs));
  for (int column = ui::ProposerGridModel::FirstIsland; column < grid->model()->columnCount(); ++column) {
    EXPECT_GE(grid->columnWidth(column), ui::TallyDelegate::leastWidth(grid->fontMetrics()));
    EXPECT_LE(grid->columnViewportPosition(column) + grid->columnWidth(column), grid->viewport()->width() + 1);
  }
}

TEST_F(AgentsTest, EveryOperatorSaysWhatItDoes) {
  ui::ProposerGridModel model;
  services::ProposerReport report;
  for (const auto kind : {domain::OperatorKind::Synthesis, domain::OperatorKind::Aimed, domain::OperatorKind::Human}) {
    report.proposers.push_back({std::string(domain::name(kind)), 0.1, 0.1});
  }
  model.setReport(report);
  for (int row = 0; row < model.rowCount(); ++row) {
    EXPECT_FALSE(model.index(row, ui::ProposerGridModel::NameColumn).data(Qt::ToolTipRole).toString().isEmpty());
  }
  EXPECT_FALSE(
      model.headerData(ui::ProposerGridModel::CreditColumn, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
}

TEST_F(AgentsTest, EnterOnACellOpensWhatWasProposedLast) {
  ui::AgentsPage page(session, run, record);
  page.resize(1100, 900);
  page.show();
  startLive();
  report(54.0);
  auto* grid = page.findChild<QTableView*>(u"proposerGrid"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return grid->model()->rowCount() > 0; }, kDeadlineMs));
  const QSignalSpy opened(&page, &ui::AgentsPage::candidateOpened);
  const QModelIndex cell = grid->model()->index(1, ui::ProposerGridModel::FirstIsland + 1);
  grid->setFocus();
  grid->setCurrentIndex(cell);
  QTest::keyClick(grid, Qt::Key_Return);
  EXPECT_EQ(opened.count(), 1);
  EXPECT_EQ(session.selectedCandidate().value(), cell.data(ui::ProposerGridModel::CandidateRole).toLongLong());
}

TEST_F(AgentsTest, AnOldRecordWithoutCreditsSaysSo) {
  for (services::ActivitySample& sample : record.runActivity.timeline) {
    sample.proposers.clear();
  }
  ui::AgentsPage page(session, run, record);
  page.show();
  startLive();
  run.finish({});
  auto* credit = page.findChild<ui::SmallMultiples*>(u"creditChart"_s);
  const auto* state = qobject_cast<ui::EmptyState*>(credit->parentWidget());
  ASSERT_NE(state, nullptr);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return state->findChild<QLabel*>(u"emptySentence"_s)->text().startsWith(u"The record of this run"_s); },
      kDeadlineMs));
  EXPECT_TRUE(state->isEmpty());
}

TEST_F(AgentsTest, ARecordThatCannotBeReadIsReported) {
  const ui::SearchActivity activity(session, run, record);
  QSignalSpy notices(&session, &ui::ProjectSession::noticed);
  record.isSlow = true;
  startLive();
  record.failure = Error(ErrorKind::Storage, "disk I/O error");
  record.answerAll();
  EXPECT_TRUE(QTest::qWaitFor([&] { return notices.count() > 0; }, kDeadlineMs));
}

}  // namespace
}  // namespace swage::testing
