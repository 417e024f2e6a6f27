// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/candidates_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScopedValueRollback>
#include <QTableView>
#include <QVBoxLayout>

#include <array>

#include "ui/models/candidate_table_model.h"
#include "ui/models/format.h"
#include "ui/pages/status_delegate.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::CandidateColumn;

std::vector<std::string> statusWords() {
  const std::array<domain::Evaluation, 10> all = {
      domain::Correct{}, domain::Duplicate{}, domain::Rejected{}, domain::CompileFailed{}, domain::LaunchFailed{},
      domain::Wrong{},   domain::Crashed{},   domain::TimedOut{}, domain::Cheating{},      domain::Unstable{}};
  std::vector<std::string> words;
  for (const domain::Evaluation& evaluation : all) {
    words.emplace_back(domain::statusName(evaluation));
  }
  return words;
}

}  // namespace

CandidatesPage::CandidatesPage(Session& session, const services::RecordService& record, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(new CandidateTableModel(record, this)),
      m_table(new QTableView),
      m_empty(new EmptyState(m_table, tr("Every kernel the search tries appears here. Start a search to see some."))),
      m_delegate(new StatusDelegate(this)),
      m_status(new QComboBox(this)),
      m_onlyCell(new QCheckBox(tr("Only the chosen cell"), this)),
      m_count(new QLabel(this)) {
  setObjectName(u"candidatesPage"_s);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeFilters());
  column->addWidget(m_empty, 1);
  setUpTable();
  connect(&session, &Session::runShown, this, &CandidatesPage::showRun);
  connect(&session, &Session::candidatesChanged, this, &CandidatesPage::refresh);
  connect(&session, &Session::selectionChanged, this, &CandidatesPage::showSelection);
  connect(m_model, &CandidateTableModel::failed, &session, &Session::report);
  showRun();
}

QWidget* CandidatesPage::makeFilters() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 4, 8, 4);
  row->setSpacing(8);
  m_status->setObjectName(u"statusFilter"_s);
  m_status->setAccessibleName(tr("Show candidates with this status"));
  m_status->addItem(tr("Any status"));
  for (const std::string& word : statusWords()) {
    m_status->addItem(toQString(word), toQString(word));
  }
  m_onlyCell->setObjectName(u"onlyCell"_s);
  m_count->setObjectName(u"candidateCount"_s);
  m_count->setForegroundRole(QPalette::PlaceholderText);
  row->addWidget(m_status);
  row->addWidget(m_onlyCell);
  row->addStretch(1);
  row->addWidget(m_count);
  connect(m_status, &QComboBox::currentIndexChanged, this, &CandidatesPage::applyStatusFilter);
  connect(m_onlyCell, &QCheckBox::toggled, this, &CandidatesPage::applyCellFilter);
  return bar;
}

void CandidatesPage::setUpTable() {
  m_table->setObjectName(u"candidateTable"_s);
  m_table->setAccessibleName(tr("Candidates"));
  m_table->setModel(m_model);
  m_table->setItemDelegateForColumn(static_cast<int>(CandidateColumn::Status), m_delegate);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setAlternatingRowColors(true);
  m_table->setShowGrid(false);
  m_table->setWordWrap(false);
  m_table->setTabKeyNavigation(false);
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
  QHeaderView* header = m_table->horizontalHeader();
  header->setHighlightSections(false);
  const std::array<QString, 9> samples = {u"1000000"_s,        u"A0B0C0"_s,          u"Island"_s,
                                          u"pattern swap  "_s, u"compile error  "_s, u"000.0 µs ± 00.0 %"_s,
                                          u"Speedup"_s,        u"1.2e-07"_s,         u"Registers"_s};
  for (int column = 0; column < m_model->columnCount(); ++column) {
    const int sample = m_table->fontMetrics().horizontalAdvance(samples[static_cast<std::size_t>(column)]);
    m_table->setColumnWidth(column, sample + 26);
  }
  header->setSectionResizeMode(static_cast<int>(CandidateColumn::Status), QHeaderView::Stretch);
  header->setSortIndicator(static_cast<int>(CandidateColumn::Speedup), Qt::DescendingOrder);
  m_table->setSortingEnabled(true);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CandidatesPage::chooseRow);
  connect(m_table, &QTableView::activated, this, &CandidatesPage::candidateOpened);
}

void CandidatesPage::setTheme(const Theme& theme) {
  m_delegate->setTheme(theme);
  m_table->viewport()->update();
}

void CandidatesPage::showRun() {
  const QScopedValueRollback guard(m_showingSelection, true);
  m_model->setRun(m_session.shownRun());
  updateCounts();
}

void CandidatesPage::refresh() {
  const QScopedValueRollback guard(m_showingSelection, true);
  m_model->refresh();
  updateCounts();
}

void CandidatesPage::applyStatusFilter() {
  const QScopedValueRollback guard(m_showingSelection, true);
  const QVariant word = m_status->currentData();
  m_model->setStatusFilter(word.isValid() ? std::optional(word.toString().toStdString()) : std::nullopt);
  updateCounts();
}

void CandidatesPage::applyCellFilter() {
  const QScopedValueRollback guard(m_showingSelection, true);
  const int cell = m_session.selectedCell();
  m_model->setCellFilter(m_onlyCell->isChecked() && cell >= 0 ? std::optional(domain::Cell::fromIndex(cell))
                                                              : std::nullopt);
  updateCounts();
}

void CandidatesPage::updateCounts() {
  const int count = m_model->rowCount();
  m_count->setText(count == 1 ? tr("1 candidate") : tr("%1 candidates").arg(formatCount(count)));
  const bool filtered = m_status->currentIndex() > 0 || m_onlyCell->isChecked();
  m_empty->setSentence(filtered ? tr("No candidate matches. Choose another status or cell.")
                                : tr("Every kernel the search tries appears here. Start a search to see some."));
  m_empty->setEmpty(count == 0);
}

void CandidatesPage::chooseRow(const QModelIndex& index) {
  if (!m_showingSelection && index.isValid()) {
    m_session.selectCandidate(m_model->candidateAt(index.row()));
  }
}

void CandidatesPage::showSelection() {
  if (m_onlyCell->isChecked() && m_session.follow() != Session::Follow::Candidate) {
    applyCellFilter();
  }
  const QScopedValueRollback guard(m_showingSelection, true);
  const int row = m_model->loadedRow(m_session.selectedCandidate());
  if (row < 0) {
    m_table->setCurrentIndex({});
  } else if (m_table->currentIndex().row() != row) {
    m_table->setCurrentIndex(m_model->index(row, 0));
  }
}

}  // namespace swage::ui
