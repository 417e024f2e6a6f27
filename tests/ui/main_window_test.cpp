// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/window_fixture.h"

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>

#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "core/services/report_service.h"
#include "tests/support/no_warnings.h"
#include "tests/support/wait_for.h"
#include "ui/charts/history_chart.h"
#include "ui/editor/kernel_view.h"
#include "ui/pages/archive_page.h"
#include "ui/pages/runs_page.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/page_descriptors.h"
#include "ui/shell/run_bar.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/heat_map.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using services::RunState;

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

TEST_F(WindowTest, OffersTheBundledTasks) {
  open();
  const auto* picker = child<QComboBox>(u"taskPicker"_s);
  ASSERT_EQ(picker->count(), 1);
  EXPECT_EQ(picker->itemText(0), u"softmax_rows"_s);
  EXPECT_TRUE(picker->itemData(0, Qt::ToolTipRole).toString().startsWith(u"Softmax of each row: one pass."_s));
}

TEST_F(WindowTest, CannotStartWithoutATask) {
  open();
  EXPECT_FALSE(window->actions().start->isEnabled());
  child<QComboBox>(u"taskPicker"_s)->setCurrentIndex(0);
  EXPECT_TRUE(window->actions().start->isEnabled());
}

TEST_F(WindowTest, StartsWhatTheFieldsSay) {
  options.spec.target = "cpu";
  options.spec.timeBudgetSeconds = 120.0;
  options.spec.overrides = {{"rows", "64"}};
  options.spec.seed = 1;  // what RunSpec begins with, but given here
  openWithTask();
  child<QComboBox>(u"timeBudget"_s)->setCurrentText(u"5 min"_s);
  window->actions().start->trigger();
  EXPECT_EQ(run.starts, 1);
  EXPECT_EQ(run.spec.task, (folder / "tasks" / "softmax_rows.py").string());
  EXPECT_EQ(run.spec.target, "cpu");
  EXPECT_EQ(run.spec.timeBudgetSeconds, 300.0);
  EXPECT_EQ(run.spec.seed, 1U);
  EXPECT_EQ(run.spec.project, folder / "project");
  EXPECT_EQ(run.spec.overrides, (std::vector<std::pair<std::string, std::string>>{{"rows", "64"}}));
}

TEST_F(WindowTest, AltAndALetterOpenAMenuFromTheSource) {
  openWithTask();
  startRun();
  sendEverything();
  window->activateWindow();
  auto* source = child<ui::KernelView>(u"sourceView"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return source->isVisible() && window->isActiveWindow(); }, kDeadlineMs));
  source->setFocus();
  QAction* opened = nullptr;
  QTimer::singleShot(0, window.get(), [&] {
    opened = window->menuBar()->activeAction();
    if (QWidget* menu = QApplication::activePopupWidget(); menu != nullptr) {
      menu->close();
    }
  });
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_C, Qt::AltModifier);
  ASSERT_TRUE(QTest::qWaitFor([&] { return opened != nullptr; }, kDeadlineMs));
  EXPECT_EQ(opened->text(), u"&Candidate"_s);
}

TEST_F(WindowTest, ClosesDuringASearchThatStopsAtOnce) {
  openWithTask();
  startRun();
  run.stopsAtOnce = true;
  window->actions().quit->trigger();
  EXPECT_EQ(run.stops, 1);
  EXPECT_TRUE(QTest::qWaitFor([this] { return !window->isVisible(); }, kDeadlineMs));
}

TEST_F(WindowTest, SaysAllTheTimeThatItIsADemo) {
  options.mode = u"Demo: recorded run, nothing is measured"_s;
  openWithTask();
  EXPECT_TRUE(child<ui::Badge>(u"modeBadge"_s)->isVisible());
  startRun();
  run.finish({});
  EXPECT_TRUE(child<ui::Badge>(u"modeBadge"_s)->isVisible());
  window.reset();
  options.mode.clear();
  open();
  EXPECT_EQ(window->findChild<ui::Badge*>(u"modeBadge"_s), nullptr);
}

TEST_F(WindowTest, ABudgetThatMakesNoSenseCannotBeStarted) {
  openWithTask();
  child<QComboBox>(u"timeBudget"_s)->setCurrentText(u"soon"_s);
  EXPECT_FALSE(window->actions().start->isEnabled());
}

TEST_F(WindowTest, EventsOfTheEngineReachMapTableChartAndSource) {
  openWithTask();
  startRun();
  sendEverything();
  auto* map = child<ui::HeatMap>(u"heatMap"_s);
  auto* table = child<QTableView>(u"candidateTable"_s);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        return map->view(domain::Cell::parse("A2B1C1")->index()).best &&
               child<ui::ElidedLabel>(u"stage"_s)->fullText().contains(u"0:54 / 1:00"_s);
      },
      kDeadlineMs));
  EXPECT_EQ(table->model()->rowCount(), static_cast<int>(record.rows.size()));
  EXPECT_GT(window->findChild<ui::HistoryChart*>()->cornerCount(), 2);
  EXPECT_TRUE(child<ui::KernelView>(u"sourceView"_s)->text().contains(u"softmax_rows"_s));
  EXPECT_EQ(child<ui::Badge>(u"accuracyBadge"_s)->text(), u"fp32"_s);
  EXPECT_TRUE(child<ui::ElidedLabel>(u"workerStatus"_s)->fullText().contains(u"compilers: 3 of 4 busy"_s));
}

// The command line opens pages by these names.
TEST_F(WindowTest, EveryPageIsAmongThoseThatAreDescribed) {
  openWithTask();
  std::set<QString> described;
  for (const ui::PageDescriptor& page : ui::describePages()) {
    EXPECT_TRUE(described.insert(page.id).second) << page.id.toStdString();
  }
  const auto docked = window->docks().pages();
  EXPECT_GE(docked.size(), 6U);
  for (const ui::PageDescriptor* page : docked) {
    EXPECT_TRUE(described.contains(page->id)) << page->id.toStdString();
  }
}

TEST_F(WindowTest, NewCandidatesReachTheTable) {
  openWithTask();
  startRun();
  auto* table = child<QTableView>(u"candidateTable"_s);
  const int before = table->model()->rowCount();
  record.rows.push_back(record.rows.back());
  record.rows.back().id = domain::CandidateId(9000);
  Q_EMIT run.candidateEvaluated(record.rows.back());
  EXPECT_TRUE(QTest::qWaitFor([&] { return table->model()->rowCount() == before + 1; }, kDeadlineMs));
  EXPECT_EQ(child<QLabel>(u"candidateCount"_s)->text(), u"743 candidates"_s);
}

TEST_F(WindowTest, ButtonsFollowTheStateOfTheRun) {
  openWithTask();
  const ui::Actions& actions = window->actions();
  const auto enabled = [&actions] {
    return QList<bool>{actions.start->isEnabled(), actions.pause->isEnabled(), actions.stop->isEnabled()};
  };
  EXPECT_EQ(enabled(), (QList<bool>{true, false, false}));
  actions.start->trigger();
  run.enter(RunState::Importing);
  EXPECT_EQ(enabled(), (QList<bool>{false, false, true}));
  run.enter(RunState::Running);
  EXPECT_EQ(enabled(), (QList<bool>{false, true, true}));
  actions.pause->trigger();
  EXPECT_EQ(run.pauses, 1);
  run.enter(RunState::Paused);
  EXPECT_TRUE(actions.pause->isChecked());
  actions.pause->trigger();
  EXPECT_EQ(run.resumes, 1);
  run.enter(RunState::Running);
  actions.stop->trigger();
  EXPECT_EQ(run.stops, 1);
  run.enter(RunState::Stopping);
  EXPECT_EQ(enabled(), (QList<bool>{false, false, false}));
  run.finish({});
  EXPECT_EQ(enabled(), (QList<bool>{true, false, false}));
}

TEST_F(WindowTest, FieldsAreLockedDuringARun) {
  openWithTask();
  startRun();
  EXPECT_FALSE(child<QComboBox>(u"taskPicker"_s)->isEnabled());
  run.finish({});
  EXPECT_TRUE(child<QComboBox>(u"taskPicker"_s)->isEnabled());
}

TEST_F(WindowTest, AClickOnACellShowsItsBestKernel) {
  openWithTask();
  startRun();
  sendEverything();
  auto* map = child<ui::HeatMap>(u"heatMap"_s);
  const int index = domain::Cell::parse("A1B1C1")->index();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !map->view(index).value.isEmpty(); }, kDeadlineMs));
  const domain::Cell cell = domain::Cell::fromIndex(index);
  const QPointF centre = map->geometryOfCells().cell(ui::mapRow(cell), ui::mapColumn(cell)).center();
  QTest::mouseClick(map, Qt::LeftButton, {}, centre.toPoint());
  const auto best = record.cellRows[static_cast<std::size_t>(index)].best;
  EXPECT_EQ(window->session().selectedCandidate(), best);
  EXPECT_EQ(child<QLabel>(u"kernelTitle"_s)->text(), u"Candidate %1 · A1B1C1"_s.arg(best.value()));
}

TEST_F(WindowTest, ADoubleClickOnACellMakesRoomForItsKernel) {
  openWithTask().resize(1440, 900);
  startRun();
  sendEverything();
  auto* map = child<ui::HeatMap>(u"heatMap"_s);
  const auto* kernel = child<QDockWidget>(u"kernelDock"_s);
  const int index = domain::Cell::parse("A1B1C1")->index();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !map->view(index).value.isEmpty(); }, kDeadlineMs));
  const auto isLarge = [&] {
    return kernel->width() > window->width() * 0.45 && kernel->height() > window->height() * 0.5;
  };
  ASSERT_FALSE(isLarge());
  Q_EMIT map->cellActivated(index);
  EXPECT_TRUE(QTest::qWaitFor(isLarge, kDeadlineMs)) << kernel->width() << " by " << kernel->height();
}

class FakeReports final : public services::ReportService {
 public:
  [[nodiscard]] QFuture<Result<std::string>> report(const std::filesystem::path&, domain::RunId run,
                                                    services::ReportFormat format) const override {
    return QtFuture::makeReadyFuture(
        Result<std::string>(std::string(services::name(format)) + " of run " + std::to_string(run.value())));
  }
};

TEST_F(WindowTest, AReportOfARunIsWrittenWhereTheUserSays) {
  const FakeReports reports;
  ui::WindowServices parts = services();
  parts.reports = &reports;
  window = std::make_unique<ui::MainWindow>(parts, options);
  auto* runs = child<ui::RunsPage>(u"runsPage"_s);
  for (const auto& [name, text] : {std::pair("report.html", "html of run 7"), std::pair("r.md", "markdown of run 7")}) {
    const std::filesystem::path file = folder / name;
    dialogs.path = QString::fromStdString(file.string());
    Q_EMIT runs->reportRequested(record.runRows.front());
    std::ifstream written(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), text);
  }
  EXPECT_EQ(dialogs.suggested, u"softmax_rows-r7.html"_s);
}

TEST_F(WindowTest, ACellLeadsToTheListOfItsCandidates) {
  openWithTask();
  startRun();
  Q_EMIT child<ui::ArchivePage>(u"archivePage"_s)->cellListRequested(domain::Cell::parse("A1B1C1")->index());
  const auto* filter = child<QWidget>(u"candidateFilter"_s)->findChild<QLineEdit*>();
  EXPECT_EQ(filter->text(), u"cell:A1B1C1"_s);
}

TEST_F(WindowTest, ARowOfTheTableShowsItsCandidateAndMarksItsCell) {
  openWithTask();
  startRun();
  auto* table = child<QTableView>(u"candidateTable"_s);
  table->setCurrentIndex(table->model()->index(5, 0));
  const auto& detail = window->session().detail();
  ASSERT_TRUE(detail && detail->row.cell);
  EXPECT_EQ(table->model()->index(5, 0).data().toLongLong(), detail->row.id.value());
  EXPECT_EQ(child<ui::HeatMap>(u"heatMap"_s)->currentCell(), detail->row.cell->index());
}

TEST_F(WindowTest, SortingByAColumnAsksTheRecord) {
  openWithTask();
  startRun();
  auto* table = child<QTableView>(u"candidateTable"_s);
  table->sortByColumn(0, Qt::AscendingOrder);
  EXPECT_EQ(table->model()->index(0, 0).data().toString(), u"1"_s);
  table->sortByColumn(0, Qt::DescendingOrder);
  EXPECT_EQ(table->model()->index(0, 0).data().toString(), u"742"_s);
}

TEST_F(WindowTest, TheTableCanShowOnlyOneStatus) {
  openWithTask();
  startRun();
  auto* filter = child<QComboBox>(u"statusFilter"_s);
  filter->setCurrentIndex(filter->findData(u"wrong"_s));
  auto* table = child<QTableView>(u"candidateTable"_s);
  EXPECT_LT(table->model()->rowCount(), static_cast<int>(record.rows.size()));
  EXPECT_GT(table->model()->rowCount(), 0);
}

TEST_F(WindowTest, AMessageTakesItsOwnHeightAndNothingElse) {
  open();
  window->resize(1440, 900);
  const auto* archive = child<QDockWidget>(u"archiveDock"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return archive->width() > window->width() / 3; }, kDeadlineMs));
  // The docks get their proportions after the window is shown.
  ASSERT_TRUE(waitUntilStill([&] { return archive->size(); }));
  const QSize before = archive->size();
  window->showNotice({services::Notice::Severity::Warning,
                      "a speedup on this task may say little: the output is nearly constant: mean 0.000976563, "
                      "standard deviation 0.00127 over its elements and all seeds",
                      ""});
  const auto* banner = child<ui::NoticeBanner>(u"noticeBanner"_s);
  ASSERT_TRUE(QTest::qWaitFor([&] { return banner->isVisible() && banner->width() > 1000; }, kDeadlineMs));
  ASSERT_TRUE(waitUntilStill([&] { return std::pair(archive->size(), banner->size()); }));
  EXPECT_EQ(window->size(), QSize(1440, 900));
  EXPECT_EQ(archive->width(), before.width());
  EXPECT_GE(archive->height(), before.height() - 2 * banner->height());
}

TEST_F(WindowTest, AFailedRunIsToldInABannerWithItsHint) {
  openWithTask();
  startRun();
  services::RunOutcome outcome;
  outcome.state = RunState::Failed;
  outcome.error = Error(ErrorKind::Environment, "cannot run the compiler", "apt install g++");
  run.finish(outcome);
  auto* banner = child<ui::NoticeBanner>(u"noticeBanner"_s);
  EXPECT_TRUE(banner->isVisible());
  EXPECT_EQ(banner->text(), u"cannot run the compiler"_s);
  auto* text = child<QLabel>(u"noticeText"_s);
  EXPECT_TRUE(text->text().contains(u"apt install g++"_s));
  EXPECT_TRUE(QTest::qWaitFor([&] { return banner->rect().contains(text->geometry()); }, kDeadlineMs));
  EXPECT_GE(text->height(), text->heightForWidth(text->width()));
  EXPECT_GT(text->width(), banner->width() / 2);
  banner->dismiss();
  EXPECT_FALSE(banner->isVisible());
}

TEST_F(WindowTest, ANewStartClearsOldMessages) {
  openWithTask();
  window->showNotice({services::Notice::Severity::Error, "old", ""});
  window->actions().start->trigger();
  EXPECT_FALSE(child<ui::NoticeBanner>(u"noticeBanner"_s)->hasNotice());
}

TEST_F(WindowTest, ExportsTheSelectedKernelThroughTheAssistant) {
  openWithTask();
  EXPECT_FALSE(window->actions().exportKernel->isEnabled());
  startRun();
  const domain::CandidateId best = record.points.back().candidate;
  window->session().selectCandidate(best);
  window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
  QTest::keyClick(window.get(), Qt::Key_E, Qt::ControlModifier);
  auto* dialog = child<ui::ExportDialog>(u"exportDialog"_s);
  ASSERT_TRUE(dialog != nullptr && dialog->isVisible());
  dialogs.path = QString::fromStdString((folder / "out.py").string());
  QTest::mouseClick(child<QPushButton>(u"browseExport"_s), Qt::LeftButton);
  EXPECT_TRUE(dialogs.suggested.endsWith(u"/kernel_new.py"_s));
  EXPECT_EQ(exporter.writes, 0);
  QTest::mouseClick(child<QPushButton>(u"writeExport"_s), Qt::LeftButton);
  EXPECT_EQ(exporter.writes, 1);
  EXPECT_EQ(exporter.exported, best);
  EXPECT_EQ(exporter.writtenTo, folder / "out.py");
  EXPECT_EQ(child<ui::NoticeBanner>(u"noticeBanner"_s)->text(), u"Candidate %1 was exported."_s.arg(best.value()));
  QTest::keyClick(dialog, Qt::Key_Escape);
  EXPECT_FALSE(dialog->isVisible());
}

TEST_F(WindowTest, WhatIsWrongIsOfferedBesideTheBestOfItsRun) {
  openWithTask();
  startRun();
  const auto wrong = std::find_if(record.rows.begin(), record.rows.end(),
                                  [](const auto& row) { return row.status == domain::CandidateStatus::Wrong; });
  window->session().selectCandidate(wrong->id);
  window->actions().exportKernel->trigger();
  EXPECT_EQ(child<QComboBox>(u"exportCandidate"_s)->count(), 2);
}

TEST_F(WindowTest, OpensATaskThroughTheDialogAndRemembersIt) {
  options.stateFile = folder / "state" / "window.json";
  open();
  dialogs.path = u"/somewhere/my_model.py"_s;
  window->actions().openTask->trigger();
  EXPECT_EQ(child<ui::RunBar>(u"runBar"_s)->task(), dialogs.path);
  window->close();
  window.reset();
  open();
  EXPECT_GE(child<QComboBox>(u"taskPicker"_s)->findData(dialogs.path), 0);
}

TEST_F(WindowTest, ChoosingATaskShowsWhatItsProjectRecorded) {
  options.spec.project.clear();
  options.projectOf = [this](const std::string&) { return folder / "project"; };
  write(folder / "project" / "runs.sqlite", "");
  open();
  EXPECT_FALSE(window->session().shownRun().isValid());
  child<QComboBox>(u"taskPicker"_s)->setCurrentIndex(0);
  EXPECT_EQ(window->session().shownRun(), kDemoRun);
  EXPECT_EQ(record.opened, folder / "project");
}

TEST_F(WindowTest, ClosingStopsASearchFirstAndASecondTimeKillsIt) {
  openWithTask();
  startRun();
  EXPECT_FALSE(window->close());
  EXPECT_EQ(run.stops, 1);
  EXPECT_TRUE(window->isVisible());
  EXPECT_FALSE(window->close());
  EXPECT_EQ(run.kills, 1);
  run.finish({});
  EXPECT_TRUE(QTest::qWaitFor([this] { return !window->isVisible(); }, kDeadlineMs));
}

TEST_F(WindowTest, ResumesTheShownRun) {
  record.runRows.front().status = domain::RunStatus::Interrupted;
  write(folder / "project" / "runs.sqlite", "");
  openWithTask();
  ASSERT_TRUE(window->actions().resumeRecorded->isEnabled());
  window->actions().resumeRecorded->trigger();
  EXPECT_EQ(run.spec.resume, kDemoRun);
  EXPECT_EQ(run.spec.project, folder / "project");
}

TEST_F(WindowTest, EveryThemeIsDrawnWithoutAWarning) {
  openWithTask();
  startRun();
  sendEverything();
  for (const ui::ThemeChoice choice : {ui::ThemeChoice::Light, ui::ThemeChoice::Dark, ui::ThemeChoice::System}) {
    theme.choose(choice);
    EXPECT_FALSE(window->grab().isNull());
  }
}

TEST_F(WindowTest, ForgetsADamagedLayoutInsteadOfFailing) {
  options.stateFile = folder / "window.json";
  write(options.stateFile, "{\"schema\": 1, \"geometry\": \"AAAA\", \"layout\": \"////\"}");
  open();
  EXPECT_TRUE(window->isVisible());
  EXPECT_TRUE(child<QDockWidget>(u"kernelDock"_s)->isVisible());
}

TEST_F(WindowTest, RemembersTheThemeButNotTheOneOfThisStart) {
  open();
  child<QAction>(u"theme_dark"_s)->trigger();
  EXPECT_EQ(settings.settings.at("theme.choice"), services::SettingValue(std::string("dark")));
  window->close();
  window.reset();
  options.themeOfThisStart = ui::ThemeChoice::Light;
  open();
  EXPECT_FALSE(theme.theme().dark);
  window->close();
  EXPECT_EQ(settings.settings.at("theme.choice"), services::SettingValue(std::string("dark")));
}

TEST_F(WindowTest, EveryControlHasANameForAScreenReader) {
  openWithTask();
  for (const QString& name : {u"taskPicker"_s, u"target"_s, u"timeBudget"_s, u"statusFilter"_s, u"heatMap"_s,
                              u"candidateTable"_s, u"runOptions"_s, u"budgetBar"_s}) {
    EXPECT_FALSE(child<QWidget>(name)->accessibleName().isEmpty()) << name.toStdString();
  }
}

TEST_F(WindowTest, RecordedRunsAreOffered) {
  write(folder / "project" / "runs.sqlite", "");
  openWithTask();
  auto* menu = child<QMenu>(u"recordedRuns"_s);
  Q_EMIT menu->aboutToShow();
  ASSERT_EQ(menu->actions().size(), 1);
  EXPECT_TRUE(menu->actions().front()->text().startsWith(u"7: softmax_rows, finished, 2."_s));
}

}  // namespace
}  // namespace swage::testing
