// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/pages.h"

#include <QAction>
#include <QCoreApplication>

#include <functional>

#include "ui/models/format.h"
#include "ui/models/pinned_baseline.h"
#include "ui/pages/agents_page.h"
#include "ui/pages/archive_page.h"
#include "ui/pages/benchmark_page.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/candidates_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/help_page.h"
#include "ui/pages/kernel_page.h"
#include "ui/pages/lineage_page.h"
#include "ui/pages/patterns_page.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/progress_page.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/swarm_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/pages/welcome_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/page_descriptors.h"
#include "ui/shell/report_export.h"
#include "ui/shell/window_services.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Where charts are written to.
ChooseFile chooseFileOf(const WindowServices& services) {
  return [&dialogs = services.dialogs](QWidget* parent, const QString& suggestion, const Dialogs::Answer& chosen) {
    dialogs.chooseExportFile(parent, suggestion, chosen);
  };
}

ChartOutlet outletOf(const WindowServices& services, ProjectSession& session) {
  return {chooseFileOf(services), [&session](const Error& error) { session.report(error); }};
}

// Conversations are listed by run, so that of the candidate is shown first.
void showConversation(DockLayout& docks, ProjectSession& session, SwarmPage& swarm, domain::CandidateId candidate) {
  session.selectCandidate(candidate);
  const domain::RunId run = session.detail() ? session.detail()->row.run : session.shownRun();
  if (run != session.shownRun()) {
    session.showRun(run);
    session.selectCandidate(candidate);
  }
  docks.show(u"swarm"_s);
  swarm.showTalk(candidate);
}

// The pages that show the shown run and its selected candidate, and lead to one another.
class RunPages {
 public:
  RunPages(DockLayout& docks, ProjectSession& session, const WindowServices& services, const WindowOptions& options,
           const Actions& actions)
      : m_docks(docks), m_session(session), m_services(services) {
    m_archive = docks.add(describeArchive(), new ArchivePage(session, services.record));
    m_archive->setChooseFile(chooseFileOf(m_services));
    m_agents = docks.add(describeAgents(), new AgentsPage(session, services.run, services.record));
    m_agents->setOutlet(outletOf(services, session));
    if (services.swarm != nullptr) {
      m_swarm = docks.add(describeSwarm(), new SwarmPage(session, services.run, *services.swarm));
    }
    addCompare();
    m_kernel = docks.add(describeKernel(), new KernelPage(session, kernelServices(options), nullptr));
    addProfile();
    docks.add(describeProgress(), new ProgressPage(session))->setChooseFile(chooseFileOf(m_services));
    m_lineage = docks.add(describeLineage(), new LineagePage(session, services.record));
    m_candidates = docks.add(describeCandidates(), new CandidatesPage(session, services.record));
    m_runs = docks.add(describeRuns(), new RunsPage(session, services.record));
    connectKernel();
    connectCandidates();
    connectComparison();
    connectRuns();
    addMenus(actions);
  }

  void name(Pages& pages) const {
    pages.candidates = m_candidates;
    pages.kernel = m_kernel;
    pages.compare = m_compare;
    pages.profile = m_profile;
    pages.runs = m_runs;
    pages.swarm = m_swarm;
  }

 private:
  [[nodiscard]] KernelServices kernelServices(const WindowOptions& options) const {
    return {&m_services.record, m_services.edits, options.drafts, m_services.compiles, m_services.profiles};
  }

  void addCompare() {
    if (m_services.profiles != nullptr && m_services.compare != nullptr) {
      const ComparisonServices services{m_services.record, *m_services.profiles, *m_services.compare};
      m_compare = m_docks.add(describeCompare(), new ComparePage(m_session, services));
    }
  }

  void addProfile() {
    if (m_services.profiles == nullptr) {
      return;
    }
    auto* pinned = new PinnedBaseline(m_session, m_services.record, *m_services.profiles, &m_docks);
    m_profile = m_docks.add(describeProfile(), new ProfilePage(m_session, *m_services.profiles, *pinned));
    m_profile->setChooseFile(chooseFileOf(m_services));
    QObject::connect(m_profile, &ProfilePage::lineRequested, m_kernel,
                     [kernel = m_kernel, docks = &m_docks, session = &m_session](domain::CandidateId id, int line) {
                       session->selectCandidate(id);
                       docks->show(u"kernel"_s);
                       kernel->goToSourceLine(line);
                     });
  }

  // Shows the selected candidate as large as one needs it to work with.
  [[nodiscard]] std::function<void()> opener() const {
    return [docks = &m_docks, kernel = m_kernel] {
      docks->showLarge(u"kernel"_s);
      kernel->focusSource();
    };
  }

  void connectKernel() {
    const auto open = opener();
    QObject::connect(m_archive, &ArchivePage::cellOpened, m_kernel, open);
    QObject::connect(m_agents, &AgentsPage::candidateOpened, m_kernel, open);
    if (m_swarm != nullptr) {
      QObject::connect(m_swarm, &SwarmPage::candidateOpened, m_kernel, open);
    }
    QObject::connect(m_candidates, &CandidatesPage::candidateOpened, m_kernel, open);
    QObject::connect(m_lineage, &LineagePage::candidateOpened, m_kernel, open);
  }

  void connectCandidates() {
    QObject::connect(m_archive, &ArchivePage::cellListRequested, m_candidates,
                     [docks = &m_docks, page = m_candidates](int cell) {
                       page->setFilterText(u"cell:"_s % toQString(domain::Cell::fromIndex(cell).name()));
                       docks->show(u"candidates"_s);
                     });
    QObject::connect(m_candidates, &CandidatesPage::lineageRequested, &m_docks,
                     [docks = &m_docks] { docks->show(u"lineage"_s); });
    QObject::connect(m_candidates, &CandidatesPage::exportRequested, m_candidates,
                     [page = m_candidates, dialogs = &m_services.dialogs](const QString& suggestion) {
                       dialogs->chooseExportFile(page, suggestion,
                                                 [page](const QString& file) { page->exportCsv(file); });
                     });
  }

  [[nodiscard]] ChooseFolder chooseProject() const {
    return [&dialogs = m_services.dialogs, session = &m_session](QWidget* parent, const Dialogs::Answer& chosen) {
      dialogs.chooseProject(parent, toQString(session->project().parent_path().string()), chosen);
    };
  }

  void connectRuns() {
    m_runs->setOtherProjects(m_services.openRecord, chooseProject());
    if (m_compare != nullptr) {
      m_compare->setOtherProjects(m_services.openRecord, chooseProject());
      QObject::connect(m_runs, &RunsPage::compareRequested, m_compare,
                       [docks = &m_docks, compare = m_compare](const CandidateRef& left, const CandidateRef& right) {
                         docks->show(u"compare"_s);
                         compare->compare(left, right);
                       });
    }
    if (m_services.reports != nullptr) {
      m_runs->offerReports();
      auto* exporter = new ReportExport(m_session, *m_services.reports, m_services.dialogs, m_runs);
      QObject::connect(m_runs, &RunsPage::reportRequested, exporter, &ReportExport::ask);
    }
  }

  // The same menu of candidates on every page that shows some.
  void addMenus(const Actions& actions) {
    const auto selecting = [session = &m_session](const std::function<void()>& then) {
      return [session, then](domain::CandidateId id) {
        session->selectCandidate(id);
        then();
      };
    };
    CandidateCommands commands;
    commands.open = selecting(opener());
    commands.showLineage = selecting([docks = &m_docks] { docks->show(u"lineage"_s); });
    if (SwarmPage* swarm = m_swarm; swarm != nullptr) {
      commands.showConversation = [docks = &m_docks, session = &m_session, swarm](domain::CandidateId id) {
        showConversation(*docks, *session, *swarm, id);
      };
    }
    commands.exportKernel = selecting([action = actions.exportKernel] { action->trigger(); });
    if (ProfilePage* profile = m_profile; profile != nullptr) {
      commands.profile = selecting([docks = &m_docks, profile] {
        docks->show(u"profile"_s);
        profile->profile();
      });
      commands.useAsBaseline = selecting([profile] { profile->pinCandidate(); });
    }
    if (ComparePage* compare = m_compare; compare != nullptr) {
      commands.compare = [docks = &m_docks, compare](domain::CandidateId first, domain::CandidateId second) {
        docks->show(u"compare"_s);
        compare->compare(first, second);
      };
    }
    commands.askText = [&dialogs = m_services.dialogs](QWidget* parent, const QString& title, const QString& question,
                                                       const Dialogs::Answer& answered) {
      dialogs.askText(parent, title, question, answered);
    };
    auto* menu = new CandidateMenu(m_session, m_services.record, m_candidates->annotations(), commands, m_candidates);
    m_archive->setMenu(menu);
    m_candidates->setMenu(menu);
    m_lineage->setMenu(menu);
    m_runs->setMenu(menu);
  }

  void connectComparison() {
    if (m_compare == nullptr) {
      return;
    }
    QObject::connect(m_archive, &ArchivePage::compareRequested, m_compare,
                     [docks = &m_docks, compare = m_compare](domain::CandidateId first, domain::CandidateId second) {
                       docks->show(u"compare"_s);
                       compare->compare(first, second);
                     });
    QObject::connect(
        m_compare, &ComparePage::draftRequested, m_kernel,
        [docks = &m_docks, kernel = m_kernel, session = &m_session](domain::CandidateId parent, const QString& source) {
          session->selectCandidate(parent);
          docks->show(u"kernel"_s);
          kernel->startDraft(source);
        });
  }

  DockLayout& m_docks;
  ProjectSession& m_session;
  const WindowServices& m_services;
  ArchivePage* m_archive = nullptr;
  AgentsPage* m_agents = nullptr;
  SwarmPage* m_swarm = nullptr;
  ComparePage* m_compare = nullptr;
  KernelPage* m_kernel = nullptr;
  ProfilePage* m_profile = nullptr;
  LineagePage* m_lineage = nullptr;
  CandidatesPage* m_candidates = nullptr;
  RunsPage* m_runs = nullptr;
};

BenchmarkPage* addBenchmark(DockLayout& docks, ProjectSession& session, const WindowServices& services) {
  if (services.benchmarks == nullptr) {
    return nullptr;
  }
  auto* page = docks.add(describeBenchmark(), new BenchmarkPage(*services.benchmarks));
  page->setChooseFile([&dialogs = services.dialogs](QWidget* parent, const Dialogs::Answer& chosen) {
    dialogs.chooseFile(parent, BenchmarkPage::tr("Open Benchmark Results"), {}, chosen);
  });
  page->setOutlet(outletOf(services, session));
  return page;
}

std::vector<WelcomeEntry> welcomeEntries(const DockLayout& docks, const WindowServices& services,
                                         const WindowOptions& options, const Actions& actions) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("welcome", text); };
  std::vector<WelcomeEntry> entries = {
      {actions.openTask, tr("Open Task…"), tr("A Python file with a PyTorch module"), u"open"_s},
      {actions.openProject, tr("Open Project…"), tr("A folder with recorded runs"), u"open"_s}};
  if (options.openDemo) {
    entries.push_back({actions.playDemo, tr("Demo"), tr("Replay a recorded search; nothing to install"), u"start"_s});
  }
  if (services.doctor != nullptr) {
    entries.push_back({docks.action(u"doctor"_s), tr("System Check"),
                       tr("What a search needs, and whether it is there"), u"warning"_s});
  }
  entries.push_back({actions.help, tr("Help"), tr("Getting started, filters, shortcuts"), u"info"_s});
  return entries;
}

}  // namespace

Pages addPages(DockLayout& docks, ProjectSession& session, const WindowServices& services, const WindowOptions& options,
               const Actions& actions) {
  Pages pages;
  pages.tasks = docks.add(describeTasks(), new TasksPage(options.tasksFolder));
  if (services.patterns != nullptr) {
    pages.patterns = docks.add(describePatterns(), new PatternsPage(*services.patterns, services.patternSearch));
  }
  RunPages(docks, session, services, options, actions).name(pages);
  if (services.doctor != nullptr) {
    pages.doctor = docks.add(describeDoctor(), new DoctorPage(*services.doctor, services.selfTest));
  }
  pages.benchmark = addBenchmark(docks, session, services);
  pages.help = docks.add(describeHelp(), new HelpPage);
  pages.welcome = docks.add(describeWelcome(), new WelcomePage(welcomeEntries(docks, services, options, actions)));
  QObject::connect(actions.findInKernel, &QAction::triggered, pages.kernel, &KernelPage::openFind);
  return pages;
}

}  // namespace swage::ui
