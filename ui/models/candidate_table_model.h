// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QFuture>
#include <QTimer>

#include <map>
#include <optional>
#include <vector>

#include "core/services/record_service.h"
#include "ui/models/candidate_groups.h"
#include "ui/models/table_model.h"

class QItemSelection;

namespace swage::ui {

// The first ones are those the record can sort by, in the order of services::CandidateColumn.
enum class CandidateField : std::uint8_t {
  Id,
  Cell,
  Island,
  Operator,
  Status,
  Time,
  Speedup,
  Error,
  Registers,
  Found,
  Roof,
  Parents,
  Tags,
  Note,
  Summary,
};

// The candidates of one run. The record sorts and filters and says all ids in order, without keeping this thread
// waiting; the rows themselves are read in pages, as they come into view: a million candidates cost eight megabytes and
// what is on the screen. refresh() keeps selections on their candidates while rows come in. GUI thread only.
// In groups, it begins with the headers alone; what the groups are made by is read in slices of a few milliseconds.
// A failing query leaves the rows shown so far and emits failed().
class CandidateTableModel final : public TableModel<CandidateField> {
  Q_OBJECT

 public:
  // GroupRole: what a header says; nothing: it is the row of a candidate.
  enum Role : int { CandidateIdRole = Qt::UserRole + 1, StatusRole, GroupRole };

  explicit CandidateTableModel(const services::RecordService& record, QObject* parent = nullptr);
  ~CandidateTableModel() override;

  void setRun(domain::RunId run);
  void setFilter(const domain::Filter& filter);
  void setStatusFilter(std::optional<domain::CandidateStatus> status);
  void setCellFilter(std::optional<domain::Cell> cell);
  // Looks for new and changed rows; not more often than the record answers well.
  void refresh();
  void sort(int column, Qt::SortOrder order) override;
  [[nodiscard]] static bool canSortBy(int column);

  void setGrouping(GroupBy by);
  [[nodiscard]] GroupBy grouping() const { return m_groupBy; }
  [[nodiscard]] bool isHeader(int row) const { return groupAt(row).has_value(); }
  [[nodiscard]] bool isUnfolded(int header) const;
  // Shows or hides the members of the group whose header this is.
  void setUnfolded(int header, bool unfolded);

  [[nodiscard]] bool isSearching() const { return m_search.has_value(); }
  // Invalid for the header of a group.
  [[nodiscard]] domain::CandidateId candidateAt(int row) const;
  [[nodiscard]] const services::CandidateRow* rowAt(int row) const;
  // The row of a candidate, or -1.
  [[nodiscard]] int rowOf(domain::CandidateId id) const;
  // Of a selection of whole rows, without reading them.
  [[nodiscard]] std::vector<domain::CandidateId> idsOf(const QItemSelection& selection) const;
  // All that match, also where they are folded away.
  [[nodiscard]] const services::CandidateIds& ids() const { return m_ids; }

 Q_SIGNALS:
  void failed(const swage::Error& error) const;
  void searchingChanged(bool searching);
  // After new rows are in place.
  void searched();

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(shown().size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, CandidateField column, int role) const override;

 private:
  using Page = std::vector<services::CandidateRow>;
  // Reset: other candidates than before. Adopt: mostly the same ones, in another order.
  enum class Change : std::uint8_t { Reset, Adopt };

  void search(Change change);
  void takeAnswer(const Result<services::CandidateIds>& answer, Change change);
  void reset(services::CandidateIds ids);
  void adopt(const services::CandidateIds& ids);
  void reorder(const services::CandidateIds& ids);
  void forgetSearch();
  // The rows in their order: candidates, and the headers of groups.
  [[nodiscard]] const std::vector<domain::CandidateId>& shown() const;
  [[nodiscard]] std::optional<std::size_t> groupAt(int row) const;
  [[nodiscard]] QVariant headerCell(int row, CandidateField column, int role) const;
  void gather();
  void readSlice();
  void showGroups();
  [[nodiscard]] const Page& page(int number) const;

  const services::RecordService& m_record;
  services::CandidateQuery m_query;
  services::CandidateIds m_ids = std::make_shared<const std::vector<domain::CandidateId>>();
  mutable std::map<int, Page> m_pages;

  GroupBy m_groupBy = GroupBy::Nothing;
  CandidateGroups m_groups;
  GroupedRows m_grouped;
  std::set<QString> m_unfolded;
  std::vector<domain::CandidateId> m_unread;  // before groups can be made
  QTimer m_slice;

  std::optional<QFuture<Result<services::CandidateIds>>> m_search;  // the one that is under way
  int m_generation = 0;                                             // of searches; older answers are dropped
  Change m_pendingChange = Change::Adopt;                           // of the search under way
  bool m_refreshAgain = false;
  QElapsedTimer m_searchTime;
  QTimer m_rest;  // between two searches of a large record
};

}  // namespace swage::ui
