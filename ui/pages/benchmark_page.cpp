// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/benchmark_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/answer.h"
#include "ui/models/benchmark_model.h"
#include "ui/models/format.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/svg_picture.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kWidestColumn = 320;  // pixels

QTableView* makeTable(QAbstractItemModel* model, const QString& name, const QString& spoken) {
  auto* table = new QTableView;
  table->setObjectName(name);
  table->setAccessibleName(spoken);
  table->setModel(model);
  styleTable(*table);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setWordWrap(false);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  return table;
}

void fitColumns(QTableView& table) {
  for (int column = 0; column < table.model()->columnCount(); ++column) {
    table.resizeColumnToContents(column);
    table.setColumnWidth(column, std::min(table.columnWidth(column), kWidestColumn));
  }
}

// What the chart draws; empty: there is no kernel.
ChartTable speedupTable(const std::vector<services::BenchmarkTask>& tasks) {
  ChartTable table{.columns = {u"problem"_s, u"name"_s, u"speedup"_s, u"speedup_low"_s, u"speedup_high"_s, u"over"_s},
                   .rows = {}};
  const auto number = [](double value) { return value > 0.0 ? csvNumber(value) : QString(); };
  for (const services::BenchmarkTask& task : tasks) {
    table.rows.push_back({u"%1/%2"_s.arg(task.level).arg(task.problem), toQString(task.name),
                          number(task.speedup.value), number(task.speedup.low), number(task.speedup.high),
                          toQString(task.fastestWay)});
  }
  return table;
}

}  // namespace

BenchmarkPage::BenchmarkPage(const services::BenchmarkService& benchmarks, QWidget* parent)
    : QWidget(parent),
      m_benchmarks(benchmarks),
      m_tasks(new BenchmarkModel(this)),
      m_summaries(new BenchmarkSummaryModel(this)),
      m_sorted(new QSortFilterProxyModel(this)),
      m_headline(new ElidedLabel),
      m_problem(new QLabel),
      m_chart(new SvgPicture(tr("Speedup of the best kernel of each problem"))) {
  setObjectName(u"benchmarkPage"_s);
  m_sorted->setSourceModel(m_tasks);
  m_sorted->setSortRole(BenchmarkModel::SortRole);
  m_problem->setObjectName(u"benchmarkProblem"_s);
  m_problem->setWordWrap(true);
  m_problem->setContentsMargins(8, 0, 8, 6);
  m_problem->hide();
  m_empty = new EmptyState(makeResults(),
                           tr("Open the results of a benchmark: the file that\nswage bench kernelbench --json FILE\n"
                              "writes. It can be opened while the benchmark runs."));
  m_empty->setEmpty(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  column->addWidget(m_problem);
  column->addWidget(m_empty, 1);
}

QWidget* BenchmarkPage::makeBar() {
  m_headline->setObjectName(u"benchmarkHeadline"_s);
  auto* open = new QPushButton(tr("Open Results…"));
  open->setObjectName(u"openBenchmark"_s);
  connect(open, &QPushButton::clicked, this, [this] {
    if (m_choose) {
      m_choose(this, [this](const QString& file) { this->open(file); });
    }
  });
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 6, 8, 6);
  row->addWidget(m_headline, 1);
  row->addWidget(open);
  return bar;
}

QWidget* BenchmarkPage::makeTasks() {
  m_taskTable = makeTable(m_sorted, u"benchmarkTasks"_s, tr("Problems of the benchmark"));
  m_taskTable->setSortingEnabled(true);
  m_taskTable->sortByColumn(static_cast<int>(BenchmarkColumn::Problem), Qt::AscendingOrder);
  m_taskTable->horizontalHeader()->setStretchLastSection(true);
  m_remarks = new QLabel;
  m_remarks->setObjectName(u"benchmarkRemarks"_s);
  m_remarks->setWordWrap(true);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_remarks->setContentsMargins(10, 4, 10, 4);
  m_remarks->hide();
  auto* tasks = new QWidget;
  auto* column = new QVBoxLayout(tasks);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_taskTable, 1);
  column->addWidget(m_remarks);
  connect(m_taskTable, &QTableView::activated, this, &BenchmarkPage::openRun);
  connect(m_taskTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &BenchmarkPage::showRemarks);
  connect(m_sorted, &QAbstractItemModel::modelReset, this, &BenchmarkPage::showRemarks);
  return tasks;
}

QWidget* BenchmarkPage::makeResults() {
  m_summaryTable = makeTable(m_summaries, u"benchmarkSummary"_s, tr("Means and shares"));
  m_summaryTable->setFocusPolicy(Qt::StrongFocus);
  m_chart->setObjectName(u"benchmarkChart"_s);
  auto* scroll = new QScrollArea;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(m_chart);
  auto* tabs = new QTabWidget;
  tabs->setObjectName(u"benchmarkTabs"_s);
  tabs->setDocumentMode(true);
  tabs->addTab(makeTasks(), tr("Problems"));
  tabs->addTab(m_summaryTable, tr("Summary"));
  tabs->addTab(scroll, tr("Chart"));
  return tabs;
}

void BenchmarkPage::setTheme(const Theme& theme) {
  m_chart->setTheme(theme);
}

void BenchmarkPage::setOutlet(const ChartOutlet& outlet) {
  m_chart->setOutlet(outlet);
}

void BenchmarkPage::open(const QString& file) {
  whenAnswered(m_benchmarks.read(std::filesystem::path(file.toStdString())), this,
               [this, file](const Result<services::BenchmarkResults>& results) { showResults(file, results); });
}

void BenchmarkPage::showResults(const QString& file, const Result<services::BenchmarkResults>& results) {
  m_problem->setVisible(!results);
  if (!results) {
    m_problem->setText(toQString(asSentence(results.error().message())));
    return;
  }
  m_project = results->project;
  m_headline->setFullText(u"%1: %2"_s.arg(QFileInfo(file).fileName(), toQString(results->headline)));
  m_tasks->setRows(results->tasks);
  m_summaries->setRows(results->summaries);
  m_chart->setDocument(QByteArray::fromStdString(results->chart), speedupTable(results->tasks));
  fitColumns(*m_taskTable);
  fitColumns(*m_summaryTable);
  m_empty->setEmpty(results->tasks.empty());
  if (results->tasks.empty()) {
    m_empty->setSentence(tr("No problem has been finished yet. Open the file again later."));
  }
}

void BenchmarkPage::showRemarks() {
  const QModelIndex current = m_sorted->mapToSource(m_taskTable->currentIndex());
  const QString remarks = current.isValid() ? benchmarkRemarks(m_tasks->item(current.row())) : QString();
  m_remarks->setText(remarks);
  m_remarks->setVisible(!remarks.isEmpty());
}

void BenchmarkPage::openRun(const QModelIndex& index) {
  const QModelIndex source = m_sorted->mapToSource(index);
  if (!source.isValid()) {
    return;
  }
  const services::BenchmarkTask& task = m_tasks->item(source.row());
  if (task.run.isValid() && !m_project.empty()) {
    Q_EMIT runRequested(m_project, task.run);
  }
}

}  // namespace swage::ui
