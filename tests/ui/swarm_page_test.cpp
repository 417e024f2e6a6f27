// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "tests/ui/demo_data.h"
#include "tests/ui/demo_swarm.h"
#include "ui/editor/kernel_view.h"
#include "ui/models/endpoint_table_model.h"
#include "ui/models/swarm_models.h"
#include "ui/pages/swarm_page.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using Kind = services::PairOrder::Kind;
using Tester = QAbstractItemModelTester;

constexpr int kDeadlineMs = 30000;

QString textAt(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

template <class Column>
QString textOf(const QAbstractItemModel& model, int row, Column column) {
  return textAt(model, row, static_cast<int>(column));
}

TEST(PairTableModel, SaysWhatEachPairDoesAndEarns) {
  ui::PairTableModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.show(demoSwarm(90.0));
  ASSERT_EQ(model.rowCount(), 34);
  using Column = ui::PairColumn;
  EXPECT_EQ(textOf(model, 0, Column::Name), u"fast"_s);
  EXPECT_EQ(textOf(model, 0, Column::Island), u"all"_s);
  EXPECT_EQ(textOf(model, 0, Column::Role), u"–"_s);
  EXPECT_EQ(textOf(model, 0, Column::Doing), u"#412, waits for 2 replies"_s);
  EXPECT_EQ(textOf(model, 0, Column::PerCent), u"4.44 %"_s);
  EXPECT_EQ(textOf(model, 2, Column::Name), u"Pair 1"_s);
  EXPECT_EQ(textOf(model, 2, Column::PerCent), u"–"_s) << "it costs nothing";
  EXPECT_EQ(textOf(model, 2, Column::Advice), u"narrow loads"_s);
  EXPECT_EQ(textOf(model, 8, Column::Doing), u"#266, paused"_s);
  EXPECT_EQ(textOf(model, 11, Column::Role), u"parameters (yours)"_s);
}

TEST(AdviceTableModel, AModelIsNamed) {
  ui::AdviceTableModel model;
  services::SwarmReport report = demoSwarm(2.0);
  report.advice.front().pair = -1;
  report.advice.front().model = "fast";
  model.show(report);
  EXPECT_EQ(textOf(model, 0, ui::AdviceColumn::Pair), u"fast, memory"_s);
}

TEST(AdviceTableModel, KeepsTheSelectionWhileNewAdviceComes) {
  ui::AdviceTableModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.show(demoSwarm(20.0));
  const QPersistentModelIndex oldest = model.index(model.rowCount() - 1, 0);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.show(demoSwarm(40.0));
  EXPECT_EQ(resets.count(), 0);
  EXPECT_EQ(model.rowCount(), 20);
  EXPECT_EQ(oldest.row(), 19);
  model.show(demoSwarm(20.0));  // another run
  EXPECT_EQ(model.rowCount(), 10);
}

TEST(AdviceTableModel, OldRowsFallOffTheEnd) {
  ui::AdviceTableModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  services::SwarmReport report = demoSwarm(40.0);
  report.advice.erase(report.advice.begin());
  model.show(report);
  report = demoSwarm(40.0);
  report.advice.pop_back();
  model.show(report);
  EXPECT_EQ(model.rowCount(), 19);
  EXPECT_EQ(model.item(0).number, 20);
}

TEST(EndpointTableModel, ABoxSaysWhoTakesPart) {
  ui::EndpointTableModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.setRows(demoEndpoints());
  model.setUsed({u"local"_s});
  const QSignalSpy changed(&model, &ui::EndpointTableModel::usedChanged);
  EXPECT_EQ(model.index(0, 0).data(Qt::CheckStateRole).toInt(), Qt::Unchecked);
  EXPECT_TRUE(model.setData(model.index(0, 0), Qt::Checked, Qt::CheckStateRole));
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(model.used(), (QSet<QString>{u"local"_s, u"fast"_s}));
  EXPECT_EQ(textOf(model, 0, ui::EndpointColumn::Key), u"keychain, example"_s);
}

class SwarmPageTest : public ::testing::Test {
 protected:
  SwarmPageTest() { fillDemo(m_record); }
  void open() {
    m_session = std::make_unique<ui::ProjectSession>(m_run, m_record);
    m_page = std::make_unique<ui::SwarmPage>(*m_session, m_run, m_swarm);
    m_page->resize(1200, 800);
    m_page->show();
  }
  void goLive() {
    m_session->start({});
    m_run.enter(services::RunState::Running);
    m_run.create(kDemoRun);
  }
  // The run is over, and its record has what is told.
  void showEnded() {
    goLive();
    m_run.finish({});
  }
  template <class T>
  [[nodiscard]] T* child(const QString& name) const {
    T* found = m_page->findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }
  // Of the built-in pair with that number, or of a model.
  void select(const QString& name) const {
    auto* table = child<QTableView>(u"pairTable"_s);
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      if (textAt(*table->model(), row, 0) == name) {
        table->setCurrentIndex(table->model()->index(row, 0));
        return;
      }
    }
    FAIL() << name.toStdString();
  }
  void showLive(double seconds = 90.0) {
    m_swarm.tell(demoSwarm(seconds));
    ASSERT_TRUE(
        QTest::qWaitFor([this] { return child<QTableView>(u"pairTable"_s)->model()->rowCount() > 0; }, kDeadlineMs));
  }

  FakeRunService m_run;
  FakeRecordService m_record;
  FakeSwarmService m_swarm;
  std::unique_ptr<ui::ProjectSession> m_session;
  std::unique_ptr<ui::SwarmPage> m_page;
};

TEST_F(SwarmPageTest, SaysWhatToDoWhileThereIsNothing) {
  open();
  const QSignalSpy settings(m_page.get(), &ui::SwarmPage::settingsRequested);
  EXPECT_TRUE(child<QPushButton>(u"swarmSettings"_s)->isVisible());
  child<QPushButton>(u"swarmSettings"_s)->click();
  EXPECT_EQ(settings.count(), 1);
}

TEST_F(SwarmPageTest, APausedPairIsResumed) {
  open();
  goLive();
  showLive();
  auto* pause = child<QPushButton>(u"pairPause"_s);
  EXPECT_FALSE(pause->isEnabled()) << "none is selected";
  select(u"Pair 1"_s);
  EXPECT_EQ(pause->text(), u"Pause"_s);
  pause->click();
  select(u"Pair 7"_s);
  EXPECT_EQ(pause->text(), u"Resume"_s);
  pause->click();
  ASSERT_EQ(m_swarm.orders.size(), 2U);
  EXPECT_EQ(m_swarm.orders[0].kind, Kind::Pause);
  EXPECT_EQ(m_swarm.orders[0].pair, 0);
  EXPECT_EQ(m_swarm.orders[1].kind, Kind::Resume);
  EXPECT_EQ(m_swarm.orders[1].pair, 6);
}

TEST_F(SwarmPageTest, AModelIsToldSomethingAndABuiltInPairSaysWhyNot) {
  open();
  goLive();
  showLive();
  auto* words = child<QLineEdit>(u"pairWords"_s);
  select(u"Pair 1"_s);
  EXPECT_FALSE(words->isEnabled());
  EXPECT_TRUE(words->toolTip().contains("follow rules"_L1));
  EXPECT_TRUE(child<QComboBox>(u"pairRole"_s)->isEnabled());
  select(u"fast"_s);
  ASSERT_TRUE(words->isEnabled());
  EXPECT_FALSE(child<QComboBox>(u"pairRole"_s)->isEnabled());
  EXPECT_FALSE(child<QPushButton>(u"pairSay"_s)->isEnabled());
  QTest::keyClicks(words, u"use clusters"_s);
  QTest::keyClick(words, Qt::Key_Return);
  ASSERT_EQ(m_swarm.orders.size(), 1U);
  EXPECT_EQ(m_swarm.orders[0].kind, Kind::Say);
  EXPECT_EQ(m_swarm.orders[0].model, "fast");
  EXPECT_EQ(m_swarm.orders[0].text, "use clusters");
  EXPECT_TRUE(words->text().isEmpty());
}

TEST_F(SwarmPageTest, WordsThatAreBeingTypedStayWhenThereAreNews) {
  open();
  goLive();
  showLive();
  select(u"fast"_s);
  QTest::keyClicks(child<QLineEdit>(u"pairWords"_s), u"half a sen"_s);
  services::SwarmReport report = demoSwarm(120.0);
  report.pairs[0].waitingWords = "try clusters";
  m_swarm.tell(report);
  ASSERT_TRUE(QTest::qWaitFor([this] { return child<QLabel>(u"pairWaitingWords"_s)->isVisible(); }, kDeadlineMs));
  EXPECT_EQ(child<QLineEdit>(u"pairWords"_s)->text(), u"half a sen"_s);
  EXPECT_EQ(child<QLabel>(u"pairName"_s)->text(), u"fast"_s);
}

TEST_F(SwarmPageTest, AfterTheRunEverythingComesFromItsRecordAndNobodyListens) {
  m_swarm.records[kDemoRun.value()] = std::make_shared<const services::SwarmReport>(demoSwarm(60.0));
  open();
  showEnded();
  ASSERT_TRUE(
      QTest::qWaitFor([this] { return child<QTableView>(u"pairTable"_s)->model()->rowCount() == 34; }, kDeadlineMs));
  select(u"Pair 1"_s);
  EXPECT_FALSE(child<QPushButton>(u"pairPause"_s)->isEnabled());
  EXPECT_TRUE(child<QPushButton>(u"pairPause"_s)->toolTip().contains("while a search is going on"_L1));
}

TEST_F(SwarmPageTest, AConversationIsReadBesideItsCandidate) {
  m_swarm.records[kDemoRun.value()] = std::make_shared<const services::SwarmReport>(demoSwarm(60.0));
  m_swarm.talks[412] = demoTalk();
  open();
  showEnded();
  child<QTabWidget>(u"swarmTabs"_s)->setCurrentIndex(2);
  auto* table = child<QTableView>(u"talkTable"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->model()->rowCount() == 12; }, kDeadlineMs));
  table->setCurrentIndex(table->model()->index(0, 0));
  auto* prompt = child<ui::KernelView>(u"talkPrompt"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return prompt->text().contains("softmax over rows"_L1); }, kDeadlineMs));
  EXPECT_TRUE(child<ui::KernelView>(u"talkReply"_s)->text().contains("float4"_L1));
  EXPECT_EQ(prompt->editing(), ui::KernelView::Editing::Never);
  const QSignalSpy opened(m_page.get(), &ui::SwarmPage::candidateOpened);
  child<QPushButton>(u"talkOpen"_s)->click();
  EXPECT_EQ(opened.count(), 1);
  child<QLineEdit>(u"talkSearch"_s)->setText(u"#405"_s);
  EXPECT_EQ(table->model()->rowCount(), 1);
}

TEST_F(SwarmPageTest, TheConversationOfACandidateIsOpenedAndSelected) {
  m_swarm.records[kDemoRun.value()] = std::make_shared<const services::SwarmReport>(demoSwarm(60.0));
  m_swarm.talks[405] = demoTalk();
  m_swarm.talks[9] = demoTalk();
  open();
  m_page->hide();
  showEnded();
  child<QLineEdit>(u"talkSearch"_s)->setText(u"#412"_s);
  m_page->showTalk(domain::CandidateId(405));
  m_page->show();  // only now the list is filled
  EXPECT_EQ(child<QTabWidget>(u"swarmTabs"_s)->currentIndex(), 2);
  auto* table = child<QTableView>(u"talkTable"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->currentIndex().isValid(); }, kDeadlineMs));
  EXPECT_EQ(textAt(*table->model(), table->currentIndex().row(), 0), u"#405"_s);
  EXPECT_TRUE(child<QLabel>(u"talkTitle"_s)->text().startsWith(u"Candidate #405,"_s));
  m_page->showTalk(domain::CandidateId(9));
  EXPECT_TRUE(QTest::qWaitFor([this] { return child<QLabel>(u"talkTitle"_s)->text().startsWith(u"Candidate #9,"_s); },
                              kDeadlineMs))
      << "the list has the newest alone";
}

TEST_F(SwarmPageTest, SpendingStandsAgainstItsLimit) {
  m_swarm.records[kDemoRun.value()] = std::make_shared<const services::SwarmReport>(demoSwarm(60.0));
  open();
  showEnded();
  child<QTabWidget>(u"swarmTabs"_s)->setCurrentIndex(3);
  ASSERT_TRUE(
      QTest::qWaitFor([this] { return child<QTableView>(u"spendingTable"_s)->model()->rowCount() == 2; }, kDeadlineMs));
  EXPECT_EQ(child<QLabel>(u"costMeterText"_s)->text(), u"$0.2860 of $1.00 spent"_s);
  EXPECT_EQ(child<QLabel>(u"tokenMeterText"_s)->text(), u"126,020 tokens, no limit"_s);
}

TEST_F(SwarmPageTest, APromptThatWaitsIsSaid) {
  open();
  goLive();
  services::SwarmReport report = demoSwarm(30.0);
  report.waiting = {{"exchange", "/p/exchange/001-prompt.md", "/p/exchange/001-reply.md"}};
  m_swarm.tell(report);
  ASSERT_TRUE(QTest::qWaitFor([this] { return child<QPushButton>(u"swarmAnswer"_s)->isVisible(); }, kDeadlineMs));
  const QSignalSpy requested(m_page.get(), &ui::SwarmPage::exchangeRequested);
  child<QPushButton>(u"swarmAnswer"_s)->click();
  EXPECT_EQ(requested.count(), 1);
  EXPECT_EQ(m_page->waiting(), report.waiting);
}

TEST_F(SwarmPageTest, EverythingHasANameForWhoCannotSeeIt) {
  open();
  for (const QWidget* widget : m_page->findChildren<QWidget*>()) {
    const bool needsName = qobject_cast<const QTableView*>(widget) != nullptr ||
                           (qobject_cast<const QLineEdit*>(widget) != nullptr && !widget->objectName().isEmpty() &&
                            !widget->objectName().startsWith("qt_"_L1)) ||
                           qobject_cast<const QComboBox*>(widget) != nullptr;
    if (needsName && widget->objectName() != u"findText"_s && !widget->objectName().startsWith("find"_L1)) {
      EXPECT_FALSE(widget->accessibleName().isEmpty()) << widget->objectName().toStdString();
    }
  }
}

}  // namespace
}  // namespace swage::testing
