// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/compare_page.h"

#include <gmock/gmock.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "tests/ui/demo_comparison.h"
#include "tests/ui/demo_data.h"
#include "tests/ui/demo_profile.h"
#include "ui/editor/diff_view.h"
#include "ui/pages/candidate_picker.h"
#include "ui/pages/diff_tools.h"
#include "ui/pages/run_picker.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::IsEmpty;

class ComparePageTest : public ::testing::Test {
 protected:
  ComparePageTest() {
    testing::fillDemo(m_record);
    m_demo = testing::fillDemoComparison(m_record);
    m_compare.ancestor = m_demo.ancestor;
    QObject::connect(&m_session, &ProjectSession::noticed, &m_session,
                     [this](const services::Notice& notice) { m_notices.push_back(notice.text); });
    m_session.showRun(testing::kDemoRun);
    m_page.resize(1100, 600);
    m_page.show();
    QApplication::setActiveWindow(&m_page);
  }
  template <class T>
  [[nodiscard]] T* child(const QString& name) const {
    T* found = m_page.findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }
  void compare() { m_page.compare(m_demo.left, m_demo.right); }
  template <class T>
  [[nodiscard]] T* tool(const QString& name) const {
    return child<DiffTools>(u"sourceDiffTools"_s)->findChild<T*>(name);
  }
  [[nodiscard]] DiffView& source() const { return *child<DiffView>(u"sourceDiff"_s); }

  testing::FakeRunService m_run;
  testing::FakeRecordService m_record;
  testing::FakeProfileService m_profiles;
  testing::FakeCompareService m_compare;
  ProjectSession m_session{m_run, m_record};
  ComparePage m_page{m_session, {m_record, m_profiles, m_compare}};
  testing::DemoComparison m_demo;
  std::vector<std::string> m_notices;
};

TEST_F(ComparePageTest, SaysWhatToDoWhileNothingIsCompared) {
  EXPECT_TRUE(m_page.findChild<EmptyState*>()->isEmpty());
  compare();
  EXPECT_FALSE(m_page.findChild<EmptyState*>()->isEmpty());
}

TEST_F(ComparePageTest, StaysWhenRunsAreShownAnewAndGoesWithItsProject) {
  compare();
  m_session.showRun(testing::kDemoRun);
  EXPECT_FALSE(m_page.findChild<EmptyState*>()->isEmpty()) << "an evaluation shows the run anew";
  EXPECT_EQ(source().paneCount(), 2);
  m_session.openProject("/somewhere/else");
  EXPECT_TRUE(m_page.findChild<EmptyState*>()->isEmpty()) << "another project has other candidates";
  EXPECT_FALSE(child<QCheckBox>(u"compareAncestor"_s)->isVisible()) << "nor is there an ancestor of nothing";
}

TEST_F(ComparePageTest, ComparesAgainWhatWasComparedAtTheEnd) {
  const testing::TempDir folder;
  std::ofstream(folder / "runs.sqlite").flush();
  m_session.openProject(folder.path());
  compare();
  m_page.showTab(ComparePage::Tab::Metrics);
  const QJsonObject state = m_page.saveState();
  ComparePage later(m_session, {m_record, m_profiles, m_compare});
  m_session.openProject("/somewhere/else");
  later.restoreState(state);
  EXPECT_TRUE(later.findChild<EmptyState*>()->isEmpty()) << "another project has other candidates";
  EXPECT_EQ(later.saveState(), state) << "it waits for its project";
  m_session.openProject(folder.path());
  EXPECT_FALSE(later.findChild<EmptyState*>()->isEmpty());
  EXPECT_EQ(later.saveState(), state);
  ComparePage lost(m_session, {m_record, m_profiles, m_compare});
  QJsonObject gone = state;
  gone[u"left"_s] = 987654;
  lost.restoreState(gone);
  EXPECT_TRUE(lost.findChild<EmptyState*>()->isEmpty());
  EXPECT_THAT(m_notices, IsEmpty()) << "what is gone is passed over";
}

TEST_F(ComparePageTest, SaysWhoIsFasterFirst) {
  compare();
  EXPECT_EQ(child<Badge>(u"compareVerdict"_s)->text(), u"B is faster"_s);
  EXPECT_TRUE(child<ElidedLabel>(u"compareSummary"_s)->fullText().contains(u"(−12 %)"_s));
  EXPECT_EQ(source().paneCount(), 2);
  EXPECT_TRUE(source().text(1).contains(u"float kept[kPerLane];"_s));
}

TEST_F(ComparePageTest, NobodyWinsInsideTheInterval) {
  for (auto& row : m_record.rows) {
    if (row.id == m_demo.right) {
      row.lowNs = row.timeNs * 0.5;
      row.highNs = row.timeNs * 2.0;
    }
  }
  compare();
  EXPECT_EQ(child<Badge>(u"compareVerdict"_s)->text(), u"No significant difference"_s);
}

TEST_F(ComparePageTest, SwapsSidesByButtonAndKeyAndKeepsEdits) {
  compare();
  source().nextChange();
  source().pushRight();
  const QString edited = source().text(1);
  QTest::mouseClick(child<QToolButton>(u"compareSwap"_s), Qt::LeftButton);
  EXPECT_EQ(child<Badge>(u"compareVerdict"_s)->text(), u"A is faster"_s);
  EXPECT_EQ(source().text(0), edited);
  QWidget* pane = source().findChild<DiffPane*>(u"diffPane0"_s)->focusProxy();
  pane->setFocus();
  QTest::keyClick(pane, Qt::Key_Backslash, Qt::AltModifier);
  EXPECT_EQ(child<Badge>(u"compareVerdict"_s)->text(), u"B is faster"_s);
  EXPECT_EQ(source().text(1), edited);
}

TEST_F(ComparePageTest, AnEditedSideCanGoOnAsADraft) {
  compare();
  auto* draft = child<QPushButton>(u"compareDraft"_s);
  EXPECT_FALSE(draft->isVisible());
  source().nextChange();
  source().pushRight();
  EXPECT_TRUE(draft->isVisible());
  const QSignalSpy asked(&m_page, &ComparePage::draftRequested);
  QTest::mouseClick(draft, Qt::LeftButton);
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked.front().at(0).value<domain::CandidateId>(), m_demo.right);
  EXPECT_EQ(asked.front().at(1).toString(), source().text(1));
  source().undo();
  EXPECT_FALSE(draft->isVisible());
}

TEST_F(ComparePageTest, ShowsWhoChangedWhatOfTheCommonAncestor) {
  compare();
  auto* box = child<QCheckBox>(u"compareAncestor"_s);
  EXPECT_TRUE(box->isEnabled());
  EXPECT_EQ(box->text(), u"Common ancestor %1"_s.arg(m_demo.ancestor.value()));
  box->click();
  EXPECT_EQ(source().paneCount(), 3);
  EXPECT_GT(source().conflictCount(), 0) << "both changed the sum";
  EXPECT_TRUE(tool<QLabel>(u"changeCount"_s)->text().contains(u"of them by both"_s));
  m_page.showTab(ComparePage::Tab::Genome);
  EXPECT_FALSE(child<QTableView>(u"comparisonTable"_s)->isColumnHidden(static_cast<int>(ComparisonColumn::Ancestor)));
  m_compare.ancestor.reset();
  compare();
  EXPECT_FALSE(box->isEnabled());
}

TEST_F(ComparePageTest, TablesCanShowOnlyWhatDiffers) {
  compare();
  m_page.showTab(ComparePage::Tab::Genome);
  auto* table = child<QTableView>(u"comparisonTable"_s);
  EXPECT_EQ(table->model()->rowCount(), 4);
  child<QCheckBox>(u"onlyDifferences"_s)->click();
  EXPECT_EQ(table->model()->rowCount(), 2);
  EXPECT_TRUE(table->isColumnHidden(static_cast<int>(ComparisonColumn::Delta))) << "genes are not measured";
  m_page.showTab(ComparePage::Tab::Metrics);
  EXPECT_FALSE(table->isColumnHidden(static_cast<int>(ComparisonColumn::Delta)));
  m_page.showTab(ComparePage::Tab::Plan);
  EXPECT_EQ(table->model()->rowCount(), 2);
}

TEST_F(ComparePageTest, ComparesAssembly) {
  compare();
  m_page.showTab(ComparePage::Tab::Assembly);
  auto* assembly = child<DiffView>(u"assemblyDiff"_s);
  EXPECT_TRUE(assembly->isVisible());
  EXPECT_EQ(assembly->changeCount(), 1);
}

TEST_F(ComparePageTest, ACandidateIsChosenByItsNumber) {
  compare();
  auto* picker = child<CandidatePicker>(u"comparePickerB"_s);
  picker->lineEdit()->setFocus();
  picker->lineEdit()->selectAll();
  QTest::keyClicks(picker->lineEdit(), QString::number(m_demo.ancestor.value()));
  QTest::keyClick(picker->lineEdit(), Qt::Key_Return);
  EXPECT_FALSE(source().text(1).contains(u"kept"_s));
  EXPECT_TRUE(picker->currentText().startsWith(QString::number(m_demo.ancestor.value()) + u" · "_s))
      << "what it is, also when it is no elite: " << picker->currentText().toStdString();
  picker->lineEdit()->selectAll();
  QTest::keyClicks(picker->lineEdit(), u"99999"_s);
  QTest::keyClick(picker->lineEdit(), Qt::Key_Return);
  EXPECT_THAT(m_notices, ::testing::ElementsAre("there is no such candidate"));
}

TEST_F(ComparePageTest, AnEliteIsChosenFromTheList) {
  compare();
  auto* picker = child<CandidatePicker>(u"comparePickerA"_s);
  ASSERT_GT(picker->count(), 3);
  const QSignalSpy chosen(picker, &CandidatePicker::chosen);
  picker->setCurrentIndex(2);
  Q_EMIT picker->activated(2);
  ASSERT_EQ(chosen.size(), 1);
  EXPECT_EQ(chosen.front().front().value<domain::CandidateId>().value(), picker->itemData(2).toLongLong());
  EXPECT_THAT(m_notices, IsEmpty());
}

TEST_F(ComparePageTest, ComparesTheSelectedCandidateWithItsParent) {
  for (auto& row : m_record.rows) {
    if (row.id == m_demo.right) {
      row.parents = {m_demo.ancestor};
    }
  }
  m_session.selectCandidate(m_demo.right);
  m_page.compareWithParent();
  EXPECT_EQ(child<CandidatePicker>(u"comparePickerA"_s)->currentText().section(u' ', 0, 0),
            QString::number(m_demo.ancestor.value()));
}

class OtherProject : public ComparePageTest {
 protected:
  OtherProject() {
    testing::fillDemo(*m_other);
    m_other->runRows.front().taskName = m_record.runRows.front().taskName;
    m_page.setOtherProjects(
        [this](const std::filesystem::path& folder) {
          m_opened.push_back(folder);
          return Result<std::shared_ptr<services::RecordService>>(m_other);
        },
        [this](QWidget*, const std::function<void(const QString&)>& chosen) {
          chosen(QString::fromStdString(m_folder.path().string()));
        });
    std::ofstream(m_folder / "runs.sqlite").flush();
  }
  void chooseOtherProject() {
    QMenu* menu = child<RunPicker>(u"compareRunB"_s)->menu();
    Q_EMIT menu->aboutToShow();
    auto* other = menu->findChild<QAction*>(u"otherProject"_s);
    ASSERT_NE(other, nullptr);
    other->trigger();
  }

  std::shared_ptr<testing::FakeRecordService> m_other = std::make_shared<testing::FakeRecordService>();
  testing::TempDir m_folder;
  std::vector<std::filesystem::path> m_opened;
};

TEST_F(OtherProject, ABestCandidateOfAnotherProjectIsCompared) {
  compare();
  chooseOtherProject();
  EXPECT_THAT(m_notices, IsEmpty());
  EXPECT_EQ(child<CandidatePicker>(u"comparePickerA"_s)->currentText().section(u' ', 0, 0),
            QString::number(m_demo.left.value()));
  EXPECT_EQ(child<CandidatePicker>(u"comparePickerB"_s)->currentText().section(u' ', 0, 0),
            QString::number(m_other->runRows.front().best.value()));
  EXPECT_FALSE(child<QCheckBox>(u"compareAncestor"_s)->isEnabled()) << "of two records there is none";
  chooseOtherProject();
  EXPECT_THAT(m_opened, ::testing::SizeIs(1)) << "it stays open";
}

TEST_F(OtherProject, OfAnotherTaskNobodyIsFaster) {
  m_other->runRows.front().taskName = "matmul";
  compare();
  chooseOtherProject();
  EXPECT_EQ(child<Badge>(u"compareVerdict"_s)->text(), u"Not comparable: other tasks"_s);
}

TEST_F(OtherProject, WhatHasNoRecordIsNoProject) {
  compare();
  std::filesystem::remove(m_folder / "runs.sqlite");
  chooseOtherProject();
  EXPECT_THAT(m_notices, ::testing::ElementsAre(::testing::HasSubstr("has no record of runs")));
  EXPECT_EQ(child<Badge>(u"compareVerdict"_s)->text(), u"B is faster"_s) << "what was there stays";
}

TEST_F(ComparePageTest, GoesToALine) {
  compare();
  QWidget* pane = source().findChild<DiffPane*>(u"diffPane0"_s)->focusProxy();
  pane->setFocus();
  QTest::keyClick(pane, Qt::Key_I, Qt::ControlModifier);
  auto* line = tool<QSpinBox>(u"goToLine"_s);
  EXPECT_TRUE(line->hasFocus());
  QTest::keyClicks(line, u"17"_s);
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(source().pane(0).caretLine(), 16);
}

TEST_F(ComparePageTest, IgnoresCommentsAndLaysOutUnified) {
  compare();
  const int changes = source().changeCount();
  tool<QCheckBox>(u"ignoreComments"_s)->click();
  EXPECT_LT(source().changeCount(), changes);
  tool<QComboBox>(u"diffLayout"_s)->setCurrentIndex(1);
  EXPECT_TRUE(source().findChild<DiffPane*>(u"unifiedPane"_s)->isVisible());
}

}  // namespace
}  // namespace swage::ui
