// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/candidate_table_model.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "ui/models/format.h"

namespace swage::ui {
namespace {

using services::CandidateColumn;

constexpr int kPageRows = 256;
constexpr std::size_t kMaxPages = 32;
constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;

constexpr std::array<ColumnInfo, 9> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Id"), QT_TRANSLATE_NOOP("columns", "Number of the candidate in the record"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Cell"),
     QT_TRANSLATE_NOOP("columns", "Behaviour cell, from the compiled code: data movement, arithmetic, decomposition")},
    {QT_TRANSLATE_NOOP("columns", "Island"), QT_TRANSLATE_NOOP("columns", "Island of the search it belongs to"),
     Qt::AlignCenter},
    {QT_TRANSLATE_NOOP("columns", "Operator"), QT_TRANSLATE_NOOP("columns", "What made it")},
    {QT_TRANSLATE_NOOP("columns", "Status"), QT_TRANSLATE_NOOP("columns", "What became of it")},
    {QT_TRANSLATE_NOOP("columns", "Time"), QT_TRANSLATE_NOOP("columns", "Median with its 95 % interval"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Speedup"),
     QT_TRANSLATE_NOOP("columns", "Against the fastest baseline of the same accuracy class"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Error"), QT_TRANSLATE_NOOP("columns", "Relative L2 error against float64"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Registers"), QT_TRANSLATE_NOOP("columns", "For each thread, where it has a meaning"),
     kRight},
}};

bool hasTime(const services::CandidateRow& row) {
  return row.timeNs > 0.0;
}

QString displayText(const services::CandidateRow& row, CandidateColumn column) {
  switch (column) {
    case CandidateColumn::Id: return QString::number(row.id.value());
    case CandidateColumn::Cell: return row.cell ? toQString(row.cell->name()) : QString();
    case CandidateColumn::Island: return QString::number(row.island);
    case CandidateColumn::Operator: return toQString(domain::name(row.madeBy));
    case CandidateColumn::Status: return toQString(row.status);
    case CandidateColumn::Time: return hasTime(row) ? formatInterval(row.timeNs, row.lowNs, row.highNs) : QString();
    case CandidateColumn::Speedup: return row.speedup > 0.0 ? formatSpeedup(row.speedup) : QString();
    case CandidateColumn::Error: return hasTime(row) ? formatError(row.relativeError) : QString();
    case CandidateColumn::Registers: return row.registers > 0 ? QString::number(row.registers) : QString();
  }
  return {};
}

}  // namespace

CandidateTableModel::CandidateTableModel(const services::RecordService& record, QObject* parent)
    : TableModel(parent), m_record(record) {}

void CandidateTableModel::setRun(domain::RunId run) {
  m_query.run = run;
  reload();
}

void CandidateTableModel::setStatusFilter(std::optional<std::string> status) {
  m_query.status = std::move(status);
  reload();
}

void CandidateTableModel::setCellFilter(std::optional<domain::Cell> cell) {
  m_query.cell = cell;
  reload();
}

void CandidateTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) {
    return;
  }
  m_query.sort = static_cast<CandidateColumn>(column);
  m_query.descending = order == Qt::DescendingOrder;
  reorder();
}

std::optional<int> CandidateTableModel::queryCount() const {
  if (!m_query.run.isValid()) {
    return 0;
  }
  const Result<std::int64_t> count = m_record.candidateCount(m_query);
  if (!count) {
    Q_EMIT failed(count.error());
    return std::nullopt;
  }
  return static_cast<int>(std::clamp<std::int64_t>(*count, 0, std::numeric_limits<int>::max()));
}

void CandidateTableModel::reload() {
  const int count = queryCount().value_or(0);
  beginResetModel();
  m_pages.clear();
  m_count = count;
  endResetModel();
}

void CandidateTableModel::refresh() {
  const std::optional<int> count = queryCount();
  if (!count) {
    return;
  }
  if (*count < m_count) {
    reload();
    return;
  }
  if (*count > m_count) {
    // The pages go first: rows of a sorted page move, and the last page of an unsorted one is incomplete.
    beginInsertRows({}, m_count, *count - 1);
    m_count = *count;
    endInsertRows();
  }
  reorder();
}

void CandidateTableModel::reorder() {
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<domain::CandidateId> ids;
  std::set<int> pagesToRead;
  for (const QModelIndex& index : before) {
    const auto cached = m_pages.find(index.row() / kPageRows);
    const auto offset = static_cast<std::size_t>(index.row() % kPageRows);
    const bool known = cached != m_pages.end() && offset < cached->second.size();
    ids.push_back(known ? cached->second[offset].id : domain::CandidateId());
    pagesToRead.insert(index.row() / kPageRows);
  }
  m_pages.clear();
  for (const int number : pagesToRead) {
    static_cast<void>(page(number));
  }
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i) {
    const int row = loadedRow(ids[static_cast<std::size_t>(i)]);
    after.push_back(row < 0 ? QModelIndex() : index(row, before[i].column()));
  }
  changePersistentIndexList(before, after);
  Q_EMIT layoutChanged({}, VerticalSortHint);
}

const CandidateTableModel::Page& CandidateTableModel::page(int number) const {
  if (const auto cached = m_pages.find(number); cached != m_pages.end()) {
    return cached->second;
  }
  if (m_pages.size() >= kMaxPages) {
    // The page farthest from the one asked for is the least likely to be on the screen.
    const auto farthest =
        number - m_pages.begin()->first > m_pages.rbegin()->first - number ? m_pages.begin() : std::prev(m_pages.end());
    m_pages.erase(farthest);
  }
  services::CandidatePage query = m_query;
  query.offset = static_cast<std::int64_t>(number) * kPageRows;
  query.limit = kPageRows;
  Result<Page> rows = m_record.candidates(query);
  if (!rows) {
    // Remembered as an empty page until the next refresh, so that a broken record is reported once and not per cell.
    Page& empty = m_pages[number];
    Q_EMIT failed(rows.error());
    return empty;
  }
  return m_pages[number] = std::move(*rows);
}

const services::CandidateRow* CandidateTableModel::rowAt(int row) const {
  if (row < 0 || row >= m_count) {
    return nullptr;
  }
  const Page& rows = page(row / kPageRows);
  const auto offset = static_cast<std::size_t>(row % kPageRows);
  return offset < rows.size() ? &rows[offset] : nullptr;
}

domain::CandidateId CandidateTableModel::candidateAt(int row) const {
  const services::CandidateRow* found = rowAt(row);
  return found != nullptr ? found->id : domain::CandidateId();
}

int CandidateTableModel::loadedRow(domain::CandidateId id) const {
  if (!id.isValid()) {
    return -1;
  }
  for (const auto& [number, rows] : m_pages) {
    const auto found = std::find_if(rows.begin(), rows.end(), [id](const auto& row) { return row.id == id; });
    const auto row = number * kPageRows + static_cast<int>(found - rows.begin());
    if (found != rows.end() && row < m_count) {
      return row;
    }
  }
  return -1;
}

std::span<const ColumnInfo> CandidateTableModel::columns() const {
  return kColumns;
}

QVariant CandidateTableModel::cell(int rowNumber, CandidateColumn column, int role) const {
  const services::CandidateRow* row = rowAt(rowNumber);
  if (row == nullptr) {
    return {};
  }
  switch (role) {
    case Qt::DisplayRole: return displayText(*row, column);
    case Qt::ToolTipRole:
      return column == CandidateColumn::Status && !row->summary.empty() ? toQString(row->summary) : QVariant();
    case CandidateIdRole: return static_cast<qlonglong>(row->id.value());
    case StatusRole: return toQString(row->status);
    default: return {};
  }
}

}  // namespace swage::ui
