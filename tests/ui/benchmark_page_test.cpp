// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/benchmark_page.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QImage>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "core/base/files.h"
#include "tests/support/fake_benchmark_service.h"
#include "tests/support/temp_dir.h"
#include "tests/ui/demo_benchmark.h"
#include "ui/models/benchmark_model.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/svg_picture.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

class BenchmarkPageTest : public ::testing::Test {
 protected:
  BenchmarkPageTest() {
    service.answer = swage::testing::demoBenchmark();
    page.resize(1000, 500);
    page.show();
  }
  template <class T>
  [[nodiscard]] T* child(const QString& name) const {
    T* found = page.findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }
  [[nodiscard]] QTableView* tasks() const { return child<QTableView>(u"benchmarkTasks"_s); }
  [[nodiscard]] QString text(int row, BenchmarkColumn column) const {
    return tasks()->model()->index(row, static_cast<int>(column)).data().toString();
  }

  swage::testing::FakeBenchmarkService service;
  BenchmarkPage page{service};
};

TEST_F(BenchmarkPageTest, AsksForAFileAndShowsItsProblems) {
  EXPECT_TRUE(page.findChild<EmptyState*>()->isEmpty());
  page.setChooseFile([](QWidget*, const auto& chosen) { chosen(u"/tmp/odd.json"_s); });
  QTest::mouseClick(child<QPushButton>(u"openBenchmark"_s), Qt::LeftButton);
  EXPECT_EQ(service.asked, "/tmp/odd.json");
  EXPECT_FALSE(page.findChild<EmptyState*>()->isEmpty());
  ASSERT_EQ(tasks()->model()->rowCount(), 4);
  EXPECT_EQ(text(0, BenchmarkColumn::Problem), u"1/1"_s);
  EXPECT_EQ(text(0, BenchmarkColumn::Speedup), u"4.15× ± 1.0 %"_s);
  EXPECT_EQ(text(0, BenchmarkColumn::Verdict), u"accepted"_s);
  EXPECT_EQ(text(2, BenchmarkColumn::Remarks), u"algebraic"_s);
  EXPECT_EQ(text(3, BenchmarkColumn::Kernel), u"–"_s);
  EXPECT_TRUE(child<ElidedLabel>(u"benchmarkHeadline"_s)->fullText().startsWith(u"odd.json: 4 tasks on"_s));
}

TEST_F(BenchmarkPageTest, SortsByWhatIsMeasuredAndNotByItsText) {
  page.open(u"/tmp/odd.json"_s);
  tasks()->sortByColumn(static_cast<int>(BenchmarkColumn::Speedup), Qt::DescendingOrder);
  EXPECT_EQ(text(0, BenchmarkColumn::Problem), u"1/1"_s);
  EXPECT_EQ(text(2, BenchmarkColumn::Problem), u"1/3"_s);
  EXPECT_EQ(text(3, BenchmarkColumn::Problem), u"2/7"_s);
  tasks()->sortByColumn(static_cast<int>(BenchmarkColumn::Kernel), Qt::AscendingOrder);
  EXPECT_EQ(text(3, BenchmarkColumn::Problem), u"2/7"_s) << "a problem without a kernel is not the fastest";
}

TEST_F(BenchmarkPageTest, SaysWhatIsKnownOfTheSelectedProblem) {
  page.open(u"/tmp/odd.json"_s);
  auto* remarks = child<QLabel>(u"benchmarkRemarks"_s);
  EXPECT_FALSE(remarks->isVisible());
  tasks()->selectRow(2);
  EXPECT_TRUE(remarks->isVisible());
  EXPECT_TRUE(remarks->text().contains(u"Left to PyTorch: aten.convolution.default"_s));
  tasks()->selectRow(3);
  EXPECT_TRUE(remarks->text().contains(u"data-dependent control flow"_s));
}

TEST_F(BenchmarkPageTest, ADoubleClickOpensTheRunOfAProblem) {
  const QSignalSpy opened(&page, &BenchmarkPage::runRequested);
  page.open(u"/tmp/odd.json"_s);
  Q_EMIT tasks()->activated(tasks()->model()->index(1, 0));
  ASSERT_EQ(opened.size(), 1);
  EXPECT_EQ(opened[0][0].value<std::filesystem::path>(), "/tmp/odd.project");
  EXPECT_EQ(opened[0][1].value<domain::RunId>(), domain::RunId(3));
  Q_EMIT tasks()->activated(tasks()->model()->index(3, 0));  // it has no run
  EXPECT_EQ(opened.size(), 1);
}

TEST_F(BenchmarkPageTest, KeepsWhatIsShownWhenAFileCannotBeRead) {
  page.open(u"/tmp/odd.json"_s);
  service.answer = Error(ErrorKind::InvalidInput, "'/tmp/x' is no file of `swage bench kernelbench`");
  page.open(u"/tmp/x"_s);
  EXPECT_EQ(tasks()->model()->rowCount(), 4);
  auto* problem = child<QLabel>(u"benchmarkProblem"_s);
  EXPECT_TRUE(problem->isVisible());
  EXPECT_TRUE(problem->text().startsWith(u"'/tmp/x' is no file"_s));
  service.answer = services::BenchmarkResults{};
  page.open(u"/tmp/new.json"_s);
  EXPECT_FALSE(problem->isVisible());
  EXPECT_TRUE(page.findChild<EmptyState*>()->isEmpty()) << "a benchmark that has just begun";
}

TEST_F(BenchmarkPageTest, TheModelsKeepQtsRules) {
  page.open(u"/tmp/odd.json"_s);
  const QAbstractItemModelTester tested(tasks()->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester summary(child<QTableView>(u"benchmarkSummary"_s)->model(),
                                         QAbstractItemModelTester::FailureReportingMode::Fatal);
  page.open(u"/tmp/odd.json"_s);
  EXPECT_EQ(child<QTableView>(u"benchmarkSummary"_s)->model()->index(0, 0).data().toString(), u"All tasks"_s);
}

TEST_F(BenchmarkPageTest, TheChartIsExportedLikeOthers) {
  swage::testing::TempDir folder;
  QString suggested;
  page.setOutlet({[&](QWidget*, const QString& suggestion, const auto& chosen) {
                    suggested = suggestion;
                    chosen(QString::fromStdString((folder / suggestion.toStdString()).string()));
                  },
                  {}});
  page.open(u"/tmp/odd.json"_s);
  child<QTabWidget>(u"benchmarkTabs"_s)->setCurrentIndex(2);
  auto* chart = child<SvgPicture>(u"benchmarkChart"_s);
  QContextMenuEvent event(QContextMenuEvent::Keyboard, {10, 10}, chart->mapToGlobal(QPoint(10, 10)));
  QCoreApplication::sendEvent(chart, &event);
  auto* menu = chart->findChild<QMenu*>(u"chartMenu"_s);
  ASSERT_NE(menu, nullptr);
  const std::string stem = "speedup-of-the-best-kernel-of-each-problem.";
  for (QAction* action : menu->actions()) {
    if (!action->isSeparator()) {
      action->trigger();
    }
  }
  menu->close();
  EXPECT_EQ(suggested.toStdString(), stem + "csv");
  const auto svg = readTextFile(folder / (stem + "svg"), 1'000'000);
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, ::testing::HasSubstr(R"(<rect x="330" y="31" width="300" height="10"/>)")) << "a bar";
  const QImage png(QString::fromStdString((folder / (stem + "png")).string()));
  EXPECT_EQ(png.size(), chart->size() * 2);
  EXPECT_EQ(readTextFile(folder / (stem + "csv"), 1'000'000).value(),
            QGuiApplication::clipboard()->text().toStdString());
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(u"1/1,1_Square_matrix_multiplication_,4.15,"_s));
}

TEST(SvgPicture, HasTheColoursOfDarkPagesOnlyInTheDarkTheme) {
  const QByteArray svg = "<style>a { x: 1 } @media (prefers-color-scheme: dark) { a { x: 2 } b { y: 3 } } c { z: 4 }";
  EXPECT_EQ(resolveColorScheme(svg, false), "<style>a { x: 1 }  c { z: 4 }");
  EXPECT_EQ(resolveColorScheme(svg, true), "<style>a { x: 1 }  a { x: 2 } b { y: 3 }  c { z: 4 }");
  EXPECT_EQ(resolveColorScheme("<svg/>", true), "<svg/>");
}

TEST(SvgPicture, IsAsHighAsItsWidthMakesIt) {
  SvgPicture picture(u"Speedups"_s);
  EXPECT_EQ(picture.heightForWidth(500), 0);
  picture.setDocument(QByteArray::fromStdString(swage::testing::demoBenchmark().chart));
  EXPECT_EQ(picture.heightForWidth(480), 60);
}

}  // namespace
}  // namespace swage::ui
