// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/locator_sources.h"

#include <QAction>
#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QRegularExpression>

#include <set>

#include "ui/models/cell_view.h"
#include "ui/models/format.h"
#include "ui/models/pattern_table_model.h"
#include "ui/models/project_session.h"
#include "ui/models/run_words.h"
#include "ui/models/setting_catalogue.h"
#include "ui/pages/patterns_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/pages.h"
#include "ui/shell/run_control.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using Entries = std::vector<LocatorEntry>;

QString tr(const char* text) {
  return QCoreApplication::translate("locator", text);
}

// "&Open Task…" as it reads: "Open Task…".
QString withoutMnemonic(const QString& text) {
  QString plain;
  for (qsizetype i = 0; i < text.size(); ++i) {
    if (text[i] == u'&' && i + 1 < text.size()) {
      ++i;
    }
    plain += text[i];
  }
  return plain;
}

void addCommands(Entries& entries, const QList<QAction*>& actions, const QString& path) {
  for (QAction* action : actions) {
    const QString text = withoutMnemonic(action->text());
    if (action->isSeparator() || text.isEmpty() || !action->isVisible()) {
      continue;
    }
    if (QMenu* menu = action->menu()) {
      // Such a menu says what it offers when it opens: check marks, and what may be done now.
      Q_EMIT menu->aboutToShow();
      addCommands(entries, menu->actions(), path.isEmpty() ? text : QString(path % u" › "_s % text));
      continue;
    }
    entries.push_back({.text = text,
                       .detail = action->isCheckable() && action->isChecked() ? tr("%1, on").arg(path) : path,
                       .keys = action->shortcut().toString(QKeySequence::NativeText),
                       .enabled = action->isEnabled(),
                       .run = [pointer = QPointer<QAction>(action)] {
                         if (pointer) {
                           pointer->trigger();
                         }
                       }});
  }
}

void addCells(Entries& entries, ProjectSession& session, DockLayout& docks) {
  for (const services::CellSummary& cell : session.cells()) {
    const QString name = toQString(cell.cell.name());
    const QString value = cell.best.isValid() ? formatSpeedup(cell.speedup) : tr("nothing correct yet");
    const QString words = describeCell(cell.cell).section(u": "_s, 1);
    entries.push_back({.text = name,
                       .detail = tr("cell: %1 · %2").arg(words, value),
                       .keys = {},
                       .enabled = cell.best.isValid(),
                       .run = [&session, &docks, index = cell.cell.index()] {
                         session.selectCell(index);
                         docks.show(u"kernel"_s);
                       }});
  }
}

void addRuns(Entries& entries, ProjectSession& session, const std::vector<services::RunSummary>& runs) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    entries.push_back(
        {.text = tr("Run %1").arg(run->id.value()),
         .detail =
             tr("%1 · %2 · %3").arg(toQString(run->taskName), statusWord(run->status), formatSpeedup(run->bestSpeedup)),
         .keys = {},
         .enabled = session.canStart(),
         .run = [&session, id = run->id] { session.showRun(id); }});
  }
}

void addTasks(Entries& entries, const TasksPage& tasks, RunControl& control) {
  std::set<QString> seen;  // one may be recent and in a folder
  for (const TaskNode& task : tasks.tasks()) {
    if (seen.insert(task.path).second) {
      entries.push_back({.text = task.name,
                         .detail = tr("task: %1").arg(task.path),
                         .keys = {},
                         .enabled = true,
                         .run = [&control, path = task.path] { control.selectTask(path); }});
    }
  }
}

void addPatterns(Entries& entries, PatternsPage& page, DockLayout& docks) {
  for (int row = 0; row < page.model().rowCount(); ++row) {
    const services::PatternInfo& pattern = page.model().item(row);
    entries.push_back(
        {.text = toQString(pattern.id),
         .detail = tr("pattern in %1: %2").arg(toQString(pattern.language), toQString(pattern.description)),
         .keys = {},
         .enabled = true,
         .run = [&page, &docks, language = toQString(pattern.language), id = toQString(pattern.id)] {
           docks.show(u"patterns"_s);
           page.select(language, id);
         }});
  }
}

// "389", "#389" or "candidate 389".
void addCandidate(Entries& entries, const QString& query, ProjectSession& session,
                  const services::RecordService& record, DockLayout& docks) {
  static const QRegularExpression number(u"^(?:#|candidate\\s*)?(\\d+)$"_s, QRegularExpression::CaseInsensitiveOption);
  const domain::CandidateId id(number.match(query).captured(1).toLongLong());
  if (!id.isValid()) {
    return;
  }
  const auto found = record.candidate(id);
  if (!found) {
    return;
  }
  const services::CandidateRow& row = found->row;
  entries.push_back({.text = tr("Candidate %1").arg(id.value()),
                     .detail = tr("%1 · %2 · %3")
                                   .arg(row.cell ? toQString(row.cell->name()) : tr("no cell"),
                                        toQString(domain::name(row.status)), formatSpeedup(row.speedup)),
                     .keys = {},
                     .enabled = true,
                     .run =
                         [&session, &docks, id] {
                           session.selectCandidate(id);
                           docks.show(u"kernel"_s);
                         },
                     .answersQuery = true});
}

}  // namespace

LocatorSource commandSource(const QMenuBar& bar) {
  Entries entries;
  addCommands(entries, bar.actions(), {});
  return [entries = std::move(entries)](const QString&) { return entries; };
}

LocatorSource placeSource(const PlaceParts& parts) {
  auto& [session, record, control, docks, pages, showSettings] = parts;
  Entries entries;
  if (session.hasRecord()) {
    if (const auto runs = record.runs()) {
      addRuns(entries, session, *runs);
    }
  }
  addTasks(entries, *pages.tasks, control);
  for (const PageDescriptor* page : docks.pages()) {
    entries.push_back({.text = page->title,
                       .detail = tr("page: %1").arg(page->hint),
                       .keys = page->shortcut.toString(QKeySequence::NativeText),
                       .enabled = true,
                       .run = [&docks = parts.docks, id = page->id] { docks.show(id); }});
  }
  if (pages.patterns != nullptr) {
    addPatterns(entries, *pages.patterns, docks);
  }
  for (const SettingSection& section : settingCatalogue()) {
    entries.push_back({.text = tr("Settings: %1").arg(section.title),
                       .detail = {},
                       .keys = {},
                       .enabled = true,
                       .run = [show = showSettings, id = section.id] { show(id); }});
  }
  addCells(entries, session, docks);
  return [entries = std::move(entries), parts](const QString& query) {
    Entries all;
    if (parts.session.hasRecord()) {
      addCandidate(all, query, parts.session, parts.record, parts.docks);
    }
    all.insert(all.end(), entries.begin(), entries.end());
    return all;
  };
}

}  // namespace swage::ui
