// SPDX-License-Identifier: Apache-2.0
#include <QAccessible>
#include <QAction>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QLabel>
#include <QMenu>
#include <QSignalSpy>

#include <algorithm>

#include "tests/ui/history_fixture.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/lineage_page.h"
#include "ui/widgets/lineage_view.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::CandidateId;
using swage::testing::HistoryPage;

class LineagePageTest : public HistoryPage {
 protected:
  LineagePageTest() {
    session.selectCandidate(CandidateId(20));
    show(page);
    view = page.findChild<LineageView*>();
  }
  [[nodiscard]] CandidateId current() const {
    return view->layout().nodes.at(static_cast<std::size_t>(view->currentNode())).row.id;
  }

  LineagePage page{session, record};
  LineageView* view = nullptr;
};

TEST_F(LineagePageTest, ShowsTheFamilyOfTheSelectedCandidate) {
  EXPECT_EQ(current(), CandidateId(20));
  EXPECT_GE(view->layout().indexOf(CandidateId(17)), 0);  // its parent
  EXPECT_GE(view->layout().indexOf(CandidateId(23)), 0);  // its child
}

TEST_F(LineagePageTest, ArrowKeysAndClicksSelectEverywhereAndTheFamilyStays) {
  const std::size_t nodes = view->layout().nodes.size();
  QTest::keyClick(view, Qt::Key_Left);
  EXPECT_EQ(session.selectedCandidate(), CandidateId(17));
  EXPECT_EQ(view->layout().nodes.size(), nodes);
  const int child = view->layout().indexOf(CandidateId(23));
  QTest::keyClick(view, Qt::Key_Right);
  QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->nodeRect(child).center().toPoint());
  EXPECT_EQ(session.selectedCandidate(), CandidateId(23));
  EXPECT_EQ(current(), CandidateId(23));
}

TEST_F(LineagePageTest, ASelectionElsewhereShowsAnotherFamily) {
  session.selectCandidate(CandidateId(700));
  EXPECT_EQ(current(), CandidateId(700));
  EXPECT_EQ(view->layout().indexOf(CandidateId(20)), -1);
}

TEST_F(LineagePageTest, DrawsOnlyTheRelativesThatAreAskedFor) {
  auto* show = child<QComboBox>(page, u"lineageFilter"_s);
  const auto shown = [this](auto isWanted) {
    const auto& nodes = view->layout().nodes;
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](const auto& node) { return node.row.id == CandidateId(20) || isWanted(node.row); });
  };
  const std::size_t all = view->layout().nodes.size();
  show->setCurrentIndex(1);
  EXPECT_TRUE(shown([](const auto& row) { return row.status == domain::CandidateStatus::Correct; }));
  show->setCurrentIndex(2);
  EXPECT_TRUE(shown([](const auto& row) { return row.status != domain::CandidateStatus::Correct; }));
  show->setCurrentIndex(3);
  EXPECT_TRUE(shown([](const auto& row) { return row.parents.empty(); }));
  EXPECT_EQ(current(), CandidateId(20)) << "the candidate itself always is";
  show->setCurrentIndex(0);
  EXPECT_EQ(view->layout().nodes.size(), all);
}

TEST_F(LineagePageTest, ANodeHasTheMenuOfCandidates) {
  AnnotationEditor editor(record);
  std::vector<CandidateId> opened;
  CandidateMenu menu(session, record, editor, {.open = [&opened](CandidateId id) { opened.push_back(id); }});
  page.setMenu(&menu);
  const QPoint place = view->nodeRect(view->layout().indexOf(CandidateId(17))).center().toPoint();
  QContextMenuEvent event(QContextMenuEvent::Mouse, place, view->viewport()->mapToGlobal(place));
  QCoreApplication::sendEvent(view->viewport(), &event);
  auto* shown = child<QMenu>(page, u"candidateMenu"_s);
  ASSERT_NE(shown, nullptr);
  shown->findChild<QAction*>(u"menuOpen"_s)->trigger();
  shown->close();
  EXPECT_EQ(opened, std::vector<CandidateId>{CandidateId(17)});
}

TEST_F(LineagePageTest, AsksOnlyWhileItIsVisible) {
  page.hide();
  session.selectCandidate(CandidateId(700));
  EXPECT_EQ(view->layout().indexOf(CandidateId(700)), -1);
  page.show();
  EXPECT_EQ(current(), CandidateId(700));
}

TEST_F(LineagePageTest, EnterOpensAndZoomKeepsTheSelectionInView) {
  const QSignalSpy opened(&page, &LineagePage::candidateOpened);
  QTest::keyClick(view, Qt::Key_Return);
  EXPECT_EQ(opened.size(), 1);
  for (int i = 0; i < 6; ++i) {
    QTest::keyClick(view, Qt::Key_Plus);
  }
  EXPECT_TRUE(view->viewport()->rect().contains(view->nodeRect(view->currentNode()).center().toPoint()));
}

TEST_F(LineagePageTest, IsAListToAScreenReader) {
  QAccessibleInterface* list = QAccessible::queryAccessibleInterface(view);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->childCount(), static_cast<int>(view->layout().nodes.size()));
  QAccessibleInterface* node = list->child(view->currentNode());
  EXPECT_TRUE(node->text(QAccessible::Name).startsWith(u"Candidate 20, "_s));
  EXPECT_TRUE(node->text(QAccessible::Name).contains(u"from 17"_s));
  EXPECT_TRUE(node->state().selected);
}

TEST_F(LineagePageTest, AnEditByHandHasABadge) {
  const QImage before = view->grab().toImage();
  const auto row = std::find_if(record.rows.begin(), record.rows.end(),
                                [](const services::CandidateRow& one) { return one.id == CandidateId(20); });
  row->madeBy = domain::OperatorKind::Human;
  session.selectCandidate(CandidateId(700));
  session.selectCandidate(CandidateId(20));
  EXPECT_NE(view->grab().toImage(), before);
  const QString spoken =
      QAccessible::queryAccessibleInterface(view)->child(view->currentNode())->text(QAccessible::Name);
  EXPECT_TRUE(spoken.contains(u"edited by hand"_s)) << spoken.toStdString();
}

TEST_F(LineagePageTest, WithoutASelectionSaysWhatToDo) {
  session.selectCandidate({});
  EXPECT_TRUE(child<QLabel>(page, u"emptySentence"_s)->isVisible());
}

}  // namespace
}  // namespace swage::ui
