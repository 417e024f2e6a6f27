// SPDX-License-Identifier: Apache-2.0
// Draws one page with made-up data, for people who work on how it looks. Not a part of the product.
//   swage-ui-page-screenshot FILE.png [light|dark] [SCENE] [WIDTHxHEIGHT]
// Scenes: profile, profile-pinned, profile-compiler, profile-cpu, profile-none, profile-running, compare,
// compare-ancestor, compare-unified, compare-assembly, compare-metrics, compare-plan, compare-genome, compare-none,
// agents, agents-ended, agents-none, export, export-project, export-checking, export-passed, export-wrong,
// export-written, export-occupied, export-failed; archive, archive-registers, archive-roof, archive-menu, candidates,
// candidates-groups, candidates-menu, lineage, runs, runs-compare, benchmark, benchmark-chart, benchmark-none, swarm,
// swarm-advice, swarm-talks, swarm-spending, swarm-none, swarm-alone.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QListWidget>
#include <QMenu>
#include <QStringList>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>

#include <algorithm>
#include <iterator>

#include <functional>
#include <memory>

#include "tests/support/fake_benchmark_service.h"
#include "tests/ui/demo_activity.h"
#include "tests/ui/demo_benchmark.h"
#include "tests/ui/demo_comparison.h"
#include "tests/ui/demo_data.h"
#include "tests/ui/demo_export.h"
#include "tests/ui/demo_profile.h"
#include "tests/ui/demo_swarm.h"
#include "ui/editor/diff_view.h"
#include "ui/models/candidate_groups.h"
#include "ui/pages/agents_page.h"
#include "ui/pages/archive_page.h"
#include "ui/pages/benchmark_page.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/candidates_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/diff_tools.h"
#include "ui/pages/export_page.h"
#include "ui/pages/lineage_page.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/run_comparison_dialog.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/swarm_page.h"

using namespace Qt::StringLiterals;
using namespace swage;

namespace {

struct Scene {
  QString file;
  const ui::Theme* theme = &ui::Theme::light();
  QString name;
  QSize size;
};

Scene parse(const QStringList& arguments) {
  const QStringList size = arguments.value(4, u"640x1200"_s).split(u'x');
  return {arguments.value(1),
          arguments.value(2) == "dark"_L1 ? &ui::Theme::darkTheme() : &ui::Theme::light(),
          arguments.value(3, u"profile"_s),
          {size.value(0).toInt(), size.value(1).toInt()}};
}

struct Stage {
  Stage() : session(run, record), pinned(session, record, profiles) {
    benchmarks.answer = testing::demoBenchmark();
    testing::fillDemo(record);
    testing::fillDemoProfile(profiles, record);
  }
  testing::FakeRunService run;
  testing::FakeRecordService record;
  testing::FakeProfileService profiles;
  testing::FakeCompareService compare;
  testing::FakeExportService exporter;
  testing::FakeExportCheckService checks;
  testing::FakeBenchmarkService benchmarks;
  testing::FakeSwarmService swarm;
  ui::ProjectSession session;
  ui::PinnedBaseline pinned;
  ui::AnnotationEditor annotations{record};
  ui::CandidateMenu menu{session, record, annotations, commands()};

 private:
  [[nodiscard]] static ui::CandidateCommands commands() {
    const auto nothing = [](domain::CandidateId) {};
    return {.open = nothing,
            .showLineage = nothing,
            .profile = nothing,
            .exportKernel = nothing,
            .useAsBaseline = nothing,
            .compare = [](domain::CandidateId, domain::CandidateId) {},
            .askText = [](QWidget*, const QString&, const QString&, const auto&) {}};
  }
};

std::unique_ptr<QWidget> makeProfile(Stage& stage, const Scene& scene) {
  auto page = std::make_unique<ui::ProfilePage>(stage.session, stage.profiles, stage.pinned);
  page->setTheme(*scene.theme);
  const domain::CandidateId best = testing::demoBest(stage.record);
  if (scene.name == "profile-compiler"_L1) {
    stage.profiles.reports[best] = testing::demoCompilerReport(best);
  } else if (scene.name == "profile-cpu"_L1) {
    stage.profiles.reports[best] = testing::demoCpuReport(best);
  } else if (scene.name != "profile"_L1 && scene.name != "profile-pinned"_L1) {
    stage.profiles.reports.clear();
  }
  stage.session.showRun(testing::kDemoRun);
  if (scene.name == "profile-running"_L1) {
    page->profile();
    stage.profiles.tell(services::ProfileProgress::Stage::LoadingTask, 4.0);
  }
  if (scene.name == "profile-pinned"_L1) {
    const domain::CandidateId other = stage.session.cells()[1].best;
    stage.profiles.reports[other] = testing::demoReport(other);
    auto& kernel = stage.profiles.reports[other].diagnosis.kernels.front();
    kernel.units[1].share = 0.61;
    kernel.stalls[0].value = 0.42;
    kernel.roofline->flopsPerSecond = 1.2e12;
    kernel.roofline->flopsPerByte = 0.41;
    stage.pinned.pinCandidate(other);
  }
  return page;
}

void playExport(Stage& stage, const Scene& scene, ui::ExportPage& page) {
  ui::ExportAssistant& assistant = page.assistant();
  const bool isProject = scene.name == "export-project"_L1 || scene.name == "export-written"_L1;
  page.findChild<QListWidget*>(u"exportFormats"_s)->setCurrentRow(isProject ? 1 : 0);
  assistant.setTarget(u"/home/user/kernels/softmax_rows_new"_s + (isProject ? u""_s : u".py"_s));
  if (scene.name == "export-checking"_L1) {
    assistant.verify();
    Q_EMIT stage.checks.checkStarted(domain::AssuranceKind::FreshProcess);
  } else if (scene.name == "export-written"_L1) {
    assistant.write();
  } else if (scene.name == "export-occupied"_L1) {
    assistant.setTarget(QApplication::applicationFilePath());
  } else if (scene.name == "export-failed"_L1) {
    stage.exporter.writeFailure =
        Error(ErrorKind::Io, "cannot create '/home/user/kernels/softmax_rows_new.py': No space left on device",
              "make room, or choose another folder");
    assistant.write();
  }
}

std::unique_ptr<QWidget> makeExport(Stage& stage, const Scene& scene) {
  testing::fillDemoExport(stage.exporter);
  if (scene.name == "export-passed"_L1 || scene.name == "export-written"_L1) {
    stage.exporter.factRows.gates = testing::demoPassedGates();
  } else if (scene.name == "export-wrong"_L1) {
    stage.exporter.factRows.gates = testing::demoWrongGates();
    stage.exporter.refusal =
        Error(ErrorKind::InvalidInput, "candidate 212 cannot be exported: verified failed: wrong: output 0, element 17",
              "choose a candidate that is correct");
  }
  auto page = std::make_unique<ui::ExportPage>(stage.session, ui::ExportServices{stage.exporter, &stage.checks});
  page->setTheme(*scene.theme);
  stage.session.showRun(testing::kDemoRun);
  if (page->open()) {
    playExport(stage, scene, *page);
  }
  return page;
}

std::unique_ptr<QWidget> makeCompare(Stage& stage, const Scene& scene) {
  using Tab = ui::ComparePage::Tab;
  const testing::DemoComparison demo = testing::fillDemoComparison(stage.record);
  stage.compare.ancestor = demo.ancestor;
  auto page = std::make_unique<ui::ComparePage>(stage.session,
                                                ui::ComparisonServices{stage.record, stage.profiles, stage.compare});
  page->setTheme(*scene.theme);
  stage.session.showRun(testing::kDemoRun);
  if (scene.name == "compare-none"_L1) {
    return page;
  }
  page->compare(demo.left, demo.right);
  const std::pair<QLatin1StringView, Tab> tabs[] = {{"compare-assembly"_L1, Tab::Assembly},
                                                    {"compare-metrics"_L1, Tab::Metrics},
                                                    {"compare-plan"_L1, Tab::Plan},
                                                    {"compare-genome"_L1, Tab::Genome}};
  for (const auto& [name, tab] : tabs) {
    if (scene.name == name) {
      page->showTab(tab);
    }
  }
  page->findChild<QCheckBox*>(u"compareAncestor"_s)->setChecked(scene.name == "compare-ancestor"_L1);
  page->findChild<ui::DiffTools*>(u"sourceDiffTools"_s)
      ->findChild<QComboBox*>(u"diffLayout"_s)
      ->setCurrentIndex(scene.name == "compare-unified"_L1 ? 1 : 0);
  auto* view = page->findChild<ui::DiffView*>(u"sourceDiff"_s);
  QTimer::singleShot(100, view, &ui::DiffView::nextChange);  // when it is as large as it will be
  return page;
}

std::unique_ptr<QWidget> makeAgents(Stage& stage, const Scene& scene) {
  testing::fillDemoActivity(stage.record);
  auto page = std::make_unique<ui::AgentsPage>(stage.session, stage.run, stage.record);
  page->setTheme(*scene.theme);
  if (scene.name == "agents-none"_L1) {
    return page;
  }
  stage.session.start({});
  stage.run.enter(services::RunState::Running);
  stage.run.create(testing::kDemoRun);
  if (scene.name == "agents-ended"_L1) {
    stage.run.finish({});
    return page;
  }
  services::Progress progress = testing::demoProgress(stage.record);
  progress.elapsedSeconds = 53.0;
  progress.budgetSeconds = 300.0;
  Q_EMIT stage.run.progressed(progress);
  Q_EMIT stage.run.lanesChanged(testing::demoLanes(53.0));
  Q_EMIT stage.run.proposersChanged(testing::demoReport(stage.record, 53.0));
  return page;
}

// swarm-alone: without a language model.
std::unique_ptr<QWidget> makeSwarm(Stage& stage, const Scene& scene) {
  auto page = std::make_unique<ui::SwarmPage>(stage.session, stage.run, stage.swarm);
  page->setTheme(*scene.theme);
  auto* tabs = page->findChild<QTabWidget*>(u"swarmTabs"_s);
  const QStringList names{u"swarm"_s, u"swarm-advice"_s, u"swarm-talks"_s, u"swarm-spending"_s};
  tabs->setCurrentIndex(std::max(0, static_cast<int>(names.indexOf(scene.name))));
  if (scene.name == "swarm-none"_L1) {
    return page;
  }
  services::SwarmReport report = testing::demoSwarm(90.0);
  if (scene.name == "swarm-alone"_L1) {
    report.pairs.erase(report.pairs.begin(), report.pairs.begin() + 2);
    report.talks.clear();
    report.spending.clear();
    tabs->setCurrentIndex(2);
  } else {
    report.waiting = {{"exchange", "/p/001-prompt.md", "/p/001-reply.md"}};
  }
  for (const services::TalkSummary& talk : report.talks) {
    stage.swarm.talks[talk.candidate.value()] = testing::demoTalk();
  }
  stage.session.start({});
  stage.run.enter(services::RunState::Running);
  stage.run.create(testing::kDemoRun);
  stage.swarm.tell(report);
  QTimer::singleShot(700, page.get(), [page = page.get()] {
    for (auto* table : page->findChildren<QTableView*>()) {
      if (table->isVisible() && table->model()->rowCount() > 1) {
        table->setCurrentIndex(table->model()->index(1, 0));
      }
    }
  });
  return page;
}

std::unique_ptr<QWidget> makeArchive(Stage& stage, const Scene& scene) {
  auto page = std::make_unique<ui::ArchivePage>(stage.session, stage.record);
  page->setTheme(*scene.theme);
  page->setMenu(&stage.menu);
  stage.session.showRun(testing::kDemoRun);
  const auto metric = scene.name == "archive-registers"_L1 ? ui::CellMetric::Registers
                      : scene.name == "archive-roof"_L1    ? ui::CellMetric::RoofShare
                                                           : ui::CellMetric::Speedup;
  page->findChild<QComboBox*>(u"mapMetric"_s)->setCurrentIndex(static_cast<int>(metric));
  return page;
}

std::unique_ptr<QWidget> makeCandidates(Stage& stage, const Scene& scene) {
  auto page = std::make_unique<ui::CandidatesPage>(stage.session, stage.record);
  page->setTheme(*scene.theme);
  page->setMenu(&stage.menu);
  stage.session.showRun(testing::kDemoRun);
  if (scene.name == "candidates-groups"_L1) {
    page->findChild<QComboBox*>(u"groupBy"_s)->setCurrentIndex(static_cast<int>(ui::GroupBy::Cell));
    auto* table = page->findChild<QTableView*>(u"candidateTable"_s);
    table->setCurrentIndex(table->model()->index(1, 0));
    Q_EMIT table->activated(table->model()->index(2, 0));
  }
  return page;
}

std::unique_ptr<QWidget> makeRuns(Stage& stage, const Scene& scene) {
  services::RunSummary other = stage.record.runRows.front();
  other.id = domain::RunId(5);
  other.status = domain::RunStatus::Interrupted;
  other.evaluations /= 3;
  other.bestSpeedup = {1.9, 1.8, 2.0};
  stage.record.runRows.push_back(other);
  if (scene.name == "runs-compare"_L1) {
    stage.session.openProject("/tmp");
    auto dialog = std::make_unique<ui::RunComparisonDialog>(stage.session, stage.record, nullptr);
    dialog->compare({nullptr, {}, stage.record.runRows.front()}, {nullptr, {}, other});
    return dialog;
  }
  auto page = std::make_unique<ui::RunsPage>(stage.session, stage.record);
  page->setTheme(*scene.theme);
  stage.session.showRun(testing::kDemoRun);
  return page;
}

std::unique_ptr<QWidget> makeHistory(Stage& stage, const Scene& scene) {
  if (scene.name.startsWith("archive"_L1)) {
    return makeArchive(stage, scene);
  }
  if (scene.name.startsWith("candidates"_L1)) {
    return makeCandidates(stage, scene);
  }
  if (scene.name.startsWith("runs"_L1)) {
    return makeRuns(stage, scene);
  }
  auto page = std::make_unique<ui::LineagePage>(stage.session, stage.record);
  page->setTheme(*scene.theme);
  stage.session.showRun(testing::kDemoRun);
  stage.session.selectCandidate(domain::CandidateId(20));
  return page;
}

// The menu of candidates alone: a popup is a window of its own.
std::unique_ptr<QWidget> makeMenu(Stage& stage) {
  stage.session.showRun(testing::kDemoRun);
  auto menu = std::make_unique<QMenu>();
  stage.menu.fill(*menu, {domain::CandidateId(20)});
  return menu;
}

bool isHistory(const QString& name) {
  const QLatin1StringView kPages[] = {"archive"_L1, "candidates"_L1, "lineage"_L1, "runs"_L1};
  return std::any_of(std::begin(kPages), std::end(kPages), [&](const auto& page) { return name.startsWith(page); });
}

std::unique_ptr<QWidget> makeBenchmark(Stage& stage, const Scene& scene) {
  auto page = std::make_unique<ui::BenchmarkPage>(stage.benchmarks);
  page->setTheme(*scene.theme);
  if (scene.name != "benchmark-none"_L1) {
    page->open(u"odd.json"_s);
    page->findChild<QTableView*>(u"benchmarkTasks"_s)->selectRow(3);
  }
  if (scene.name == "benchmark-chart"_L1) {
    page->findChild<QTabWidget*>(u"benchmarkTabs"_s)->setCurrentIndex(2);
  }
  return page;
}

std::unique_ptr<QWidget> makeScene(Stage& stage, const Scene& scene) {
  if (scene.name.endsWith("-menu"_L1)) {
    return makeMenu(stage);
  }
  if (isHistory(scene.name)) {
    return makeHistory(stage, scene);
  }
  if (scene.name.startsWith("compare"_L1)) {
    return makeCompare(stage, scene);
  }
  if (scene.name.startsWith("benchmark"_L1)) {
    return makeBenchmark(stage, scene);
  }
  if (scene.name.startsWith("swarm"_L1)) {
    return makeSwarm(stage, scene);
  }
  if (scene.name.startsWith("agents"_L1)) {
    return makeAgents(stage, scene);
  }
  return scene.name.startsWith("export"_L1) ? makeExport(stage, scene) : makeProfile(stage, scene);
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  const Scene scene = parse(QApplication::arguments());
  ui::applyTheme(application, *scene.theme);
  Stage stage;
  const std::unique_ptr<QWidget> page = makeScene(stage, scene);
  page->resize(scene.size);
  page->show();
  QTimer::singleShot(1500, page.get(), [&] { QApplication::exit(page->grab().save(scene.file) ? 0 : 1); });
  return QApplication::exec();
}
