// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/domain/filter.h"
#include "core/services/types.h"
#include "ui/models/other_projects.h"
#include "ui/models/table_model.h"

namespace swage::ui {

enum class RunColumn : std::uint8_t {
  Id,
  Task,
  Project,
  Device,
  Status,
  Speedup,
  Time,
  Roof,
  Evaluations,
  Correct,
  Started,
  Duration,
};

// Whether a run is what a filter of domain::runFilterKeys() asks for.
[[nodiscard]] bool matches(const domain::Filter& filter, const services::RunSummary& run);

// The runs of one record or of several, of which there are hundreds and not millions: sorted and filtered here. GUI
// thread only.
class RunTableModel final : public TableModel<RunColumn> {
  Q_OBJECT

 public:
  enum Role : int { RunIdRole = Qt::UserRole + 1, StatusRole };

  using TableModel::TableModel;
  // Of the open project alone.
  void setRuns(std::vector<services::RunSummary> runs);
  // Of the open project and of others.
  void setRunsOfProjects(std::vector<RunRef> runs);
  void setFilter(const domain::Filter& filter);
  void setShownRun(domain::RunId run);
  void sort(int column, Qt::SortOrder order) override;

  [[nodiscard]] const RunRef* at(int row) const;     // null: there is no such row
  [[nodiscard]] int rowOf(domain::RunId run) const;  // of the open project; -1: not listed
  [[nodiscard]] int countOfAll() const { return static_cast<int>(m_all.size()); }

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_listed.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, RunColumn column, int role) const override;

 private:
  void list();

  std::vector<RunRef> m_all;
  std::vector<RunRef> m_listed;
  domain::Filter m_filter;
  domain::RunId m_shown;
  RunColumn m_sort = RunColumn::Id;
  Qt::SortOrder m_order = Qt::DescendingOrder;
};

}  // namespace swage::ui
