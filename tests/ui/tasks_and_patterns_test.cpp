// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QScrollArea>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>

#include "tests/support/fake_pattern_search.h"
#include "tests/ui/window_fixture.h"
#include "ui/editor/kernel_view.h"
#include "ui/models/task_tree_model.h"
#include "ui/pages/patterns_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/shell/run_bar.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

class TasksPageTest : public WindowTest {
 protected:
  TasksPageTest() {
    std::filesystem::create_directories(folder / "mine" / "level1");
    write(folder / "mine" / "level1" / "1_Square.py", "class Model(nn.Module): ...\n");
    write(folder / "mine" / "level1" / "3_Row.py", "class Model(nn.Module): ...\n");
  }
  [[nodiscard]] QString path(const char* name) const { return QString::fromStdString((folder / name).string()); }
  [[nodiscard]] QAbstractItemModel* tree() const { return child<QTreeView>(u"taskTree"_s)->model(); }
  [[nodiscard]] QModelIndex find(const QString& text) const {
    return tree()->match(tree()->index(0, 0), Qt::DisplayRole, text, 1, Qt::MatchExactly | Qt::MatchRecursive).value(0);
  }
  // What the user's pointer does with something from outside.
  void drop(const QString& file) const {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent dropped(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &dropped);
  }
};

TEST_F(TasksPageTest, ShowsBundledTasksAndTheFolderOfTheUser) {
  open();
  EXPECT_TRUE(find(u"softmax_rows"_s).isValid());
  dialogs.path = path("mine");
  QTest::mouseClick(child<QToolButton>(u"addTaskFolder"_s), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([this] { return find(u"1_Square"_s).isValid(); }));
  EXPECT_TRUE(find(u"mine (2)"_s).isValid());
}

TEST_F(TasksPageTest, EnterOpensATaskWhichIsRecentThen) {
  open();
  auto* view = child<QTreeView>(u"taskTree"_s);
  view->setCurrentIndex(find(u"softmax_rows"_s));
  QTest::keyClick(view, Qt::Key_Return);
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), path("tasks/softmax_rows.py"));
  EXPECT_TRUE(find(u"Recent (1)"_s).isValid());
}

TEST_F(TasksPageTest, TheSearchLeavesWhatMatches) {
  open();
  child<ui::TasksPage>(u"tasksPage"_s)->addFolder(path("mine"));
  ASSERT_TRUE(QTest::qWaitFor([this] { return find(u"3_Row"_s).isValid(); }));
  QTest::keyClicks(child<QLineEdit>(u"taskSearch"_s), u"square"_s);
  EXPECT_TRUE(find(u"1_Square"_s).isValid());
  EXPECT_FALSE(find(u"3_Row"_s).isValid());
  EXPECT_FALSE(find(u"softmax_rows"_s).isValid());
}

TEST_F(TasksPageTest, AFolderCanBeTakenOutAgainAndOthersAreRemembered) {
  options.stateFile = folder / "window.json";
  open();
  auto* page = child<ui::TasksPage>(u"tasksPage"_s);
  page->addFolder(path("mine"));
  page->addFolder(path("tasks"));
  ASSERT_TRUE(QTest::qWaitFor([this] { return find(u"3_Row"_s).isValid(); }));
  auto* remove = child<QToolButton>(u"removeTaskFolder"_s);
  EXPECT_FALSE(remove->isEnabled());
  child<QTreeView>(u"taskTree"_s)->setCurrentIndex(find(u"3_Row"_s));
  QTest::mouseClick(remove, Qt::LeftButton);
  EXPECT_TRUE(QTest::qWaitFor([this] { return !find(u"3_Row"_s).isValid(); }));
  window->close();
  window.reset();
  open();
  EXPECT_EQ(child<ui::TasksPage>(u"tasksPage"_s)->folders(), QStringList{path("tasks")});
}

TEST_F(TasksPageTest, WhatIsDroppedOnTheWindowIsOpened) {
  write(folder / "project" / "runs.sqlite", "");
  open();
  drop(path("mine/level1/3_Row.py"));
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), path("mine/level1/3_Row.py"));
  drop(path("mine"));
  EXPECT_TRUE(QTest::qWaitFor([this] { return find(u"mine (2)"_s).isValid(); }));
  drop(path("project"));
  EXPECT_EQ(window->session().shownRun(), kDemoRun);
  drop(path("project/runs.sqlite"));
  EXPECT_EQ(window->session().project(), folder / "project");
  write(folder / "notes.txt", "");
  drop(path("notes.txt"));
  EXPECT_TRUE(child<ui::NoticeBanner>(u"noticeBanner"_s)->text().contains(u"Swage cannot open"_s));
}

class PatternsPageTest : public ::testing::Test {
 protected:
  PatternsPageTest() { service.rows = demoPatterns(); }
  [[nodiscard]] QAbstractItemModel* table() const { return page->findChild<QTableView*>(u"patternTable"_s)->model(); }
  void open() {
    page = std::make_unique<ui::PatternsPage>(service);
    page->resize(400, 900);
    page->show();
  }

  FakePatternService service;
  std::unique_ptr<ui::PatternsPage> page;
};

TEST_F(PatternsPageTest, FindsPatternsByAllThatTheirManifestSays) {
  open();
  EXPECT_EQ(table()->rowCount(), 3);
  auto* search = page->findChild<QLineEdit*>(u"patternSearch"_s);
  search->setText(u"warp cuda"_s);
  ASSERT_EQ(table()->rowCount(), 1);
  EXPECT_EQ(table()->index(0, 0).data(), u"row_warp"_s);
  search->setText(u"rows_per_task"_s);
  EXPECT_EQ(table()->rowCount(), 1);
  search->setText(u"(no such"_s);
  EXPECT_EQ(table()->rowCount(), 0);
}

TEST_F(PatternsPageTest, ShowsParametersAndSourceOfTheChosenOne) {
  open();
  page->select(u"C++"_s, u"row"_s);
  EXPECT_EQ(page->findChild<QLabel*>(u"patternTitle"_s)->text(), u"row (C++)"_s);
  EXPECT_TRUE(page->findChild<QLabel*>(u"patternFacts"_s)->text().contains(u"movement: A1"_s));
  const auto* parameters = page->findChild<QTableView*>(u"parameterTable"_s)->model();
  ASSERT_EQ(parameters->rowCount(), 2);
  EXPECT_EQ(parameters->index(1, 1).data(), u"1  2  4  8  16  32"_s);
  EXPECT_TRUE(page->findChild<ui::KernelView*>(u"patternSource"_s)->text().contains(u"one row after another"_s));
}

TEST_F(PatternsPageTest, CanBeReadInANarrowDock) {
  open();
  page->resize(280, 480);
  page->select(u"C++"_s, u"row"_s);
  const auto* facts = page->findChild<QLabel*>(u"patternFacts"_s);
  const auto* about = page->findChild<QScrollArea*>(u"patternAbout"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return facts->width() == about->viewport()->width(); }));
  EXPECT_GE(facts->height(), facts->heightForWidth(facts->width())) << "the whole text, scrolled";
  auto* tabs = page->findChild<QTabWidget*>(u"patternTabs"_s);
  tabs->setCurrentIndex(1);
  const auto* parameters = page->findChild<QTableView*>(u"parameterTable"_s);
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return parameters->horizontalHeader()->length() <= parameters->viewport()->width(); }));
  EXPECT_TRUE(QTest::qWaitFor([&] { return parameters->rowHeight(1) > parameters->fontMetrics().height() * 2; }))
      << "long cells are wrapped";
}

class PatternFinderTest : public ::testing::Test {
 protected:
  PatternFinderTest() {
    search.entries = {{.key = "catalogue/cuda/row_block",
                       .origin = domain::PatternOrigin::Catalogue,
                       .title = "row_block",
                       .summary = "One block for each row.",
                       .body = "__global__ void row() {}",
                       .place = "patterns/cuda/row_block",
                       .operators = {"softmax"},
                       .types = {},
                       .architectures = {"sm_90"},
                       .bottlenecks = {"memory"}},
                      {.key = "record/1",
                       .origin = domain::PatternOrigin::Record,
                       .title = "softmax, 1.8 times",
                       .summary = {},
                       .body = {},
                       .place = {},
                       .operators = {},
                       .types = {},
                       .architectures = {},
                       .bottlenecks = {}}};
    page = std::make_unique<ui::PatternsPage>(catalogue, &search);
    page->resize(900, 600);
    page->show();
  }
  [[nodiscard]] QLineEdit* field() const { return page->findChild<QLineEdit*>(u"patternQuestion"_s); }
  [[nodiscard]] QAbstractItemModel* table() const { return page->findChild<QTableView*>(u"foundTable"_s)->model(); }
  void type(const QString& text) const {
    field()->setText(text);
    QTest::keyClick(field(), Qt::Key_Return);
  }

  FakePatternService catalogue;
  FakePatternSearchService search;
  std::unique_ptr<ui::PatternsPage> page;
};

TEST_F(PatternFinderTest, ShowsWhatIsKnownOnThisMachineAndTheBestOfIt) {
  EXPECT_TRUE(search.questions.empty()) << "nothing is read before somebody asks";
  type(u"row softmax, sm_90"_s);
  ASSERT_EQ(search.questions, std::vector<std::string>{"row softmax, sm_90"});
  ASSERT_TRUE(QTest::qWaitFor([this] { return table()->rowCount() == 2; }));
  EXPECT_EQ(table()->index(1, 1).data(), u"Your runs"_s);
  EXPECT_EQ(page->findChild<QLabel*>(u"foundTitle"_s)->text(), u"row_block"_s);
  EXPECT_TRUE(page->findChild<QLabel*>(u"foundFacts"_s)->text().contains(u"Architectures: sm_90"_s));
  EXPECT_TRUE(page->findChild<ui::KernelView*>(u"foundBody"_s)->text().contains(u"void row()"_s));
}

TEST_F(PatternFinderTest, ALaterQuestionTakesThePlaceOfAnEarlierOne) {
  search.waits = true;
  type(u"first"_s);
  type(u"second"_s);
  ASSERT_EQ(search.promises.size(), 2U);
  EXPECT_TRUE(search.promises[0].isCanceled());
  search.answer(1);
  ASSERT_TRUE(QTest::qWaitFor([this] { return table()->rowCount() == 2; }));
  type({});
  EXPECT_EQ(table()->rowCount(), 0);
}

TEST_F(PatternFinderTest, SaysWhyNothingCanBeFound) {
  search.failure = Error(ErrorKind::Storage, "the disk is full");
  type(u"softmax"_s);
  const auto says = [this](const QString& text) {
    const auto labels = page->findChildren<QLabel*>(u"emptySentence"_s);
    return std::any_of(labels.begin(), labels.end(), [&text](const QLabel* label) { return label->text() == text; });
  };
  EXPECT_TRUE(QTest::qWaitFor([&says] { return says(u"the disk is full"_s); }));
  search.failure.reset();
  search.entries.clear();
  type(u"poetry"_s);
  EXPECT_TRUE(QTest::qWaitFor([&says] { return says(u"No results."_s); }));
}

TEST_F(PatternsPageTest, SaysWhyTheCatalogueCannotBeShown) {
  service.failure = Error(ErrorKind::InvalidInput, "pattern.toml:3: unknown key");
  open();
  EXPECT_EQ(table()->rowCount(), 0);
  QStringList sentences;
  for (const auto* empty : page->findChildren<QLabel*>(u"emptySentence"_s)) {
    sentences << empty->text();
  }
  EXPECT_TRUE(sentences.contains(u"pattern.toml:3: unknown key"_s));
}

}  // namespace
}  // namespace swage::testing
