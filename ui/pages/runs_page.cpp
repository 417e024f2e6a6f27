// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <system_error>

#include "ui/models/format.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/run_comparison_dialog.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/filter_edit.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

RunsPage::RunsPage(ProjectSession& session, const services::RecordService& record, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_record(record),
      m_model(new RunTableModel(this)),
      m_table(new QTableView),
      m_empty(new EmptyState(m_table, QString())),
      m_filter(new FilterEdit(domain::runFilterKeys(), this)),
      m_scope(new QComboBox(this)),
      m_count(new QLabel(this)) {
  setObjectName(u"runsPage"_s);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 4, 8, 4);
  row->setSpacing(8);
  m_filter->setObjectName(u"runFilter"_s);
  m_filter->setPlaceholder(tr("Filter: task:softmax status:finished speedup>1.5"));
  m_count->setObjectName(u"runCount"_s);
  m_count->setForegroundRole(QPalette::PlaceholderText);
  m_scope->setObjectName(u"runScope"_s);
  m_scope->setAccessibleName(tr("Projects whose runs are listed"));
  m_scope->addItems({tr("This project"), tr("Recent projects")});
  m_scope->hide();
  row->addWidget(m_filter, 1, Qt::AlignTop);
  row->addWidget(m_scope);
  row->addWidget(m_count);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_empty, 1);
  setUpTable();
  connect(m_filter, &FilterEdit::filterChanged, this, [this](const domain::Filter& filter) {
    m_model->setFilter(filter);
    showShownRun();
    updateCounts();
  });
  connect(m_scope, &QComboBox::currentIndexChanged, this, &RunsPage::changeScope);
  connect(&session, &ProjectSession::runShown, this, &RunsPage::reload);
  connect(&session, &ProjectSession::finished, this, &RunsPage::reload);
  reload();
}

void RunsPage::setUpTable() {
  m_table->setObjectName(u"runTable"_s);
  m_table->setAccessibleName(tr("Runs"));
  m_table->setModel(m_model);
  styleTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  m_table->setWordWrap(false);
  m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
  QHeaderView* header = m_table->horizontalHeader();
  header->setStretchLastSection(true);
  const std::array<QString, 12> samples = {
      u"r1000"_s,       u"matmul_bias_gelu"_s,  u"softmax_rows.swage"_s, u"NVIDIA H200 141 GB"_s,
      u"interrupted"_s, u"≈000.00× ± 00.0 %"_s, u"000.0 µs "_s,          u"% of roofline"_s,
      u"1,000,000"_s,   u"1,000,000"_s,         u"2026-11-22 00:00"_s,   u"00:00:00"_s};
  m_table->setColumnHidden(static_cast<int>(RunColumn::Project), true);
  for (int column = 0; column < m_model->columnCount(); ++column) {
    m_table->setColumnWidth(column,
                            m_table->fontMetrics().horizontalAdvance(samples[static_cast<std::size_t>(column)]) + 26);
  }
  header->setSortIndicator(static_cast<int>(RunColumn::Id), Qt::DescendingOrder);
  m_table->setSortingEnabled(true);
  connect(m_table, &QTableView::activated, this, &RunsPage::openRun);
  connect(m_table, &QTableView::customContextMenuRequested, this, &RunsPage::showContextMenu);
}

std::vector<RunRef> RunsPage::chosen() const {
  std::vector<RunRef> runs;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) {
    if (const RunRef* run = m_model->at(index.row())) {
      runs.push_back(*run);
    }
  }
  return runs;
}

void RunsPage::showContextMenu(const QPoint& position) {
  const std::vector<RunRef> runs = chosen();
  if (runs.empty()) {
    return;
  }
  auto* menu = new QMenu(m_table);
  menu->setObjectName(u"runMenu"_s);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  if (runs.size() == 1) {
    fillMenuOfOne(*menu, runs.front());
  } else if (runs.size() == 2) {
    fillMenuOfTwo(*menu, runs[0], runs[1]);
  }
  menu->addSeparator();
  QAction* copy = menu->addAction(runs.size() == 1 ? tr("Copy &ID") : tr("Copy &IDs"));
  connect(copy, &QAction::triggered, this, [runs] {
    QStringList ids;
    for (const RunRef& run : runs) {
      ids.push_back(shortName(run));
    }
    QGuiApplication::clipboard()->setText(ids.join(u'\n'));
  });
  menu->popup(m_table->viewport()->mapToGlobal(position));
}

void RunsPage::fillMenuOfOne(QMenu& menu, const RunRef& listed) {
  const services::RunSummary& run = listed.run;
  const bool isOther = listed.record != nullptr;
  QAction* open = menu.addAction(tr("&Open"));
  open->setObjectName(u"openRun"_s);
  open->setEnabled((isOther || run.id != m_session.shownRun()) && m_session.canStart());
  connect(open, &QAction::triggered, this, [this, listed] { this->open(listed); });
  QAction* compare = menu.addAction(tr("&Compare with Another Run…"));
  compare->setObjectName(u"compareRun"_s);
  connect(compare, &QAction::triggered, this, [this, listed, isOther] {
    const auto& shown = m_session.summary();
    const bool isAnother = shown && (isOther || shown->id != listed.run.id);
    compareRuns(listed, isAnother ? RunRef{nullptr, {}, *shown} : listed);
  });
  if (isOther) {
    return;  // what else there is works on the open record
  }
  if (m_menu != nullptr && run.best.isValid()) {
    m_menu->fill(*menu.addMenu(tr("&Best Candidate")), {run.best});
  }
  if (m_offersReports) {
    QAction* report = menu.addAction(tr("Export &Report…"));
    report->setObjectName(u"exportReport"_s);
    connect(report, &QAction::triggered, this, [this, run] { Q_EMIT reportRequested(run); });
  }
}

void RunsPage::fillMenuOfTwo(QMenu& menu, const RunRef& left, const RunRef& right) {
  QAction* runs = menu.addAction(tr("&Compare Runs…"));
  runs->setObjectName(u"compareRuns"_s);
  connect(runs, &QAction::triggered, this, [this, left, right] { compareRuns(left, right); });
  QAction* candidates = menu.addAction(tr("Compare Best C&andidates"));
  candidates->setObjectName(u"compareBest"_s);
  candidates->setEnabled(left.run.best.isValid() && right.run.best.isValid());
  const auto best = [](const RunRef& run) {
    CandidateRef candidate = bestOf(run.run);
    candidate.record = run.record;
    candidate.project = run.project;
    return candidate;
  };
  connect(candidates, &QAction::triggered, this,
          [this, left = best(left), right = best(right)] { Q_EMIT compareRequested(left, right); });
}

void RunsPage::setOtherProjects(const OpenRecord& open, const ChooseFolder& chooseFolder) {
  m_projects = OtherProjects(open);
  m_chooseFolder = chooseFolder;
}

void RunsPage::setRecentProjects(std::function<QStringList()> recent) {
  m_recent = std::move(recent);
  m_scope->setVisible(m_recent && m_projects.canOpen());
}

bool RunsPage::listsOthers() const {
  return m_scope->currentIndex() == 1;
}

void RunsPage::changeScope() {
  m_table->setColumnHidden(static_cast<int>(RunColumn::Project), !listsOthers());
  // Numbers of runs say nothing across projects.
  m_table->sortByColumn(static_cast<int>(listsOthers() ? RunColumn::Started : RunColumn::Id), Qt::DescendingOrder);
  reload();
}

// A project that is gone, or has no record, has no runs.
std::vector<RunRef> RunsPage::runsOfOthers() {
  std::error_code ignored;
  std::vector<RunRef> all;
  for (const QString& folder : m_recent()) {
    const std::filesystem::path path = folder.toStdString();
    if (std::filesystem::equivalent(path, m_session.project(), ignored)) {
      continue;
    }
    const Result<OtherProjects::Project> project = m_projects.open(path);
    auto runs = project ? project->record->runs() : Result<std::vector<services::RunSummary>>(project.error());
    if (!runs) {
      continue;
    }
    for (services::RunSummary& run : *runs) {
      all.push_back({project->record, project->name, std::move(run)});
    }
  }
  return all;
}

void RunsPage::compareRuns(const RunRef& left, const RunRef& right) {
  if (m_comparison == nullptr) {
    m_comparison = new RunComparisonDialog(m_session, m_record, window());
    m_comparison->setProjects(&m_projects, m_chooseFolder);
    connect(m_comparison, &RunComparisonDialog::candidatesRequested, this, &RunsPage::compareRequested);
  }
  m_comparison->compare(left, right);
  m_comparison->show();
  m_comparison->raise();
  m_comparison->activateWindow();
}

void RunsPage::setTheme(const Theme& theme) {
  m_filter->setTheme(theme);
  m_table->viewport()->update();
}

void RunsPage::reload() {
  std::vector<RunRef> all = listsOthers() ? runsOfOthers() : std::vector<RunRef>();
  if (m_session.hasRecord()) {
    auto runs = m_record.runs();
    if (!runs) {
      m_session.report(runs.error());
      return;
    }
    for (services::RunSummary& run : *runs) {
      all.push_back({nullptr, {}, std::move(run)});
    }
  }
  m_model->setRunsOfProjects(std::move(all));
  showShownRun();
  updateCounts();
}

void RunsPage::showShownRun() {
  m_model->setShownRun(m_session.shownRun());
  if (m_table->selectionModel()->selectedRows().size() > 1) {
    return;  // somebody is about to compare them
  }
  const int row = m_model->rowOf(m_session.shownRun());
  m_table->setCurrentIndex(row < 0 ? QModelIndex() : m_model->index(row, 0));
}

// A search shows its own run until it ends.
void RunsPage::openRun(const QModelIndex& index) {
  if (const RunRef* run = m_model->at(index.row())) {
    open(RunRef(*run));  // a copy: the rows change meanwhile
  }
}

void RunsPage::open(const RunRef& run) {
  if (!m_session.canStart()) {
    return;
  }
  if (run.record == nullptr) {
    if (run.run.id != m_session.shownRun()) {
      m_session.showRun(run.run.id);
    }
    return;
  }
  const auto& projects = m_projects.projects();
  const auto project = std::find_if(projects.begin(), projects.end(),
                                    [&run](const OtherProjects::Project& one) { return one.record == run.record; });
  if (project != projects.end()) {
    Q_EMIT runOfProjectRequested(project->folder, run.run.id);
  }
}

void RunsPage::updateCounts() {
  const int count = m_model->rowCount();
  const int all = m_model->countOfAll();
  const QString runs = listsOthers() ? tr("%1 runs").arg(formatCount(all))
                       : all == 1    ? tr("1 run in this project")
                                     : tr("%1 runs in this project").arg(formatCount(all));
  m_count->setText(count == all ? runs : tr("%1 of %2").arg(formatCount(count), runs));
  m_count->setToolTip(toQString(m_session.project().string()));
  m_empty->setSentence(m_model->countOfAll() > 0 ? tr("No run matches. Change the filter.")
                       : listsOthers()           ? tr("No runs in the recent projects.")
                                                 : tr("No runs in this project."));
  m_empty->setEmpty(count == 0);
}

}  // namespace swage::ui
