// SPDX-License-Identifier: Apache-2.0
#include "ui/models/cell_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ui/models/cell_view.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

// Two filled cells with one value of a metric each.
std::vector<services::CellSummary> cellsWith(const std::function<void(services::CellSummary&)>& first,
                                             const std::function<void(services::CellSummary&)>& second) {
  auto cells = emptyCells();
  cells[3].state = State::Filled;
  cells[9].state = State::Filled;
  first(cells[3]);
  second(cells[9]);
  return cells;
}

std::vector<services::CellSummary> cellsWithSpeedups(double first, double second) {
  return cellsWith([=](auto& cell) { cell.speedup = domain::Speedup::exactly(first); },
                   [=](auto& cell) { cell.speedup = domain::Speedup::exactly(second); });
}

std::vector<QString> texts(const CellScale& scale) {
  std::vector<QString> result;
  for (const CellScale::Tick& tick : scale.ticks()) {
    result.push_back(tick.text);
  }
  return result;
}

TEST(CellScale, OfSpeedupsEndsAtPowersOfTwoAroundEveryFilledCell) {
  const CellScale scale = CellScale::fit(CellMetric::Speedup, cellsWithSpeedups(5.0, 0.3));
  EXPECT_DOUBLE_EQ(scale.level(8.0), 1.0);
  EXPECT_DOUBLE_EQ(scale.level(1.0), 0.4);
  EXPECT_DOUBLE_EQ(scale.level(0.0), 0.0);
  EXPECT_THAT(texts(scale), ::testing::ElementsAre(u"1/4×"_s, u"0.5×"_s, u"1×"_s, u"2×"_s, u"4×"_s, u"8×"_s));
}

TEST(CellScale, OneVerySlowCellDoesNotFlattenTheRest) {
  const CellScale scale = CellScale::fit(CellMetric::Speedup, cellsWithSpeedups(1e-6, 2.0));
  EXPECT_DOUBLE_EQ(scale.level(1.0 / 16.0), 0.0);
  EXPECT_DOUBLE_EQ(scale.level(1.0), 0.8);
}

TEST(CellScale, CentredHasTheBaselineInTheMiddle) {
  for (const double speedup : {0.2, 1.0, 3.0}) {
    const CellScale scale =
        CellScale::fit(CellMetric::Speedup, cellsWithSpeedups(speedup, 1.1), CellScale::Centred::Yes);
    EXPECT_DOUBLE_EQ(scale.level(1.0), 0.5);
  }
}

TEST(CellScale, AnUncertainSpeedupIsMarkedInItsCell) {
  const auto cells = cellsWith(
      [](auto& cell) {
        cell.speedup = {2.0, 1.0, 3.0};
      },
      [](auto& cell) {
        cell.speedup = {2.0, 1.9, 2.1};
      });
  const auto views = viewCells(cells, CellScale::fit(CellMetric::Speedup, cells));
  EXPECT_EQ(views[3].value, u"≈2.00×"_s);
  EXPECT_EQ(views[9].value, u"2.00×"_s);
}

TEST(CellScale, ShorterTimesAreBrighter) {
  const CellScale scale = CellScale::fit(CellMetric::Time, cellsWith([](auto& cell) { cell.bestTimeNs = 2e6; },
                                                                     [](auto& cell) { cell.bestTimeNs = 9e5; }));
  EXPECT_GT(scale.level(9e5), scale.level(2e6));
  EXPECT_GE(scale.level(2e6), 0.0);
  EXPECT_LE(scale.level(9e5), 1.0);
}

TEST(CellScale, RegistersBeginAtNoneAndFewerAreBrighter) {
  const CellScale scale = CellScale::fit(CellMetric::Registers, cellsWith([](auto& cell) { cell.registers = 32; },
                                                                          [](auto& cell) { cell.registers = 168; }));
  EXPECT_DOUBLE_EQ(scale.level(0.0), 1.0);
  EXPECT_DOUBLE_EQ(scale.level(200.0), 0.0);
  EXPECT_THAT(texts(scale), ::testing::ElementsAre(u"0"_s, u"50"_s, u"100"_s, u"150"_s, u"200"_s));
}

TEST(CellScale, AnExactResultHasTheBestColour) {
  const auto cells =
      cellsWith([](auto& cell) { cell.relativeError = 0.0; }, [](auto& cell) { cell.relativeError = 3e-7; });
  const CellScale scale = CellScale::fit(CellMetric::Error, cells);
  EXPECT_DOUBLE_EQ(scale.level(0.0), 1.0);
  EXPECT_EQ(viewCells(cells, scale)[3].value, u"exact"_s);
}

TEST(CellScale, TheShareOfTheRoofIsOfAllOfIt) {
  const CellScale scale = CellScale::fit(CellMetric::RoofShare, cellsWith([](auto& cell) { cell.roofShare = 0.5; },
                                                                          [](auto& cell) { cell.roofShare = 0.93; }));
  EXPECT_DOUBLE_EQ(scale.level(0.93), 0.93);
  EXPECT_EQ(formatValue(CellMetric::RoofShare, 0.93), u"93 %"_s);
}

TEST(CellScale, WithoutAnyValueIsEmptyButForSpeedups) {
  for (int i = 0; i < kCellMetrics; ++i) {
    const CellScale scale = CellScale::fit(static_cast<CellMetric>(i), emptyCells());
    EXPECT_EQ(scale.isEmpty(), i != static_cast<int>(CellMetric::Speedup)) << i;
    EXPECT_EQ(scale.ticks().empty(), scale.isEmpty()) << i;
  }
}

TEST(CellScale, OfFewRegistersHasNoTickTwice) {
  for (const int most : {1, 2, 3, 7}) {
    const CellScale scale = CellScale::fit(
        CellMetric::Registers,
        cellsWith([](auto& cell) { cell.registers = 1; }, [most](auto& cell) { cell.registers = most; }));
    const std::vector<QString> shown = texts(scale);
    EXPECT_EQ(std::set<QString>(shown.begin(), shown.end()).size(), shown.size()) << most;
    EXPECT_GE(shown.size(), 2U) << most;
  }
}

TEST(CellScale, AFixedRangeHoldsWhateverTheCellsHave) {
  const ScaleOptions options{.logarithmic = std::nullopt, .range = std::pair(0.5, 4.0)};
  const CellScale scale =
      CellScale::fit(CellMetric::Speedup, cellsWithSpeedups(0.1, 50.0), CellScale::Centred::No, options);
  EXPECT_DOUBLE_EQ(scale.level(0.5), 0.0);
  EXPECT_DOUBLE_EQ(scale.level(0.1), 0.0);
  EXPECT_DOUBLE_EQ(scale.level(4.0), 1.0);
  EXPECT_DOUBLE_EQ(scale.level(50.0), 1.0);
  EXPECT_EQ(scale.range(), std::pair(0.5, 4.0));
  EXPECT_THAT(texts(scale), ::testing::ElementsAre(u"0.5×"_s, u"1×"_s, u"2×"_s, u"4×"_s));
}

TEST(CellScale, CanBeLinearOrLogarithmic) {
  const ScaleOptions linear{.logarithmic = false, .range = std::pair(0.0, 4.0)};
  const auto cells = cellsWithSpeedups(1.0, 4.0);
  const CellScale scale = CellScale::fit(CellMetric::Speedup, cells, CellScale::Centred::No, linear);
  EXPECT_FALSE(scale.isLogarithmic());
  EXPECT_DOUBLE_EQ(scale.level(2.0), 0.5);
  EXPECT_EQ(texts(scale).front(), u"0×"_s);
  const ScaleOptions logarithmic{.logarithmic = true, .range = std::pair(10.0, 1000.0)};
  const CellScale registers = CellScale::fit(CellMetric::Registers, cells, CellScale::Centred::No, logarithmic);
  EXPECT_TRUE(registers.isLogarithmic());
  EXPECT_DOUBLE_EQ(registers.level(100.0), 0.5);
}

TEST(Ink, OfNearlyEqualColoursIsTheSame) {
  std::vector<QColor> fills;
  for (double level = 0.40; level < 0.47; level += 0.01) {
    fills.push_back(mapColor(ColorMap::Viridis, level));
  }
  const std::vector<QColor> inks = readableOn(fills);
  EXPECT_EQ(std::count(inks.begin(), inks.end(), inks.front()), static_cast<std::ptrdiff_t>(inks.size()));
  for (double level = 0.0; level <= 1.0; level += 0.02) {
    fills.push_back(mapColor(ColorMap::Viridis, level));
  }
  const std::vector<QColor> all = readableOn(fills);
  for (std::size_t i = 0; i < fills.size(); ++i) {
    EXPECT_GE(contrastRatio(fills[i], all[i]), 3.5) << i;
  }
}

TEST(CellView, SaysWhatItHasNotInTheChosenMetric) {
  auto cells = cellsWithSpeedups(1.5, 2.0);
  const auto views = viewCells(cells, CellScale::fit(CellMetric::RoofShare, cells));
  EXPECT_EQ(views[3].value, u"–"_s);
  cells[3].roofShare = 0.5;
  EXPECT_THAT(viewCells(cells, CellScale::fit(CellMetric::RoofShare, cells))[3].spoken.toStdString(),
              ::testing::EndsWith("% of roofline 50 %"));
}

TEST(CellMetric, OnlySpeedupsHaveAMiddle) {
  EXPECT_EQ(colorsFor(CellMetric::Speedup, ColorMap::Diverging), ColorMap::Diverging);
  EXPECT_EQ(colorsFor(CellMetric::Time, ColorMap::Diverging), ColorMap::Viridis);
  EXPECT_EQ(colorsFor(CellMetric::Time, ColorMap::Cividis), ColorMap::Cividis);
}

}  // namespace
}  // namespace swage::ui
