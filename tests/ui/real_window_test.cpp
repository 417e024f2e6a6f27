// SPDX-License-Identifier: Apache-2.0
// A window on a real X server, moved by a real pointer and keyboard. Started by real_window.sh, which brings the
// server.
#include <QImage>
#include <QProcess>
#include <QScreen>
#include <QWindow>

#include "tests/ui/window_fixture.h"
#include "ui/editor/kernel_view.h"
#include "ui/widgets/heat_map.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

constexpr int kDeadlineMs = 15000;

class RealWindow : public WindowTest {
 protected:
  // Events go through the X server, as those of a user do.
  static void xdotool(const QStringList& arguments) {
    ASSERT_EQ(QProcess::execute(u"xdotool"_s, arguments), 0) << arguments.join(u' ').toStdString();
  }
  static void click(const QWidget& widget, const QPoint& point) {
    const QPoint global = widget.mapToGlobal(point);
    xdotool({u"mousemove"_s, QString::number(global.x()), QString::number(global.y()), u"click"_s, u"1"_s});
  }
  static void press(const QString& key) { xdotool({u"key"_s, key}); }

  void showWindow() {
    openWithTask();
    window->resize(1280, 800);
    window->move(0, 0);
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get(), kDeadlineMs));
  }
  [[nodiscard]] QImage picture() const { return window->screen()->grabWindow(window->winId()).toImage(); }
};

TEST_F(RealWindow, IsUsedByMouseAndKeyboardFromStartToTheSourceOfACell) {
  showWindow();
  press(u"F5"_s);
  ASSERT_TRUE(QTest::qWaitFor([this] { return run.starts == 1; }, kDeadlineMs));
  run.enter(services::RunState::Running);
  run.create(kDemoRun);
  sendEverything();
  auto* map = child<ui::HeatMap>(u"heatMap"_s);
  const domain::Cell cell = *domain::Cell::parse("A1B1C1");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !map->view(cell.index()).value.isEmpty(); }, kDeadlineMs));
  click(*map, map->geometryOfCells().cell(ui::mapRow(cell), ui::mapColumn(cell)).center().toPoint());
  ASSERT_TRUE(QTest::qWaitFor([&] { return map->currentCell() == cell.index(); }, kDeadlineMs));
  press(u"Up"_s);
  const int above = domain::Cell::parse("A2B1C1")->index();
  ASSERT_TRUE(QTest::qWaitFor([&] { return map->currentCell() == above; }, kDeadlineMs));
  EXPECT_EQ(window->session().selectedCandidate(), record.points.back().candidate);
  EXPECT_TRUE(child<ui::KernelView>(u"sourceView"_s)->text().contains(u"softmax_rows"_s));
  press(u"F6"_s);
  EXPECT_TRUE(QTest::qWaitFor([this] { return run.pauses == 1; }, kDeadlineMs));
  press(u"shift+F5"_s);
  EXPECT_TRUE(QTest::qWaitFor([this] { return run.stops == 1; }, kDeadlineMs));
  run.finish({});
}

TEST_F(RealWindow, DrawsItsContentOnTheScreen) {
  showWindow();
  window->actions().start->trigger();
  run.enter(services::RunState::Running);
  run.create(kDemoRun);
  sendEverything();
  const auto* map = child<ui::HeatMap>(u"heatMap"_s);
  const domain::Cell best = *domain::Cell::parse("A2B1C1");
  QImage image;
  // The colour of the best cell where the screen should show it; its corner carries no text.
  const auto drawn = [&] {
    image = picture();
    const QRectF cell = map->geometryOfCells().cell(ui::mapRow(best), ui::mapColumn(best));
    const QPoint corner = map->mapTo(window.get(), cell.topLeft().toPoint() + QPoint(6, 6));
    return image.size() == window->size() &&
           image.pixelColor(corner) == ui::mapColor(ui::ColorMap::Viridis, map->view(best.index()).level);
  };
  EXPECT_TRUE(QTest::qWaitFor(drawn, kDeadlineMs));
  if (const QString file = qEnvironmentVariable("SWAGE_TEST_PICTURE"); !file.isEmpty()) {
    EXPECT_TRUE(image.save(file));
  }
}

}  // namespace
}  // namespace swage::testing
