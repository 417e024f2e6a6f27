// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/page_descriptors.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("pages", text);
}

}  // namespace

PageDescriptor describeTasks() {
  return {.id = u"tasks"_s,
          .title = tr("Tasks"),
          .hint = tr("What can be optimised: bundled tasks, recent ones, and folders such as a KernelBench checkout"),
          .home = Place::Navigator,
          .shownIn = {{Layout::Search, Place::Navigator}},
          .shortcut = QKeySequence(u"Alt+5"_s)};
}

PageDescriptor describePatterns() {
  return {.id = u"patterns"_s,
          .title = tr("Patterns"),
          .hint = tr("The parametrised kernels that candidates are made from"),
          .home = Place::Navigator,
          .shownIn = {{Layout::Search, Place::Navigator}},
          .shortcut = QKeySequence(u"Alt+6"_s)};
}

PageDescriptor describeRuns() {
  return {.id = u"runs"_s,
          .title = tr("Runs"),
          .hint = tr("Every run of the open project"),
          .home = Place::Bottom,
          .shownIn = {{Layout::Search, Place::Bottom}, {Layout::Inspect, Place::Bottom}},
          .shortcut = QKeySequence(u"Alt+7"_s)};
}

PageDescriptor describeArchive() {
  return {.id = u"archive"_s,
          .title = tr("Archive"),
          .hint = tr("The best kernel of each of the 36 cells"),
          .home = Place::Centre,
          .shownIn = {{Layout::Search, Place::Centre}, {Layout::Inspect, Place::SideBelow}},
          .shortcut = QKeySequence(u"Alt+1"_s)};
}

PageDescriptor describeAgents() {
  return {.id = u"agents"_s,
          .title = tr("Operators"),
          .hint = tr("What every GPU and compiler is doing, and what each operator of the search has found"),
          .home = Place::Centre,
          .shownIn = {{Layout::Search, Place::Centre}},
          .shortcut = QKeySequence(u"Alt+Shift+1"_s)};
}

PageDescriptor describeSwarm() {
  return {
      .id = u"swarm"_s,
      .title = tr("Agents"),
      .hint = tr("Pairs of a coder and a judge: what they do, their advice, conversations with models, and spending"),
      .home = Place::Centre,
      .shownIn = {{Layout::Search, Place::Centre}},
      .shortcut = QKeySequence(u"Alt+Shift+2"_s)};
}

PageDescriptor describeCompare() {
  return {.id = u"compare"_s,
          .title = tr("Compare"),
          .hint = tr("Two candidates beside each other: source, assembly, metrics, plans and genomes"),
          .home = Place::Centre,
          .shownIn = {{Layout::Compare, Place::Centre}},
          .shortcut = QKeySequence(u"Alt+8"_s)};
}

PageDescriptor describeBenchmark() {
  return {.id = u"benchmark"_s,
          .title = tr("Benchmark"),
          .hint = tr("Results of a benchmark over KernelBench: every problem, means, and a chart"),
          .home = Place::Centre,
          .shownIn = {},
          .shortcut = {}};
}

PageDescriptor describeDoctor() {
  return {.id = u"doctor"_s,
          .title = tr("System Check"),
          .hint = tr("What a search needs, what is missing, and the self-test of the device"),
          .home = Place::Centre,
          .shownIn = {},
          .shortcut = {}};
}

PageDescriptor describeHelp() {
  return {.id = u"help"_s,
          .title = tr("Help"),
          .hint = tr("Getting started, filters, cells, keyboard shortcuts and the command line"),
          .home = Place::Side,
          .shownIn = {},
          .shortcut = {}};
}

PageDescriptor describeWelcome() {
  return {.id = u"welcome"_s,
          .title = tr("Welcome"),
          .hint = tr("Open a task, play the demo, check the system, read the help"),
          .home = Place::Centre,
          .shownIn = {},
          .shortcut = {}};
}

PageDescriptor describeKernel() {
  return {.id = u"kernel"_s,
          .title = tr("Kernel"),
          .hint = tr("Source, assembly, launch plan and evaluation of the selected candidate"),
          .home = Place::Side,
          .shownIn = {{Layout::Search, Place::Side}, {Layout::Inspect, Place::Centre}, {Layout::Compare, Place::Side}},
          .shortcut = QKeySequence(u"Alt+2"_s)};
}

PageDescriptor describeProfile() {
  return {.id = u"profile"_s,
          .title = tr("Profile"),
          .hint = tr("What limits the selected candidate, and how reliable the measurement is"),
          .home = Place::Side,
          .shownIn = {{Layout::Search, Place::Side}, {Layout::Inspect, Place::Side}},
          .shortcut = QKeySequence(u"Alt+9"_s)};
}

PageDescriptor describeProgress() {
  return {.id = u"progress"_s,
          .title = tr("Best speedup over time"),
          .hint = tr("How the best speedup grew during the search"),
          .home = Place::SideBelow,
          .shownIn = {{Layout::Search, Place::SideBelow}},
          .shortcut = QKeySequence(u"Alt+4"_s)};
}

PageDescriptor describeLineage() {
  return {.id = u"lineage"_s,
          .title = tr("Lineage"),
          .hint = tr("Ancestors and descendants of the selected candidate"),
          .home = Place::SideBelow,
          .shownIn = {{Layout::Search, Place::SideBelow}, {Layout::Inspect, Place::SideBelow}},
          .shortcut = QKeySequence(u"Alt+0"_s)};
}

PageDescriptor describeCandidates() {
  return {
      .id = u"candidates"_s,
      .title = tr("Candidates"),
      .hint = tr("Every candidate of the shown run"),
      .home = Place::Bottom,
      .shownIn = {{Layout::Search, Place::Bottom}, {Layout::Inspect, Place::Bottom}, {Layout::Compare, Place::Bottom}},
      .shortcut = QKeySequence(u"Alt+3"_s)};
}

std::vector<PageDescriptor> describePages() {
  return {describeTasks(),      describePatterns(),  describeRuns(),     describeArchive(),
          describeAgents(),     describeSwarm(),     describeCompare(),  describeDoctor(),
          describeKernel(),     describeProfile(),   describeProgress(), describeLineage(),
          describeCandidates(), describeBenchmark(), describeHelp(),     describeWelcome()};
}

}  // namespace swage::ui
