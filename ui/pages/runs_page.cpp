// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs_page.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QVBoxLayout>

#include <array>

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
      m_count(new QLabel(this)) {
  setObjectName(u"runsPage"_s);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 4, 8, 4);
  row->setSpacing(8);
  m_filter->setObjectName(u"runFilter"_s);
  m_filter->setPlaceholder(tr("Filter: task:softmax status:finished speedup>1.5"));
  m_count->setObjectName(u"runCount"_s);
  m_count->setForegroundRole(QPalette::PlaceholderText);
  row->addWidget(m_filter, 1, Qt::AlignTop);
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
  const std::array<QString, 11> samples = {
      u"r1000"_s,     u"matmul_bias_gelu"_s, u"NVIDIA H200 141 GB"_s, u"interrupted"_s, u"≈000.00× ± 00.0 %"_s,
      u"000.0 µs "_s, u"% of roofline"_s,    u"1,000,000"_s,          u"1,000,000"_s,   u"2026-11-22 00:00"_s,
      u"00:00:00"_s};
  for (int column = 0; column < m_model->columnCount(); ++column) {
    m_table->setColumnWidth(column,
                            m_table->fontMetrics().horizontalAdvance(samples[static_cast<std::size_t>(column)]) + 26);
  }
  header->setSortIndicator(static_cast<int>(RunColumn::Id), Qt::DescendingOrder);
  m_table->setSortingEnabled(true);
  connect(m_table, &QTableView::activated, this, &RunsPage::openRun);
  connect(m_table, &QTableView::customContextMenuRequested, this, &RunsPage::showContextMenu);
}

std::vector<services::RunSummary> RunsPage::chosen() const {
  std::vector<services::RunSummary> runs;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) {
    if (const services::RunSummary* run = m_model->runAt(index.row())) {
      runs.push_back(*run);
    }
  }
  return runs;
}

void RunsPage::showContextMenu(const QPoint& position) {
  const std::vector<services::RunSummary> runs = chosen();
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
    for (const services::RunSummary& run : runs) {
      ids.push_back(u"r"_s % QString::number(run.id.value()));
    }
    QGuiApplication::clipboard()->setText(ids.join(u'\n'));
  });
  menu->popup(m_table->viewport()->mapToGlobal(position));
}

void RunsPage::fillMenuOfOne(QMenu& menu, const services::RunSummary& run) {
  QAction* open = menu.addAction(tr("&Open"));
  open->setObjectName(u"openRun"_s);
  open->setEnabled(run.id != m_session.shownRun() && m_session.canStart());
  connect(open, &QAction::triggered, this, [this, id = run.id] { m_session.showRun(id); });
  QAction* compare = menu.addAction(tr("&Compare with Another Run…"));
  compare->setObjectName(u"compareRun"_s);
  connect(compare, &QAction::triggered, this, [this, run] {
    const auto& shown = m_session.summary();
    compareRuns(run, shown && shown->id != run.id ? *shown : run);
  });
  if (m_menu != nullptr && run.best.isValid()) {
    m_menu->fill(*menu.addMenu(tr("&Best Candidate")), {run.best});
  }
  if (m_offersReports) {
    QAction* report = menu.addAction(tr("Export &Report…"));
    report->setObjectName(u"exportReport"_s);
    connect(report, &QAction::triggered, this, [this, run] { Q_EMIT reportRequested(run); });
  }
}

void RunsPage::fillMenuOfTwo(QMenu& menu, const services::RunSummary& left, const services::RunSummary& right) {
  QAction* runs = menu.addAction(tr("&Compare Runs…"));
  runs->setObjectName(u"compareRuns"_s);
  connect(runs, &QAction::triggered, this, [this, left, right] { compareRuns(left, right); });
  QAction* candidates = menu.addAction(tr("Compare Best C&andidates"));
  candidates->setObjectName(u"compareBest"_s);
  candidates->setEnabled(left.best.isValid() && right.best.isValid());
  connect(candidates, &QAction::triggered, this,
          [this, left, right] { Q_EMIT compareRequested(bestOf(left), bestOf(right)); });
}

void RunsPage::setOtherProjects(const OpenRecord& open, const ChooseFolder& chooseFolder) {
  m_projects = OtherProjects(open);
  m_chooseFolder = chooseFolder;
}

void RunsPage::compareRuns(const services::RunSummary& left, const services::RunSummary& right) {
  if (m_comparison == nullptr) {
    m_comparison = new RunComparisonDialog(m_session, m_record, window());
    m_comparison->setProjects(&m_projects, m_chooseFolder);
    connect(m_comparison, &RunComparisonDialog::candidatesRequested, this, &RunsPage::compareRequested);
  }
  m_comparison->compare({nullptr, {}, left}, {nullptr, {}, right});
  m_comparison->show();
  m_comparison->raise();
  m_comparison->activateWindow();
}

void RunsPage::setTheme(const Theme& theme) {
  m_filter->setTheme(theme);
  m_table->viewport()->update();
}

void RunsPage::reload() {
  if (!m_session.hasRecord()) {
    m_model->setRuns({});
  } else if (auto runs = m_record.runs()) {
    m_model->setRuns(std::move(*runs));
  } else {
    m_session.report(runs.error());
  }
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
  const services::RunSummary* run = m_model->runAt(index.row());
  if (run != nullptr && run->id != m_session.shownRun() && m_session.canStart()) {
    m_session.showRun(run->id);
  }
}

void RunsPage::updateCounts() {
  const int count = m_model->rowCount();
  const int all = m_model->countOfAll();
  const QString runs = all == 1 ? tr("1 run in this project") : tr("%1 runs in this project").arg(formatCount(all));
  m_count->setText(count == all ? runs : tr("%1 of %2").arg(formatCount(count), runs));
  m_count->setToolTip(toQString(m_session.project().string()));
  m_empty->setSentence(m_model->countOfAll() > 0 ? tr("No run matches. Change the filter.")
                                                 : tr("No runs in this project."));
  m_empty->setEmpty(count == 0);
}

}  // namespace swage::ui
