// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/pages.h"

#include <QAction>
#include <QCoreApplication>

#include "ui/pages/archive_page.h"
#include "ui/pages/candidates_page.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/kernel_page.h"
#include "ui/pages/patterns_page.h"
#include "ui/pages/progress_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/window_services.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("pages", text);
}

PageDescriptor tasksPage() {
  return {.id = u"tasks"_s,
          .title = tr("Tasks"),
          .hint = tr("What can be optimised: bundled tasks, recent ones, and folders such as a KernelBench checkout"),
          .home = Place::Navigator,
          .shownIn = {{Layout::Search, Place::Navigator}},
          .shortcut = QKeySequence(u"Alt+5"_s)};
}

PageDescriptor patternsPage() {
  return {.id = u"patterns"_s,
          .title = tr("Patterns"),
          .hint = tr("The parametrised kernels that candidates are made from"),
          .home = Place::Navigator,
          .shownIn = {{Layout::Search, Place::Navigator}},
          .shortcut = QKeySequence(u"Alt+6"_s)};
}

PageDescriptor doctorPage() {
  return {.id = u"doctor"_s,
          .title = tr("System Check"),
          .hint = tr("What a search needs, whether it is there, and whether the device can be trusted"),
          .home = Place::Centre,
          .shownIn = {},
          .shortcut = {}};
}

PageDescriptor archivePage() {
  return {.id = u"archive"_s,
          .title = tr("Archive"),
          .hint = tr("The best kernel of each of the 36 cells"),
          .home = Place::Centre,
          .shownIn = {{Layout::Search, Place::Centre}, {Layout::Inspect, Place::SideBelow}},
          .shortcut = QKeySequence(u"Alt+1"_s)};
}

PageDescriptor kernelPage() {
  return {.id = u"kernel"_s,
          .title = tr("Kernel"),
          .hint = tr("Source, assembly, launch plan and evaluation of the selected candidate"),
          .home = Place::Side,
          .shownIn = {{Layout::Search, Place::Side}, {Layout::Inspect, Place::Centre}, {Layout::Compare, Place::Side}},
          .shortcut = QKeySequence(u"Alt+2"_s)};
}

PageDescriptor candidatesPage() {
  return {
      .id = u"candidates"_s,
      .title = tr("Candidates"),
      .hint = tr("Every candidate of the shown run"),
      .home = Place::Bottom,
      .shownIn = {{Layout::Search, Place::Bottom}, {Layout::Inspect, Place::Bottom}, {Layout::Compare, Place::Bottom}},
      .shortcut = QKeySequence(u"Alt+3"_s)};
}

PageDescriptor progressPage() {
  return {.id = u"progress"_s,
          .title = tr("Best speedup over time"),
          .hint = tr("When the search found what it has"),
          .home = Place::SideBelow,
          .shownIn = {{Layout::Search, Place::SideBelow}},
          .shortcut = QKeySequence(u"Alt+4"_s)};
}

}  // namespace

Pages addPages(DockLayout& docks, Session& session, const WindowServices& services, const WindowOptions& options,
               const Actions& actions) {
  Pages pages;
  pages.tasks = docks.add(tasksPage(), new TasksPage(options.tasksFolder));
  if (services.patterns != nullptr) {
    pages.patterns = docks.add(patternsPage(), new PatternsPage(*services.patterns));
  }
  auto* archive = docks.add(archivePage(), new ArchivePage(session, services.record));
  auto* kernel = docks.add(kernelPage(), new KernelPage(session));
  auto* candidates = docks.add(candidatesPage(), new CandidatesPage(session, services.record));
  docks.add(progressPage(), new ProgressPage(session));
  if (services.doctor != nullptr) {
    pages.doctor = docks.add(doctorPage(), new DoctorPage(*services.doctor, services.selfTest));
  }

  const auto openKernel = [&docks, kernel] {
    docks.show(u"kernel"_s);
    kernel->focusSource();
  };
  QObject::connect(archive, &ArchivePage::cellOpened, kernel, openKernel);
  QObject::connect(candidates, &CandidatesPage::candidateOpened, kernel, openKernel);
  QObject::connect(actions.findInKernel, &QAction::triggered, kernel, &KernelPage::openFind);
  return pages;
}

}  // namespace swage::ui
