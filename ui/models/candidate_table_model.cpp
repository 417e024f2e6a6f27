// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/candidate_table_model.h"

#include <QItemSelection>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ui/models/answer.h"
#include "ui/models/format.h"
#include "ui/models/proposer_grid_model.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::CandidateColumn;

constexpr int kPageRows = 128;
constexpr std::size_t kMaxPages = 64;
constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;
// A search that takes longer than a frame is not repeated before it has rested several times as long.
constexpr qint64 kQuickMs = 20;
constexpr int kRestFactor = 8;

constexpr std::array<ColumnInfo, 15> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Id"), QT_TRANSLATE_NOOP("columns", "Number of the candidate in the record"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Cell"),
     QT_TRANSLATE_NOOP("columns", "Behaviour cell, from the compiled code: data movement, arithmetic, decomposition")},
    {QT_TRANSLATE_NOOP("columns", "Island"), QT_TRANSLATE_NOOP("columns", "Island of the search it belongs to"),
     Qt::AlignCenter},
    {QT_TRANSLATE_NOOP("columns", "Operator"), QT_TRANSLATE_NOOP("columns", "What made it")},
    {QT_TRANSLATE_NOOP("columns", "Status"), QT_TRANSLATE_NOOP("columns", "What became of it")},
    {QT_TRANSLATE_NOOP("columns", "Time"), QT_TRANSLATE_NOOP("columns", "Median with its 95 % interval"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Speedup"),
     QT_TRANSLATE_NOOP("columns",
                       "Over the fastest PyTorch baseline, with the 95 % interval. ≈ marks an interval wider "
                       "than ±20 %. Sorted by the lower end."),
     kRight},
    {QT_TRANSLATE_NOOP("columns", "Error"), QT_TRANSLATE_NOOP("columns", "Relative L2 error against float64"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Registers"), QT_TRANSLATE_NOOP("columns", "For each thread, where it has a meaning"),
     kRight},
    // The last one at first, which gets what is left of a wide window: at its right it would be far from its row.
    {QT_TRANSLATE_NOOP("columns", "Found at"), QT_TRANSLATE_NOOP("columns", "Search time when it was evaluated")},
    {QT_TRANSLATE_NOOP("columns", "% of roofline"),
     QT_TRANSLATE_NOOP("columns", "How near the time is to what the hardware allows for this task"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Parents"), QT_TRANSLATE_NOOP("columns", "The candidates it was made from")},
    {QT_TRANSLATE_NOOP("columns", "Tags"), QT_TRANSLATE_NOOP("columns", "Your tags; a star stands for a pin")},
    {QT_TRANSLATE_NOOP("columns", "Note"), QT_TRANSLATE_NOOP("columns", "The first line of your note")},
    {QT_TRANSLATE_NOOP("columns", "Outcome"), QT_TRANSLATE_NOOP("columns", "What became of it, in a sentence")},
}};

bool hasTime(const services::CandidateRow& row) {
  return row.timeNs > 0.0;
}

QString parentsText(const services::CandidateRow& row) {
  QStringList ids;
  for (const domain::CandidateId parent : row.parents) {
    ids.push_back(QString::number(parent.value()));
  }
  return ids.join(u", "_s);
}

QString tagsText(const domain::Annotation& annotation) {
  QStringList words;
  if (annotation.pinned) {
    words.push_back(u"★"_s);
  }
  for (const std::string& tag : annotation.tags) {
    words.push_back(toQString(tag));
  }
  return annotation.pinned && words.size() > 1 ? u"★ "_s % words.mid(1).join(u", "_s) : words.join(u", "_s);
}

QString statusText(const services::CandidateRow& row) {
  const QString status = toQString(domain::name(row.status));
  return row.isAlgebraic ? QString(status % u", algebraic"_s) : status;
}

QString displayText(const services::CandidateRow& row, CandidateField column) {
  switch (column) {
    case CandidateField::Id: return QString::number(row.id.value());
    case CandidateField::Cell: return row.cell ? toQString(row.cell->name()) : QString();
    case CandidateField::Island: return QString::number(row.island);
    case CandidateField::Operator: return toQString(domain::name(row.madeBy));
    case CandidateField::Status: return statusText(row);
    case CandidateField::Time: return hasTime(row) ? formatInterval(row.timeNs, row.lowNs, row.highNs) : QString();
    case CandidateField::Speedup: return row.speedup.isKnown() ? formatSpeedupMargin(row.speedup) : QString();
    case CandidateField::Error: return hasTime(row) ? formatError(row.relativeError) : QString();
    case CandidateField::Registers: return row.registers > 0 ? QString::number(row.registers) : QString();
    case CandidateField::Found: return formatDuration(row.elapsedSeconds);
    case CandidateField::Roof: return row.roofShare > 0.0 ? formatShare(row.roofShare) : QString();
    case CandidateField::Parents: return parentsText(row);
    case CandidateField::Tags: return tagsText(row.annotation);
    case CandidateField::Note: return toQString(row.annotation.note).section(u'\n', 0, 0);
    case CandidateField::Summary: return toQString(row.summary);
  }
  return {};
}

QString tooltipText(const services::CandidateRow& row, CandidateField column) {
  switch (column) {
    case CandidateField::Status:
    case CandidateField::Summary: return toQString(row.summary);
    case CandidateField::Operator: return operatorMeaning(domain::name(row.madeBy));
    case CandidateField::Note: return toQString(row.annotation.note);
    case CandidateField::Tags: return tagsText(row.annotation);
    default: return {};
  }
}

// How many of the new ids are higher than all of the old ones: candidates that came in.
std::size_t countNewer(const std::vector<domain::CandidateId>& before, const std::vector<domain::CandidateId>& after) {
  const auto highest = std::max_element(before.begin(), before.end());
  const std::int64_t limit = highest == before.end() ? 0 : highest->value();
  return static_cast<std::size_t>(
      std::count_if(after.begin(), after.end(), [limit](domain::CandidateId id) { return id.value() > limit; }));
}

services::CandidateIds withNewer(const std::vector<domain::CandidateId>& before,
                                 const std::vector<domain::CandidateId>& after) {
  auto both = std::make_shared<std::vector<domain::CandidateId>>(before);
  const auto highest = std::max_element(before.begin(), before.end());
  const std::int64_t limit = highest == before.end() ? 0 : highest->value();
  std::copy_if(after.begin(), after.end(), std::back_inserter(*both),
               [limit](domain::CandidateId id) { return id.value() > limit; });
  return both;
}

// Headers of groups get a row of nothing, so that places in a page stay what they are.
Result<std::vector<services::CandidateRow>> readRows(const services::RecordService& record,
                                                     std::span<const domain::CandidateId> wanted) {
  std::vector<domain::CandidateId> ids;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(ids), [](auto id) { return id.isValid(); });
  SWAGE_TRY_ASSIGN(std::vector<services::CandidateRow> found, record.candidates(ids));
  if (ids.size() == wanted.size()) {
    return found;
  }
  std::vector<services::CandidateRow> rows;
  auto next = found.begin();
  for (const domain::CandidateId id : wanted) {
    rows.push_back(id.isValid() && next != found.end() ? std::move(*next++) : services::CandidateRow());
  }
  return rows;
}

}  // namespace

CandidateTableModel::CandidateTableModel(const services::RecordService& record, QObject* parent)
    : TableModel(parent), m_record(record) {
  m_rest.setSingleShot(true);
  m_slice.setSingleShot(true);
  connect(&m_slice, &QTimer::timeout, this, &CandidateTableModel::readSlice);
  connect(&m_rest, &QTimer::timeout, this, [this] {
    if (std::exchange(m_refreshAgain, false)) {
      refresh();
    }
  });
}

CandidateTableModel::~CandidateTableModel() {
  forgetSearch();
}

void CandidateTableModel::setRun(domain::RunId run) {
  const bool isOther = run != m_query.run;
  m_query.run = run;
  if (isOther) {
    m_groups.clear();
    reset(std::make_shared<const std::vector<domain::CandidateId>>());
  }
  search(Change::Reset);
}

void CandidateTableModel::setFilter(const domain::Filter& filter) {
  if (filter != m_query.filter) {
    m_query.filter = filter;
    search(Change::Reset);
  }
}

void CandidateTableModel::setStatusFilter(std::optional<domain::CandidateStatus> status) {
  m_query.status = status;
  search(Change::Reset);
}

void CandidateTableModel::setCellFilter(std::optional<domain::Cell> cell) {
  m_query.cell = cell;
  search(Change::Reset);
}

bool CandidateTableModel::canSortBy(int column) {
  return column >= 0 && column <= static_cast<int>(CandidateField::Roof);
}

void CandidateTableModel::sort(int column, Qt::SortOrder order) {
  if (!canSortBy(column)) {
    return;
  }
  // Within one run, the share of the roof has the order of the speedup.
  m_query.sort = column == static_cast<int>(CandidateField::Roof) ? CandidateColumn::Speedup
                                                                  : static_cast<CandidateColumn>(column);
  m_query.descending = order == Qt::DescendingOrder;
  search(Change::Adopt);
}

void CandidateTableModel::refresh() {
  if (isSearching() || m_rest.isActive()) {
    m_refreshAgain = true;
    return;
  }
  search(Change::Adopt);
}

void CandidateTableModel::forgetSearch() {
  ++m_generation;
  if (m_search) {
    m_search->cancel();
    m_search.reset();
  }
}

void CandidateTableModel::search(Change change) {
  if (!m_query.run.isValid()) {
    forgetSearch();
    return;
  }
  // A question that is taken back leaves its change to the next one.
  m_pendingChange = isSearching() && m_pendingChange == Change::Reset ? Change::Reset : change;
  forgetSearch();
  const int generation = m_generation;
  m_searchTime.start();
  m_search = m_record.candidateIds(m_query);
  Q_EMIT searchingChanged(true);
  whenAnswered(*m_search, this, [this, generation](const Result<services::CandidateIds>& answer) {
    if (generation == m_generation) {
      takeAnswer(answer, m_pendingChange);
    }
  });
}

void CandidateTableModel::takeAnswer(const Result<services::CandidateIds>& answer, Change change) {
  m_search.reset();
  if (const qint64 cost = m_searchTime.elapsed(); cost > kQuickMs) {
    m_rest.start(static_cast<int>(cost * kRestFactor));
  }
  if (!answer) {
    if (answer.error().kind() != ErrorKind::Cancelled) {
      Q_EMIT failed(answer.error());
    }
  } else if (m_groupBy != GroupBy::Nothing) {
    m_ids = *answer;
    m_groups.forgetUnsettled();
    gather();
  } else if (change == Change::Reset) {
    reset(*answer);
  } else {
    adopt(*answer);
  }
  // NOLINTNEXTLINE(readability-misleading-indentation): Q_EMIT is nothing, after a chain of conditions
  Q_EMIT searchingChanged(false);
  Q_EMIT searched();
  if (!m_rest.isActive() && std::exchange(m_refreshAgain, false)) {
    refresh();
  }
}

void CandidateTableModel::reset(services::CandidateIds ids) {
  beginResetModel();
  m_pages.clear();
  m_ids = std::move(ids);
  m_grouped = {};
  endResetModel();
}

void CandidateTableModel::adopt(const services::CandidateIds& ids) {
  const std::size_t added = ids->size() - std::min(ids->size(), m_ids->size());
  if (m_ids->size() + added != ids->size() || countNewer(*m_ids, *ids) != added) {
    reset(ids);  // candidates left, or older ones came
    return;
  }
  if (added > 0) {
    const services::CandidateIds longer = withNewer(*m_ids, *ids);
    beginInsertRows({}, rows(), static_cast<int>(longer->size()) - 1);
    m_ids = longer;
    m_pages.erase(m_pages.empty() ? m_pages.end() : std::prev(m_pages.end()), m_pages.end());
    endInsertRows();
  }
  reorder(ids);
}

void CandidateTableModel::reorder(const services::CandidateIds& ids) {
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::unordered_map<std::int64_t, int> rowsOfKept;
  for (const QModelIndex& index : before) {
    rowsOfKept.emplace(candidateAt(index.row()).value(), -1);
  }
  for (std::size_t row = 0; row < ids->size() && !rowsOfKept.empty(); ++row) {
    if (const auto kept = rowsOfKept.find((*ids)[row].value()); kept != rowsOfKept.end()) {
      kept->second = static_cast<int>(row);
    }
  }
  QModelIndexList after;
  after.reserve(before.size());
  for (const QModelIndex& index : before) {
    const int row = rowsOfKept[candidateAt(index.row()).value()];
    after.push_back(row < 0 ? QModelIndex() : createIndex(row, index.column()));
  }
  m_ids = ids;
  m_pages.clear();
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
  const auto first = static_cast<std::size_t>(number) * kPageRows;
  const std::span<const domain::CandidateId> all(shown());
  const auto wanted = all.subspan(first, std::min<std::size_t>(kPageRows, all.size() - first));
  Result<Page> rows = readRows(m_record, wanted);
  if (!rows) {
    // Remembered as an empty page until the next refresh, so that a broken record is reported once and not per cell.
    Page& empty = m_pages[number];
    Q_EMIT failed(rows.error());
    return empty;
  }
  return m_pages[number] = std::move(*rows);
}

const services::CandidateRow* CandidateTableModel::rowAt(int row) const {
  if (row < 0 || row >= rows() || isHeader(row)) {
    return nullptr;
  }
  const Page& rows = page(row / kPageRows);
  const auto offset = static_cast<std::size_t>(row % kPageRows);
  return offset < rows.size() ? &rows[offset] : nullptr;
}

domain::CandidateId CandidateTableModel::candidateAt(int row) const {
  const bool isCandidate = row >= 0 && row < rows() && !isHeader(row);
  return isCandidate ? shown()[static_cast<std::size_t>(row)] : domain::CandidateId();
}

int CandidateTableModel::rowOf(domain::CandidateId id) const {
  const auto& all = shown();
  const auto found = id.isValid() ? std::find(all.begin(), all.end(), id) : all.end();
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

std::vector<domain::CandidateId> CandidateTableModel::idsOf(const QItemSelection& selection) const {
  std::vector<domain::CandidateId> found;
  for (const QItemSelectionRange& range : selection) {
    std::copy_if(shown().begin() + range.top(), shown().begin() + range.bottom() + 1, std::back_inserter(found),
                 [](domain::CandidateId id) { return id.isValid(); });
  }
  return found;
}

const std::vector<domain::CandidateId>& CandidateTableModel::shown() const {
  return m_groupBy == GroupBy::Nothing ? *m_ids : m_grouped.ids;
}

std::optional<std::size_t> CandidateTableModel::groupAt(int row) const {
  const bool isRow = m_groupBy != GroupBy::Nothing && row >= 0 && row < rows();
  return isRow ? GroupedRows::groupOf(shown()[static_cast<std::size_t>(row)]) : std::nullopt;
}

void CandidateTableModel::setGrouping(GroupBy by) {
  if (by == m_groupBy) {
    return;
  }
  beginResetModel();
  m_groupBy = by;
  m_grouped = {};
  m_unfolded.clear();
  m_pages.clear();
  endResetModel();
  gather();
}

// Reads what the groups are made by, at once where that takes no longer than a frame.
void CandidateTableModel::gather() {
  m_unread.clear();
  m_slice.stop();
  if (m_groupBy != GroupBy::Nothing) {
    m_unread = m_groups.unknown(*m_ids, m_groupBy);
    readSlice();
  }
}

void CandidateTableModel::readSlice() {
  constexpr std::size_t kAtOnce = 256;
  constexpr qint64 kFrameMs = 12;
  QElapsedTimer spent;
  spent.start();
  while (!m_unread.empty()) {
    if (spent.elapsed() > kFrameMs) {
      m_slice.start(0);
      return;
    }
    const std::size_t count = std::min(kAtOnce, m_unread.size());
    const Result<Page> rows = m_record.candidates(std::span(m_unread).last(count));
    if (!rows) {
      m_unread.clear();
      Q_EMIT failed(rows.error());
      return;
    }
    std::for_each(rows->begin(), rows->end(), [this](const auto& row) { m_groups.note(row); });
    m_unread.resize(m_unread.size() - count);
    if (m_unread.empty()) {
      m_unread = m_groups.unknown(*m_ids, m_groupBy);  // the ancestors of those that were read
    }
  }
  showGroups();
}

void CandidateTableModel::showGroups() {
  GroupedRows rows = GroupedRows::of(m_groups.arrange(*m_ids, m_groupBy), m_unfolded);
  m_pages.clear();
  if (rows.ids == m_grouped.ids && !rows.ids.empty()) {
    m_grouped = std::move(rows);  // counts and bests; selections stay
    Q_EMIT dataChanged(index(0, 0), index(this->rows() - 1, columnCount() - 1));
  } else {
    beginResetModel();
    m_grouped = std::move(rows);
    endResetModel();
  }
  Q_EMIT searched();
}

bool CandidateTableModel::isUnfolded(int header) const {
  const auto group = groupAt(header);
  return group && m_unfolded.contains(m_grouped.groups[*group].name);
}

void CandidateTableModel::setUnfolded(int header, bool unfolded) {
  const auto group = groupAt(header);
  if (!group || isUnfolded(header) == unfolded) {
    return;
  }
  const CandidateGroup& shownGroup = m_grouped.groups[*group];
  const int last = header + static_cast<int>(shownGroup.ids.size());
  const auto below = m_grouped.ids.begin() + header + 1;
  if (unfolded) {
    beginInsertRows({}, header + 1, last);
    m_unfolded.insert(shownGroup.name);
    m_grouped.ids.insert(below, shownGroup.ids.begin(), shownGroup.ids.end());
    m_pages.clear();
    endInsertRows();
  } else {
    beginRemoveRows({}, header + 1, last);
    m_unfolded.erase(shownGroup.name);
    m_grouped.ids.erase(below, m_grouped.ids.begin() + last + 1);
    m_pages.clear();
    endRemoveRows();
  }
  Q_EMIT dataChanged(index(header, 0), index(header, columnCount() - 1));
}

QVariant CandidateTableModel::headerCell(int row, CandidateField column, int role) const {
  const bool isText = role == GroupRole || (role == Qt::DisplayRole && column == CandidateField::Id) ||
                      role == Qt::ToolTipRole || role == Qt::AccessibleTextRole;
  return isText ? QVariant(describe(m_grouped.groups[*groupAt(row)])) : QVariant();
}

std::span<const ColumnInfo> CandidateTableModel::columns() const {
  return kColumns;
}

QVariant CandidateTableModel::cell(int rowNumber, CandidateField column, int role) const {
  if (isHeader(rowNumber)) {
    return headerCell(rowNumber, column, role);
  }
  if (role == CandidateIdRole) {
    return static_cast<qlonglong>(candidateAt(rowNumber).value());
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != StatusRole) {
    return {};
  }
  const services::CandidateRow* row = rowAt(rowNumber);
  if (row == nullptr) {
    return {};
  }
  if (role == Qt::ToolTipRole) {
    const QString text = tooltipText(*row, column);
    return text.isEmpty() ? QVariant() : text;
  }
  return role == StatusRole ? toQString(domain::name(row->status)) : displayText(*row, column);
}

}  // namespace swage::ui
