// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/archive_page.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <QUrl>

#include <fstream>
#include <iterator>
#include <memory>

#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"
#include "tests/ui/demo_data.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/scale_menu.h"
#include "ui/widgets/heat_map.h"
#include "ui/widgets/time_bar.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

class Archive : public ::testing::Test {
 protected:
  Archive() {
    swage::testing::fillDemo(record);
    std::ofstream(folder / "runs.sqlite") << "";
    session.openProject(folder.path());
    page.resize(1000, 560);
    page.show();
  }
  template <class T>
  [[nodiscard]] T* child(const char* name) const {
    T* found = page.findChild<T*>(QString::fromLatin1(name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  [[nodiscard]] const CellView& view(const char* name) { return page.map().view(domain::Cell::parse(name)->index()); }
  [[nodiscard]] QPoint centre(const char* name) {
    const domain::Cell cell = *domain::Cell::parse(name);
    return page.map().geometryOfCells().cell(mapRow(cell), mapColumn(cell)).center().toPoint();
  }
  [[nodiscard]] std::int64_t triedAt(double seconds) const {
    std::int64_t tried = 0;
    for (const services::CellSummary& cell : record.gather(std::nullopt, seconds)) {
      tried += cell.tried;
    }
    return tried;
  }
  [[nodiscard]] std::int64_t shownTried() {
    std::int64_t tried = 0;
    for (int i = 0; i < domain::kCellCount; ++i) {
      tried += page.map().view(i).count.section(u' ', 0, 0).remove(u',').toLongLong();
    }
    return tried;
  }

  swage::testing::TempDir folder;
  swage::testing::FakeRunService run;
  swage::testing::FakeRecordService record;
  ProjectSession session{run, record};
  ArchivePage page{session, record};
};

TEST_F(Archive, ShowsTheChosenMetric) {
  auto* metric = child<QComboBox>("mapMetric");
  EXPECT_TRUE(view("A1B1C1").value.endsWith(u'×'));
  metric->setFocus();
  QTest::keyClicks(metric, u"% of"_s);
  EXPECT_TRUE(view("A1B1C1").value.endsWith(u'%')) << view("A1B1C1").value.toStdString();
  metric->setCurrentIndex(static_cast<int>(CellMetric::Registers));
  EXPECT_GT(view("A1B1C1").value.toInt(), 20);
  EXPECT_TRUE(view("A1B1C1").spoken.contains(u"Registers"_s));
}

TEST_F(Archive, ShowsOneIslandOrAll) {
  auto* island = child<QComboBox>("mapIsland");
  ASSERT_EQ(island->count(), 5);
  const std::int64_t all = shownTried();
  std::int64_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    island->setCurrentIndex(i + 1);
    sum += shownTried();
  }
  EXPECT_EQ(sum, all);
  island->setCurrentIndex(0);
  EXPECT_EQ(shownTried(), all);
}

TEST_F(Archive, ShowsTheCellsAsTheyWereAtAMoment) {
  auto* slider = child<QSlider>("momentSlider");
  slider->setValue(slider->maximum() / 2);
  EXPECT_EQ(shownTried(), triedAt(27.0));
  EXPECT_EQ(child<QLabel>("momentText")->text(), u"0:27 of 0:54"_s);
  QTest::keyClick(slider, Qt::Key_End);
  EXPECT_EQ(shownTried(), triedAt(54.0));
  EXPECT_EQ(child<QLabel>("momentText")->text(), u"Now"_s);
}

TEST_F(Archive, PlaysARunFromItsStartToNow) {
  auto* time = child<TimeBar>("timeBar");
  QTest::mouseClick(child<QToolButton>("playRun"), Qt::LeftButton);
  EXPECT_TRUE(time->isPlaying());
  ASSERT_TRUE(time->moment());
  EXPECT_EQ(*time->moment(), 0.0);
  EXPECT_EQ(shownTried(), 0);
  ASSERT_TRUE(swage::testing::waitFor([&] { return *time->moment() > 0.5; }));
  EXPECT_EQ(shownTried(), triedAt(*time->moment()));
  time->setMoment(53.9);
  EXPECT_TRUE(swage::testing::waitFor([&] { return !time->isPlaying() && !time->moment(); }));
  EXPECT_EQ(shownTried(), triedAt(54.0));
}

TEST_F(Archive, AMomentStaysWhileTheRunGrows) {
  auto* time = child<TimeBar>("timeBar");
  time->setMoment(20.0);
  time->setLength(100.0);
  EXPECT_EQ(time->moment(), 20.0);
  EXPECT_EQ(child<QSlider>("momentSlider")->value(), 200);
}

TEST_F(Archive, ACellOfThePastSelectsWhatWasBestThen) {
  auto* slider = child<QSlider>("momentSlider");
  slider->setValue(slider->maximum() / 10);
  const auto then = record.gather(std::nullopt, 5.4);
  const int index = domain::Cell::parse("A1B1C1")->index();
  ASSERT_TRUE(then[static_cast<std::size_t>(index)].best.isValid());
  QTest::mouseClick(&page.map(), Qt::LeftButton, Qt::NoModifier, centre("A1B1C1"));
  EXPECT_EQ(session.selectedCandidate(), then[static_cast<std::size_t>(index)].best);
  EXPECT_EQ(page.map().currentCell(), index);
}

TEST_F(Archive, ACellDroppedOnAnotherAsksForTheirComparison) {
  QSignalSpy asked(&page, &ArchivePage::compareRequested);
  QMimeData data;
  const int from = domain::Cell::parse("A0B0C0")->index();
  data.setData(u"application/x-swage-cell"_s, QByteArray::number(from));
  const auto drop = [&](const QPoint& at) {
    QDragEnterEvent enter(at, Qt::LinkAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&page.map(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent event(at, Qt::LinkAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&page.map(), &event);
  };
  drop(centre("A0B0C0"));
  drop(centre("A3B2C2"));
  EXPECT_EQ(asked.count(), 0) << "on itself, and on a cell that has no candidate";
  drop(centre("A1B1C1"));
  ASSERT_EQ(asked.count(), 1);
  EXPECT_EQ(asked[0][0].value<domain::CandidateId>(), record.cellRows[static_cast<std::size_t>(from)].best);
}

TEST_F(Archive, ComparesByKeyboardAndByModifier) {
  QSignalSpy asked(&page, &ArchivePage::compareRequested);
  QTest::mouseClick(&page.map(), Qt::LeftButton, Qt::NoModifier, centre("A0B0C0"));
  QTest::keyClick(&page.map(), Qt::Key_C);
  ASSERT_EQ(asked.count(), 1);
  const auto best =
      std::find_if(record.cellRows.begin(), record.cellRows.end(), [](const auto& cell) { return cell.isOverallBest; });
  EXPECT_EQ(asked[0][1].value<domain::CandidateId>(), best->best);
  QTest::mouseClick(&page.map(), Qt::LeftButton, Qt::ControlModifier, centre("A1B0C0"));
  EXPECT_EQ(asked.count(), 2);
  EXPECT_EQ(page.map().currentCell(), domain::Cell::parse("A0B0C0")->index()) << "the selection stays";
}

TEST_F(Archive, ACellHasTheMenuOfItsBestByMouseAndByKey) {
  AnnotationEditor editor(record);
  std::vector<domain::CandidateId> opened;
  CandidateMenu menu(session, record, editor, {.open = [&opened](auto id) { opened.push_back(id); }});
  page.setMenu(&menu);
  const QSignalSpy listed(&page, &ArchivePage::cellListRequested);
  const int index = domain::Cell::parse("A1B1C1")->index();
  const auto choose = [this](QContextMenuEvent::Reason reason, const QPoint& at, const QString& name) {
    QContextMenuEvent event(reason, at, page.map().mapToGlobal(at));
    QCoreApplication::sendEvent(&page.map(), &event);
    auto* shown = child<QMenu>("cellMenu");
    ASSERT_NE(shown, nullptr);
    auto* action = shown->findChild<QAction*>(name);
    ASSERT_NE(action, nullptr) << name.toStdString();
    action->trigger();
    shown->close();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  };
  choose(QContextMenuEvent::Mouse, centre("A1B1C1"), u"menuOpen"_s);
  EXPECT_EQ(page.map().currentCell(), index) << "the cell under the mouse is the one that is meant";
  choose(QContextMenuEvent::Keyboard, QPoint(1, 1), u"menuOpen"_s);
  const domain::CandidateId best = record.cellRows[static_cast<std::size_t>(index)].best;
  EXPECT_EQ(opened, (std::vector<domain::CandidateId>{best, best}));
  choose(QContextMenuEvent::Keyboard, QPoint(1, 1), u"menuListCell"_s);
  ASSERT_EQ(listed.count(), 1);
  EXPECT_EQ(listed[0][0].toInt(), index);
}

TEST_F(Archive, ADoubleClickOpensACandidateOrListsWhatFailed) {
  const QSignalSpy opened(&page, &ArchivePage::cellOpened);
  const QSignalSpy listed(&page, &ArchivePage::cellListRequested);
  const auto open = [this](int index) { Q_EMIT page.map().cellActivated(index); };
  for (const services::CellSummary& cell : record.cellRows) {
    open(cell.cell.index());
  }
  using State = services::CellSummary::State;
  const auto count = [this](State state) {
    return std::count_if(record.cellRows.begin(), record.cellRows.end(),
                         [state](const auto& cell) { return cell.state == state; });
  };
  EXPECT_EQ(opened.count(), count(State::Filled));
  EXPECT_EQ(listed.count(), count(State::FailedOnly));
}

TEST_F(Archive, ACellThatIsDraggedAwayIsItsSource) {
  const int index = domain::Cell::parse("A1B1C1")->index();
  const std::unique_ptr<QMimeData> content(page.map().contentOf(index));
  const auto best = record.candidate(record.cellRows[static_cast<std::size_t>(index)].best);
  EXPECT_EQ(content->text().toStdString(), best->program.source);
  ASSERT_EQ(content->urls().size(), 1);
  std::ifstream file(content->urls().front().toLocalFile().toStdString());
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, best->program.source);
  const std::unique_ptr<QMimeData> empty(page.map().contentOf(domain::Cell::parse("A3B2C2")->index()));
  EXPECT_FALSE(empty->hasUrls());
}

TEST_F(Archive, AScaleIsFixedForItsMetricAndRemembered) {
  auto* menu = child<ScaleMenu>("scaleMenu");
  auto* metric = child<QComboBox>("mapMetric");
  menu->findChild<QLineEdit*>(u"scaleLow"_s)->setText(u"1"_s);
  auto* high = menu->findChild<QLineEdit*>(u"scaleHigh"_s);
  high->setText(u"3"_s);
  Q_EMIT high->returnPressed();
  menu->findChild<QAction*>(u"scaleLinear"_s)->trigger();
  EXPECT_EQ(page.map().scale().range(), std::pair(1.0, 3.0));
  EXPECT_FALSE(page.map().scale().isLogarithmic());
  EXPECT_EQ(child<QToolButton>("mapScale")->text(), u"Linear, fixed"_s);
  metric->setCurrentIndex(static_cast<int>(CellMetric::Time));
  EXPECT_TRUE(page.map().scale().isLogarithmic()) << "another metric has a scale of its own";
  EXPECT_EQ(child<QToolButton>("mapScale")->text(), u"Auto"_s);
  metric->setCurrentIndex(static_cast<int>(CellMetric::Speedup));
  ArchivePage other(session, record);
  other.restoreState(page.saveState());
  EXPECT_EQ(other.map().scale().range(), std::pair(1.0, 3.0));
  menu->findChild<QAction*>(u"scaleFitted"_s)->trigger();
  EXPECT_NE(page.map().scale().range(), std::pair(1.0, 3.0));
}

}  // namespace
}  // namespace swage::ui
