// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/pages.h"

#include <QAction>

#include "ui/models/pinned_baseline.h"
#include "ui/pages/agents_page.h"
#include "ui/pages/archive_page.h"
#include "ui/pages/candidates_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/kernel_page.h"
#include "ui/pages/lineage_page.h"
#include "ui/pages/patterns_page.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/progress_page.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/page_descriptors.h"
#include "ui/shell/window_services.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// The pages that show the shown run and its selected candidate, and lead to one another.
class RunPages {
 public:
  RunPages(DockLayout& docks, Session& session, const WindowServices& services, const WindowOptions& options)
      : m_docks(docks), m_session(session), m_services(services) {
    m_archive = docks.add(describeArchive(), new ArchivePage(session, services.record));
    m_archive->setChooseFile(chooseFile());
    m_agents = docks.add(describeAgents(), new AgentsPage(session, services.run, services.record));
    m_agents->setOutlet(
        {[&dialogs = services.dialogs](QWidget* parent, const QString& suggestion, const Dialogs::Answer& chosen) {
           dialogs.chooseExportFile(parent, suggestion, chosen);
         },
         [&session](const Error& error) { session.report(error); }});
    addCompare();
    m_kernel = docks.add(describeKernel(), new KernelPage(session, kernelServices(options), nullptr));
    addProfile();
    docks.add(describeProgress(), new ProgressPage(session))->setChooseFile(chooseFile());
    m_lineage = docks.add(describeLineage(), new LineagePage(session, services.record));
    m_candidates = docks.add(describeCandidates(), new CandidatesPage(session, services.record));
    docks.add(describeRuns(), new RunsPage(session, services.record));
    connectKernel();
    connectCandidates();
    connectComparison();
  }

  void name(Pages& pages) const {
    pages.candidates = m_candidates;
    pages.kernel = m_kernel;
    pages.compare = m_compare;
    pages.profile = m_profile;
  }

 private:
  [[nodiscard]] KernelServices kernelServices(const WindowOptions& options) const {
    return {&m_services.record, m_services.edits, options.drafts};
  }

  // Where charts are written to.
  [[nodiscard]] ChooseFile chooseFile() const {
    return [&dialogs = m_services.dialogs](QWidget* parent, const QString& suggestion, const Dialogs::Answer& chosen) {
      dialogs.chooseExportFile(parent, suggestion, chosen);
    };
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
    m_profile->setChooseFile(chooseFile());
    QObject::connect(m_profile, &ProfilePage::lineRequested, m_kernel,
                     [kernel = m_kernel, docks = &m_docks, session = &m_session](domain::CandidateId id, int line) {
                       session->selectCandidate(id);
                       docks->show(u"kernel"_s);
                       kernel->goToSourceLine(line);
                     });
  }

  void connectKernel() {
    const auto open = [docks = &m_docks, kernel = m_kernel] {
      docks->show(u"kernel"_s);
      kernel->focusSource();
    };
    QObject::connect(m_archive, &ArchivePage::cellOpened, m_kernel, open);
    QObject::connect(m_agents, &AgentsPage::candidateOpened, m_kernel, open);
    QObject::connect(m_candidates, &CandidatesPage::candidateOpened, m_kernel, open);
    QObject::connect(m_lineage, &LineagePage::candidateOpened, m_kernel, open);
  }

  void connectCandidates() {
    QObject::connect(m_candidates, &CandidatesPage::lineageRequested, &m_docks,
                     [docks = &m_docks] { docks->show(u"lineage"_s); });
    QObject::connect(m_candidates, &CandidatesPage::exportRequested, m_candidates,
                     [page = m_candidates, dialogs = &m_services.dialogs](const QString& suggestion) {
                       dialogs->chooseExportFile(page, suggestion,
                                                 [page](const QString& file) { page->exportCsv(file); });
                     });
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
  Session& m_session;
  const WindowServices& m_services;
  ArchivePage* m_archive = nullptr;
  AgentsPage* m_agents = nullptr;
  ComparePage* m_compare = nullptr;
  KernelPage* m_kernel = nullptr;
  ProfilePage* m_profile = nullptr;
  LineagePage* m_lineage = nullptr;
  CandidatesPage* m_candidates = nullptr;
};

}  // namespace

Pages addPages(DockLayout& docks, Session& session, const WindowServices& services, const WindowOptions& options,
               const Actions& actions) {
  Pages pages;
  pages.tasks = docks.add(describeTasks(), new TasksPage(options.tasksFolder));
  if (services.patterns != nullptr) {
    pages.patterns = docks.add(describePatterns(), new PatternsPage(*services.patterns));
  }
  RunPages(docks, session, services, options).name(pages);
  if (services.doctor != nullptr) {
    pages.doctor = docks.add(describeDoctor(), new DoctorPage(*services.doctor, services.selfTest));
  }
  QObject::connect(actions.findInKernel, &QAction::triggered, pages.kernel, &KernelPage::openFind);
  return pages;
}

}  // namespace swage::ui
