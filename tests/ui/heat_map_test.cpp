// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QAccessible>
#include <QHelpEvent>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>

#include <algorithm>
#include <set>

#include "tests/ui/demo_data.h"
#include "ui/widgets/heat_map.h"
#include "ui/widgets/heat_map_accessible.h"
#include "ui/widgets/heat_painter.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

class Map : public ::testing::Test {
 protected:
  Map() {
    swage::testing::fillDemo(record);
    map.setCells(record.cellRows);
    map.resize(900, 500);
    map.show();
  }

  [[nodiscard]] QPoint centre(const char* name) const {
    const domain::Cell cell = *domain::Cell::parse(name);
    return map.geometryOfCells().cell(mapRow(cell), mapColumn(cell)).center().toPoint();
  }
  [[nodiscard]] std::string current() const {
    return map.currentCell() < 0 ? "none" : domain::Cell::fromIndex(map.currentCell()).name();
  }
  // Pixels of a cell, without the selection around it.
  [[nodiscard]] QImage picture(const char* name) {
    const domain::Cell cell = *domain::Cell::parse(name);
    return map.grab(map.geometryOfCells().cell(mapRow(cell), mapColumn(cell)).toRect()).toImage();
  }

  swage::testing::FakeRecordService record;
  HeatMap map;
};

QImage painted(const CellView& cell, int width) {
  QImage image(width, 40, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  paintCell(painter, QRectF(image.rect()), cell, Theme::light(), QFont());
  return image;
}

TEST(HeatPainter, ACountThatDoesNotFitIsItsNumber) {
  for (const State state : {State::Filled, State::FailedOnly}) {
    CellView cell;
    cell.state = state;
    cell.value = u"1.1×"_s;
    cell.count = u"128 tried"_s;
    cell.shortCount = u"128"_s;
    CellView number = cell;
    number.count = number.shortCount;
    EXPECT_EQ(painted(cell, 40), painted(number, 40));
    EXPECT_NE(painted(cell, 120), painted(number, 120));
  }
}

TEST_F(Map, LaysOutFourRowsAndThreeBlocksWithA3OnTop) {
  EXPECT_EQ(cellAt(0, 0).name(), "A3B0C0");
  EXPECT_EQ(cellAt(3, 0).name(), "A0B0C0");
  EXPECT_EQ(cellAt(3, 2).name(), "A0B2C0");
  EXPECT_EQ(cellAt(3, 3).name(), "A0B0C1");
  EXPECT_EQ(cellAt(0, 8).name(), "A3B2C2");
  std::set<int> seen;
  for (int row = 0; row < kMapRows; ++row) {
    for (int column = 0; column < kMapColumns; ++column) {
      seen.insert(cellAt(row, column).index());
      EXPECT_EQ(mapRow(cellAt(row, column)), row);
      EXPECT_EQ(mapColumn(cellAt(row, column)), column);
    }
  }
  EXPECT_EQ(seen.size(), 36U);
}

TEST_F(Map, CellsDoNotOverlapAndStayInside) {
  for (const QSize size : {QSize(520, 260), QSize(900, 500), QSize(1600, 900)}) {
    const HeatMapGeometry geometry(size, map.font());
    for (int row = 0; row < kMapRows; ++row) {
      for (int column = 0; column < kMapColumns; ++column) {
        const QRectF cell = geometry.cell(row, column);
        EXPECT_TRUE(QRectF(QPointF(), QSizeF(size)).contains(cell));
        EXPECT_FALSE(column > 0 && cell.intersects(geometry.cell(row, column - 1)));
        EXPECT_FALSE(row > 0 && cell.intersects(geometry.cell(row - 1, column)));
      }
    }
  }
}

TEST_F(Map, HasOnlyCodesWhereWordsWouldBeCutOff) {
  EXPECT_TRUE(HeatMapGeometry({900, 500}, map.font()).hasWords());
  const HeatMapGeometry narrow({380, 500}, map.font());
  EXPECT_FALSE(narrow.hasWords());
  EXPECT_FALSE(HeatMapGeometry({900, 160}, map.font()).hasWords()) << "two lines do not fit beside a row";
  EXPECT_LT(narrow.rowHeader(0).width(), HeatMapGeometry({900, 500}, map.font()).rowHeader(0).width() / 2);
}

TEST_F(Map, FitsIntoItsLeastSize) {
  const QSize least = map.minimumSizeHint();
  const HeatMapGeometry geometry(least, map.font());
  const QRectF all(QPointF(0.0, 0.0), QSizeF(least));
  EXPECT_TRUE(all.contains(geometry.cell(kMapRows - 1, kMapColumns - 1)));
  EXPECT_GE(geometry.cell(0, 0).height(), QFontMetricsF(map.font()).height()) << "the value can be read";
}

TEST_F(Map, AHeaderSaysInFullWhatItsCodeMeans) {
  const QPoint header = map.geometryOfCells().rowHeader(0).center().toPoint();
  QHelpEvent hover(QEvent::ToolTip, header, map.mapToGlobal(header));
  QCoreApplication::sendEvent(&map, &hover);
  EXPECT_EQ(QToolTip::text(), u"A3: asynchronous pipeline"_s);
  QToolTip::hideText();
}

TEST_F(Map, IsTakenAwayWithItsColoursAndItsNumbers) {
  const domain::Cell cell = *domain::Cell::parse("A2B1C0");
  const QSize size(700, 420);
  QImage image(size, QImage::Format_RGB32);
  {
    QPainter painter(&image);
    map.drawChart(painter, QRectF(QPointF(), QSizeF(size)));
  }
  const HeatMapGeometry geometry(size, map.font());
  const QPoint corner = geometry.cell(mapRow(cell), mapColumn(cell)).topLeft().toPoint() + QPoint(6, 6);
  EXPECT_EQ(image.pixelColor(corner), mapColor(ColorMap::Viridis, map.view(cell.index()).level));
  const ChartTable table = map.chartTable();
  ASSERT_EQ(table.rows.size(), record.cellRows.size());
  const auto row =
      std::find_if(table.rows.begin(), table.rows.end(), [](const auto& one) { return one[0] == "A2B1C0"; });
  ASSERT_NE(row, table.rows.end());
  EXPECT_EQ((*row)[1], u"filled"_s);
  EXPECT_GT((*row)[6].toDouble(), 0.0);
  EXPECT_EQ(row->size(), table.columns.size());
}

TEST_F(Map, AClickChoosesTheCellUnderIt) {
  const QSignalSpy chosen(&map, &HeatMap::currentCellChanged);
  QTest::mouseClick(&map, Qt::LeftButton, {}, centre("A2B1C1"));
  EXPECT_EQ(current(), "A2B1C1");
  EXPECT_EQ(chosen.size(), 1);
  QTest::mouseClick(&map, Qt::LeftButton, {}, QPoint(2, 2));
  EXPECT_EQ(current(), "none");
}

TEST_F(Map, ADoubleClickOpensTheCell) {
  const QSignalSpy opened(&map, &HeatMap::cellActivated);
  QTest::mouseDClick(&map, Qt::LeftButton, {}, centre("A1B0C2"));
  ASSERT_EQ(opened.size(), 1);
  EXPECT_EQ(opened.front().front().toInt(), domain::Cell::parse("A1B0C2")->index());
}

TEST_F(Map, ArrowKeysMoveAndStopAtTheEdges) {
  map.setCurrentCell(domain::Cell::parse("A0B0C0")->index());
  QTest::keyClick(&map, Qt::Key_Left);
  QTest::keyClick(&map, Qt::Key_Down);
  EXPECT_EQ(current(), "A0B0C0");
  QTest::keyClick(&map, Qt::Key_Up);
  EXPECT_EQ(current(), "A1B0C0");
  for (int i = 0; i < 3; ++i) {
    QTest::keyClick(&map, Qt::Key_Right);
  }
  EXPECT_EQ(current(), "A1B0C1");
  QTest::keyClick(&map, Qt::Key_End);
  EXPECT_EQ(current(), "A1B2C2");
  QTest::keyClick(&map, Qt::Key_Home);
  EXPECT_EQ(current(), "A1B0C0");
}

TEST_F(Map, TheFirstArrowKeyGoesToTheBestCell) {
  QTest::keyClick(&map, Qt::Key_Right);
  ASSERT_GE(map.currentCell(), 0);
  EXPECT_TRUE(map.view(map.currentCell()).best);
}

TEST_F(Map, EnterOpensAndEscapeChoosesNone) {
  const QSignalSpy opened(&map, &HeatMap::cellActivated);
  QTest::keyClick(&map, Qt::Key_Return);
  EXPECT_EQ(opened.size(), 0);
  map.setCurrentCell(4);
  QTest::keyClick(&map, Qt::Key_Return);
  EXPECT_EQ(opened.size(), 1);
  QTest::keyClick(&map, Qt::Key_Escape);
  EXPECT_EQ(current(), "none");
}

TEST_F(Map, EveryStateLooksDifferent) {
  const QImage filled = picture("A2B1C1");
  const QImage failed = picture("A2B0C2");
  const QImage unavailable = picture("A3B2C0");
  EXPECT_EQ(map.view(domain::Cell::parse("A2B0C2")->index()).state, State::FailedOnly);
  EXPECT_EQ(map.view(domain::Cell::parse("A3B2C0")->index()).state, State::Unavailable);
  map.setCells(emptyCells());
  const QImage empty = picture("A2B1C1");
  EXPECT_NE(filled, empty);
  EXPECT_NE(failed, empty);
  EXPECT_NE(unavailable, empty);
  EXPECT_NE(failed, unavailable);
}

TEST_F(Map, ExactlyOneCellIsTheBest) {
  int best = 0;
  for (int i = 0; i < domain::kCellCount; ++i) {
    best += map.view(i).best ? 1 : 0;
  }
  EXPECT_EQ(best, 1);
}

TEST_F(Map, ShowsATimeWhereNoBaselineIsKnown) {
  auto cells = emptyCells();
  cells[0].state = State::Filled;
  cells[0].bestTimeNs = 12345.0;
  map.setCells(cells);
  EXPECT_EQ(map.view(0).value, u"12.3 µs"_s);
}

TEST_F(Map, AsksForTheTooltipOfTheHoveredCell) {
  int asked = -1;
  map.setTooltipProvider([&asked](int index) {
    asked = index;
    return u"evidence"_s;
  });
  QHelpEvent hover(QEvent::ToolTip, centre("A1B1C0"), map.mapToGlobal(centre("A1B1C0")));
  QCoreApplication::sendEvent(&map, &hover);
  EXPECT_EQ(asked, domain::Cell::parse("A1B1C0")->index());
  EXPECT_EQ(QToolTip::text(), u"evidence"_s);
  QToolTip::hideText();
}

TEST(CellTooltip, NamesTheInstructionsThatPutTheKernelThere) {
  swage::testing::FakeRecordService record;
  swage::testing::fillDemo(record);
  const domain::Cell cell = *domain::Cell::parse("A2B1C1");
  const services::CellSummary& summary = record.cellRows[static_cast<std::size_t>(cell.index())];
  const auto best = record.candidate(summary.best);
  ASSERT_TRUE(best);
  const QString text = cellTooltip(summary, &*best);
  EXPECT_TRUE(text.contains(u"staged, packed or collective, one launch"_s));
  EXPECT_TRUE(text.contains(u"vfmadd231ps zmm × 48"_s));
}

class AccessibleMap : public Map {
 protected:
  AccessibleMap() { table = QAccessible::queryAccessibleInterface(&map); }

  QAccessibleInterface* table = nullptr;
};

TEST_F(AccessibleMap, IsATableOfThirtySixCells) {
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->role(), QAccessible::Table);
  QAccessibleTableInterface* cells = table->tableInterface();
  ASSERT_NE(cells, nullptr);
  EXPECT_EQ(cells->rowCount(), 4);
  EXPECT_EQ(cells->columnCount(), 9);
  EXPECT_EQ(table->childCount(), 36);
  EXPECT_EQ(cells->rowDescription(0), u"asynchronous pipeline"_s);
  EXPECT_EQ(cells->cellAt(4, 0), nullptr);
  EXPECT_EQ(cells->cellAt(0, -1), nullptr);
}

TEST_F(AccessibleMap, EveryCellSaysWhatItIsInOneSentence) {
  QAccessibleInterface* cell = table->tableInterface()->cellAt(1, 4);
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->role(), QAccessible::Cell);
  const QString text = cell->text(QAccessible::Name);
  EXPECT_TRUE(text.startsWith(u"A2B1C1: staged, packed or collective, one launch: best 2."_s)) << text.toStdString();
  EXPECT_TRUE(text.endsWith(u"best of all cells"_s)) << text.toStdString();
  EXPECT_EQ(cell->tableCellInterface()->rowIndex(), 1);
  EXPECT_EQ(cell->tableCellInterface()->columnIndex(), 4);
  EXPECT_EQ(table->tableInterface()->cellAt(0, 8)->text(QAccessible::Name),
            u"A3B2C2: asynchronous pipeline, matrix unit, inter-block: not reachable on this device"_s);
}

TEST_F(AccessibleMap, TheChosenCellIsTheSelectedOneAndLiesWhereItIsDrawn) {
  QTest::mouseClick(&map, Qt::LeftButton, {}, centre("A1B0C1"));
  const auto selected = table->tableInterface()->selectedCells();
  ASSERT_EQ(selected.size(), 1);
  EXPECT_TRUE(selected.front()->state().selected);
  EXPECT_TRUE(selected.front()->rect().contains(map.mapToGlobal(centre("A1B0C1"))));
  EXPECT_EQ(table->indexOfChild(selected.front()), accessibleChildOfCell(map.currentCell()));
  EXPECT_EQ(table->childAt(map.mapToGlobal(centre("A1B0C1")).x(), map.mapToGlobal(centre("A1B0C1")).y()),
            selected.front());
}

}  // namespace
}  // namespace swage::ui
