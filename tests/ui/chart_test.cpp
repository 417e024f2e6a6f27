// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGraphicsObject>
#include <QGraphicsView>
#include <QGuiApplication>
#include <QImage>
#include <QMenu>
#include <QPainter>
#include <QTest>

#include <cmath>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/ui/demo_data.h"
#include "ui/charts/bar_chart.h"
#include "ui/charts/history_chart.h"
#include "ui/charts/memory_chart.h"
#include "ui/charts/roofline_chart.h"
#include "ui/charts/timing_strip.h"
#include "ui/models/format.h"
#include "ui/pages/progress_page.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using testing::IsError;
using testing::IsOk;

class ChartTest : public ::testing::Test {
 protected:
  ChartTest() {
    m_chart.setBars(
        {{u"L2, \"hot\""_s, 0.25, u"25 %"_s, 0.75, u"−50"_s, u"why"_s}, {u"DRAM"_s, 1.0, u"100 %"_s, {}, {}, {}}});
    m_chart.resize(400, 120);
  }
  [[nodiscard]] QImage drawn() const {
    QImage image(m_chart.size(), QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    m_chart.drawChart(painter, m_chart.rect());
    return image;
  }
  static int count(const QImage& image, const QColor& color) {
    int found = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        found += image.pixelColor(x, y) == color ? 1 : 0;
      }
    }
    return found;
  }

  BarChart m_chart{u"Speed of light"_s};
  testing::TempDir m_folder;
};

TEST_F(ChartTest, CsvQuotesWhatHasToBeAndHasAllDigits) {
  EXPECT_EQ(toCsv(m_chart.chartTable()), u"name,share,baseline\r\n\"L2, \"\"hot\"\"\",0.25,0.75\r\nDRAM,1,\r\n"_s);
  EXPECT_EQ(csvNumber(1.0 / 3.0).toDouble(), 1.0 / 3.0);
}

TEST_F(ChartTest, IsWrittenInEveryFormat) {
  const auto bytes = [&](ChartFormat format, const char* name) {
    EXPECT_THAT(exportChart(m_chart, m_folder / name, format, {400, 120}), IsOk());
    return readTextFile(m_folder / name).value_or("");
  };
  EXPECT_THAT(bytes(ChartFormat::Svg, "a.svg"),
              ::testing::AllOf(::testing::HasSubstr("<svg"), ::testing::HasSubstr("<title>Speed of light</title>"),
                               ::testing::HasSubstr("DRAM")));
  EXPECT_THAT(bytes(ChartFormat::Csv, "a.csv"), ::testing::StartsWith("name,share"));
  const std::string png = bytes(ChartFormat::Png, "a.png");
  const QImage image = QImage::fromData(QByteArray::fromStdString(png), "PNG");
  EXPECT_EQ(image.size(), QSize(800, 240)) << "sharp when it is enlarged";
}

TEST_F(ChartTest, ThatCannotBeWrittenIsAnError) {
  EXPECT_THAT(exportChart(m_chart, m_folder / "no" / "such" / "a.svg", ChartFormat::Svg, {40, 40}),
              IsError(ErrorKind::NotFound, ::testing::HasSubstr("a.svg")));
}

TEST_F(ChartTest, AsksForAFileAndReportsWhatWentWrong) {
  QString suggested;
  std::vector<std::string> errors;
  const ChartOutlet outlet{[&](QWidget*, const QString& suggestion, const std::function<void(const QString&)>& chosen) {
                             suggested = suggestion;
                             chosen(QString::fromStdString((m_folder / "no" / "a.png").string()));
                           },
                           [&](const Error& error) { errors.push_back(error.message()); }};
  saveChart(m_chart, m_chart, outlet, ChartFormat::Png);
  EXPECT_EQ(suggested, u"speed-of-light.png"_s);
  EXPECT_EQ(errors.size(), 1U);
}

TEST_F(ChartTest, OffersFilesOnlyWhereItCanAskForOne) {
  const auto actions = [&] {
    m_chart.show();
    QContextMenuEvent event(QContextMenuEvent::Keyboard, {10, 10}, m_chart.mapToGlobal(QPoint(10, 10)));
    QCoreApplication::sendEvent(&m_chart, &event);
    auto* menu = m_chart.findChild<QMenu*>(u"chartMenu"_s);
    const auto number = menu->actions().size();
    delete menu;
    return number;
  };
  EXPECT_EQ(actions(), 2);
  m_chart.setOutlet({[](QWidget*, const QString&, const auto&) {}, {}});
  EXPECT_EQ(actions(), 6);
}

TEST_F(ChartTest, CopiesItsNumbersAndItsImage) {
  copyChartNumbers(m_chart);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), toCsv(m_chart.chartTable()));
  copyChartImage(m_chart, m_chart);
  EXPECT_EQ(QGuiApplication::clipboard()->image().size(), m_chart.size());
}

TEST_F(ChartTest, IsReadAloudWithItsNumbers) {
  EXPECT_EQ(m_chart.accessibleName(), u"Speed of light"_s);
  EXPECT_TRUE(m_chart.accessibleDescription().contains(u"DRAM 1"_s));
}

TEST_F(ChartTest, BarsAreAsLongAsTheirShares) {
  const Theme& theme = Theme::light();
  const QImage image = drawn();
  const int filled = count(image, theme.chartBar);
  m_chart.setBars({{u"L2, \"hot\""_s, 0.75, u"25 %"_s, 0.75, u"−50"_s, {}}, {u"DRAM"_s, 1.0, u"100 %"_s, {}, {}, {}}});
  EXPECT_NEAR(count(drawn(), theme.chartBar) / static_cast<double>(filled), 1.75 / 1.25, 0.08);
  EXPECT_GT(count(image, theme.chartPinned), 0) << "the pinned baseline is marked";
}

TEST(HistoryChart, ExportsTheCornersItDraws) {
  HistoryChart chart;
  chart.resize(400, 240);
  chart.show();
  chart.setHistory({{1.0, {0.5, 0.4, 0.6}, domain::CandidateId(1)}, {2.0, {1.5, 1.4, 1.6}, domain::CandidateId(2)}},
                   3.0, u"compile"_s);
  const ChartTable table = chart.chartTable();
  ASSERT_EQ(static_cast<int>(table.rows.size()), chart.cornerCount());
  EXPECT_EQ(table.rows.back(), (QStringList{u"3"_s, u"1.5"_s, u"1.4"_s, u"1.6"_s}));
  QImage image(800, 480, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  chart.drawChart(painter, image.rect());
  painter.end();
  EXPECT_EQ(image.pixelColor(790, 470), Theme::light().base) << "it fills what it is given";
}

// As the legend has them.
QStringList seriesNames(const QWidget& page) {
  QStringList names;
  for (const QGraphicsItem* item : page.findChild<QGraphicsView*>()->items()) {
    if (const QGraphicsObject* object = item->toGraphicsObject(); object != nullptr) {
      for (const QObject* child : object->findChildren<QObject*>()) {
        names.push_back(child->property("name").toString());
      }
    }
  }
  return names;
}

TEST(ProgressPage, TheLineAtOneIsTheBaselineOfTheRun) {
  testing::FakeRunService run;
  testing::FakeRecordService record;
  testing::fillDemo(record);
  domain::Baseline eager = record.baselineRows.front();
  eager.mode = "eager";
  eager.timing.medianNs *= 0.98;  // in a moment when nothing else ran
  record.baselineRows.push_back(eager);
  ProjectSession session(run, record);
  ProgressPage page(session);
  page.resize(400, 240);
  page.show();
  session.showRun(testing::kDemoRun);
  EXPECT_EQ(seriesNames(page).filter(u"baseline: "_s),
            QStringList{u"baseline: compile "_s + formatTime(record.baselineRows.front().timing.medianNs)});
}

TEST(RooflineChart, LeavesOutWhatALogarithmCannotShow) {
  RooflineChart chart;
  chart.setPoints({.theoreticalBytesPerSecond = 4e12, .flopsPerSecond = 6e13},
                  {{u"a"_s, 0.5, 1e12, RooflinePoint::Role::Candidate, true},
                   {u"zero"_s, 0.0, 1e12, RooflinePoint::Role::Elite, false},
                   {u"none"_s, 1.0, 0.0, RooflinePoint::Role::Elite, false}});
  EXPECT_EQ(chart.points().size(), 1U);
  EXPECT_FALSE(chart.isEmpty());
  const ChartTable table = chart.chartTable();
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[2], (QStringList{u"a"_s, u"0.5"_s, u"1e+12"_s, u"2e+12"_s, u"counters"_s}));
}

TEST(RooflineChart, IsEmptyWithoutRoofsOrPoints) {
  RooflineChart chart;
  EXPECT_TRUE(chart.isEmpty());
  chart.setPoints({}, {{u"a"_s, 0.5, 1e12, RooflinePoint::Role::Candidate, true}});
  EXPECT_TRUE(chart.isEmpty());
}

TEST(RooflineChart, DrawsTheCandidateWhereItsNumbersAre) {
  RooflineChart chart;
  chart.setPoints({.theoreticalBytesPerSecond = 4e12, .flopsPerSecond = 6e13},
                  {{u"a"_s, 0.5, 1e12, RooflinePoint::Role::Candidate, true}});
  chart.resize(600, 320);
  QImage image(chart.size(), QImage::Format_ARGB32_Premultiplied);
  QPainter painter(&image);
  chart.drawChart(painter, chart.rect());
  painter.end();
  QRect marks;
  for (int y = chart.fontMetrics().height() * 2; y < image.height(); ++y) {  // below the legend
    for (int x = 0; x < image.width(); ++x) {
      if (image.pixelColor(x, y) == Theme::light().chartLine) {
        marks |= QRect(x, y, 1, 1);
      }
    }
  }
  ASSERT_FALSE(marks.isEmpty());
  EXPECT_LT(marks.width(), 20);
  EXPECT_GT(marks.center().x(), 100);
  EXPECT_LT(marks.center().x(), 300) << "half a flop a byte lies in the left half, between 0.1 and 100";
}

TEST(TimingStrip, ExportsMediansAndIntervals) {
  TimingStrip strip;
  strip.setLines({{u"this"_s, {1000.0, 990.0, 1020.0}, 980.0, TimingLine::Role::Candidate}});
  EXPECT_EQ(strip.chartTable().rows.front(), (QStringList{u"this"_s, u"1000"_s, u"990"_s, u"1020"_s, u"980"_s}));
}

TEST(MemoryChart, ExportsWhatWasCountedAndLeavesTheRestEmpty) {
  MemoryChart chart;
  MemoryLevels levels;
  levels.l2Use = 0.5;
  levels.traffic.bytesRead = 1e6;
  chart.setLevels(levels);
  const auto rows = chart.chartTable().rows;
  EXPECT_EQ(rows[0], (QStringList{u"L1"_s, {}, {}, {}, {}}));
  EXPECT_EQ(rows[1], (QStringList{u"L2"_s, u"0.5"_s, {}, {}, {}}));
  EXPECT_EQ(rows[2][3], u"1e+06"_s);
}

}  // namespace
}  // namespace swage::ui
