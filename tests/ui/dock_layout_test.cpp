// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/dock_layout.h"

#include <gmock/gmock.h>

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QTest>
#include <QVBoxLayout>

#include <array>

#include "tests/support/fake_profile_service.h"
#include "tests/ui/window_fixture.h"
#include "ui/shell/layout_menu.h"
#include "ui/widgets/heat_map.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using ui::Layout;
using ui::Place;

// A page that remembers a word.
class NotePage final : public QLabel {
 public:
  void setTheme(const ui::Theme& theme) { isDark = theme.dark; }
  [[nodiscard]] QJsonObject saveState() const { return {{u"word"_s, text()}}; }
  void restoreState(const QJsonObject& state) { setText(state[u"word"_s].toString()); }

  bool isDark = false;
};

ui::PageDescriptor page(const QString& id, Place home, std::vector<std::pair<Layout, Place>> shownIn) {
  return {.id = id, .title = id, .hint = id, .home = home, .shownIn = std::move(shownIn), .shortcut = {}};
}

class DockLayoutTest : public ::testing::Test {
 protected:
  DockLayoutTest() {
    window.resize(1200, 800);
    window.setAnimated(false);
    note = docks.add(page(u"note"_s, Place::Navigator, {{Layout::Search, Place::Navigator}}), new NotePage);
    add(page(u"map"_s, Place::Centre, {{Layout::Search, Place::Centre}, {Layout::Inspect, Place::SideBelow}}));
    add(page(u"table"_s, Place::Bottom, {{Layout::Search, Place::Bottom}, {Layout::Compare, Place::Bottom}}));
    add(page(u"runs"_s, Place::Bottom, {{Layout::Search, Place::Bottom}}));
    add(page(u"compare"_s, Place::Centre, {{Layout::Compare, Place::Centre}}));
    docks.apply(Layout::Search);
    window.show();
  }
  void add(const ui::PageDescriptor& descriptor) { docks.add(descriptor, new QLabel(descriptor.title)); }
  [[nodiscard]] QDockWidget* dock(const QString& id) const {
    auto* found = window.findChild<QDockWidget*>(id + u"Dock"_s);
    EXPECT_NE(found, nullptr) << id.toStdString();
    return found;
  }
  // Which pages a user has before them or behind a tab.
  [[nodiscard]] QStringList open() const {
    QStringList ids;
    for (const QDockWidget* one : window.findChildren<QDockWidget*>()) {
      if (!one->isHidden()) {
        ids.push_back(one->windowTitle());
      }
    }
    ids.sort();
    return ids;
  }

  QMainWindow window;
  ui::DockLayout docks{window};
  NotePage* note = nullptr;
};

TEST_F(DockLayoutTest, ShowsThePagesOfALayoutInTheirPlaces) {
  EXPECT_EQ(open(), (QStringList{u"map"_s, u"note"_s, u"runs"_s, u"table"_s}));
  EXPECT_EQ(window.tabifiedDockWidgets(dock(u"table"_s)), QList<QDockWidget*>{dock(u"runs"_s)});
  EXPECT_LT(dock(u"note"_s)->geometry().right(), dock(u"map"_s)->x());
  EXPECT_LT(dock(u"map"_s)->geometry().bottom(), dock(u"table"_s)->y());
  EXPECT_EQ(dock(u"note"_s)->x(), dock(u"table"_s)->x());
  EXPECT_EQ(dock(u"table"_s)->geometry().right(), dock(u"map"_s)->geometry().right());
  docks.apply(Layout::Inspect);
  EXPECT_EQ(open(), QStringList{u"map"_s});
}

TEST_F(DockLayoutTest, GivesEachPlaceItsShareOfTheWindow) {
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
  EXPECT_NEAR(dock(u"note"_s)->width(), 1200 * 17 / 100, 40);
  EXPECT_NEAR(dock(u"table"_s)->height(), 800 * 30 / 100, 60);
}

TEST_F(DockLayoutTest, KeepsProportionsHoweverOftenTheWindowIsResized) {
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
  const auto sizes = [this](const QSize& size) {
    window.resize(size);
    QCoreApplication::processEvents();
    return std::array{dock(u"note"_s)->size(), dock(u"map"_s)->size(), dock(u"table"_s)->size()};
  };
  const auto before = sizes({1200, 800});
  for (int i = 0; i < 10; ++i) {
    sizes({1100, 760});
    EXPECT_EQ(sizes({1200, 800}), before);
  }
}

TEST_F(DockLayoutTest, TheFirstPageOfAPlaceIsInFront) {
  EXPECT_FALSE(dock(u"table"_s)->visibleRegion().isEmpty());
  EXPECT_TRUE(dock(u"runs"_s)->visibleRegion().isEmpty());
}

TEST_F(DockLayoutTest, ShowBringsAPageToTheFront) {
  docks.show(u"runs"_s);
  EXPECT_TRUE(QTest::qWaitFor([this] { return !dock(u"runs"_s)->visibleRegion().isEmpty(); }));
  docks.show(u"compare"_s);
  EXPECT_FALSE(dock(u"compare"_s)->isHidden());
  EXPECT_EQ(window.tabifiedDockWidgets(dock(u"compare"_s)), QList<QDockWidget*>{dock(u"map"_s)});
}

TEST_F(DockLayoutTest, TheActionOfAPageShowsItAndNeverClosesIt) {
  auto* action = docks.action(u"runs"_s);
  action->trigger();
  ASSERT_TRUE(QTest::qWaitFor([this] { return !dock(u"runs"_s)->visibleRegion().isEmpty(); }));
  action->trigger();
  EXPECT_FALSE(dock(u"runs"_s)->isHidden());
  dock(u"runs"_s)->close();
  action->trigger();
  EXPECT_FALSE(dock(u"runs"_s)->isHidden());
}

TEST_F(DockLayoutTest, APageThatIsShownHasTheKeyboard) {
  auto* page = new QWidget;
  auto* list = new QListWidget;
  auto* column = new QVBoxLayout(page);
  column->addWidget(new QLineEdit);
  column->addWidget(list);
  docks.add(ui::PageDescriptor{.id = u"list"_s, .title = u"list"_s, .hint = {}, .shownIn = {}, .shortcut = {}}, page);
  docks.show(u"list"_s);
  EXPECT_EQ(window.focusWidget(), list);
  EXPECT_EQ(docks.pageOf(list), u"list"_s);
  EXPECT_EQ(docks.pageOf(nullptr), QString());
}

TEST_F(DockLayoutTest, APageLargerThanItsDockIsScrolled) {
  auto* page = new QWidget;
  page->setMinimumSize(2000, 1500);
  docks.add(ui::PageDescriptor{.id = u"large"_s, .title = u"large"_s, .hint = {}, .shownIn = {}, .shortcut = {}}, page);
  docks.show(u"large"_s);
  EXPECT_LT(window.minimumSizeHint().width(), 900);
  EXPECT_LT(window.minimumSizeHint().height(), 600);
}

TEST_F(DockLayoutTest, ResetBringsBackTheCurrentLayout) {
  docks.apply(Layout::Compare);
  dock(u"compare"_s)->setFloating(true);
  dock(u"table"_s)->hide();
  docks.reset();
  EXPECT_EQ(open(), (QStringList{u"compare"_s, u"table"_s}));
  EXPECT_FALSE(dock(u"compare"_s)->isFloating());
}

TEST_F(DockLayoutTest, SavedStatesComeBackAndOthersAreRefused) {
  const QByteArray before = docks.save();
  docks.apply(Layout::Inspect);
  EXPECT_TRUE(docks.restore(before));
  EXPECT_EQ(open(), (QStringList{u"map"_s, u"note"_s, u"runs"_s, u"table"_s}));
  EXPECT_FALSE(docks.restore("rubbish"));
  EXPECT_EQ(open(), (QStringList{u"map"_s, u"note"_s, u"runs"_s, u"table"_s}));
}

TEST_F(DockLayoutTest, PagesRememberWhatTheyOffer) {
  note->setText(u"speedup>1.5"_s);
  const QJsonObject states = docks.savePages();
  EXPECT_EQ(states.keys(), QStringList{u"note"_s});
  note->setText({});
  docks.restorePages(states);
  EXPECT_EQ(note->text(), u"speedup>1.5"_s);
  docks.restorePages({{u"note"_s, 5}, {u"gone"_s, QJsonObject()}});
  EXPECT_EQ(note->text(), u"speedup>1.5"_s);
}

TEST_F(DockLayoutTest, TheThemeReachesEveryPageThatHasOne) {
  docks.setTheme(ui::Theme::darkTheme());
  EXPECT_TRUE(note->isDark);
}

TEST_F(WindowTest, ALayoutIsSavedUnderANameChosenAndRemembered) {
  options.stateFile = folder / "window.json";
  open();
  window->docks().show(u"kernel"_s);
  child<QDockWidget>(u"candidatesDock"_s)->hide();
  dialogs.path = u"Reading"_s;
  child<QAction>(u"saveLayout"_s)->trigger();
  child<QAction>(u"resetLayout"_s)->trigger();
  EXPECT_FALSE(child<QDockWidget>(u"candidatesDock"_s)->isHidden());
  window->close();
  window.reset();
  open();
  child<QAction>(u"layout_saved_Reading"_s)->trigger();
  EXPECT_TRUE(child<QDockWidget>(u"candidatesDock"_s)->isHidden());
}

// A page that does not fit into its dock is scrolled, and then something of it is out of sight.
TEST_F(WindowTest, TheWholeMapIsInSightWhereACandidateIsInspected) {
  FakeProfileService profiles;
  ui::WindowServices all = services();
  all.profiles = &profiles;
  window = std::make_unique<ui::MainWindow>(all, options);
  window->resize(1440, 900);
  window->show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(window.get()));
  window->docks().apply(Layout::Inspect);
  auto* map = window->findChild<ui::HeatMap*>();
  const auto isInSight = [](const QWidget* part) { return part->visibleRegion().boundingRect() == part->rect(); };
  EXPECT_TRUE(QTest::qWaitFor([&] { return isInSight(map) && isInSight(child<QWidget>(u"heatLegend"_s)); }))
      << map->height() << " of " << map->minimumSizeHint().height();
  const QRectF rect(map->rect());
  const ui::HeatMapGeometry& geometry = map->geometryOfCells();
  EXPECT_TRUE(rect.contains(geometry.cell(ui::kMapRows - 1, ui::kMapColumns - 1)));
  EXPECT_TRUE(rect.contains(geometry.rowHeader(ui::kMapRows - 1)));
  EXPECT_TRUE(rect.contains(geometry.blockHeader(ui::kMapBlocks - 1)));
  window.reset();
}

TEST_F(WindowTest, ABuiltInLayoutIsAKeyAway) {
  open();
  window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
  QTest::keyClick(window.get(), Qt::Key_2, Qt::ControlModifier);
  EXPECT_TRUE(child<QDockWidget>(u"progressDock"_s)->isHidden());
  QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
  EXPECT_FALSE(child<QDockWidget>(u"progressDock"_s)->isHidden());
}

}  // namespace
}  // namespace swage::testing
