// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/services/record_service.h"
#include "ui/models/table_model.h"

namespace swage::ui {

// The candidates of one run, as pages of the record: a million rows cost what is on the screen. Sorting and filtering
// happen in the record. refresh() keeps selections on their candidates while rows come in. GUI thread only.
// A failing query leaves the rows shown so far and emits failed().
class CandidateTableModel final : public TableModel<services::CandidateColumn> {
  Q_OBJECT

 public:
  enum Role : int { CandidateIdRole = Qt::UserRole + 1, StatusRole };

  explicit CandidateTableModel(const services::RecordService& record, QObject* parent = nullptr);

  void setRun(domain::RunId run);
  void setStatusFilter(std::optional<std::string> status);
  void setCellFilter(std::optional<domain::Cell> cell);
  // Looks for new and changed rows.
  void refresh();
  void sort(int column, Qt::SortOrder order) override;

  [[nodiscard]] domain::CandidateId candidateAt(int row) const;
  // The row of a candidate among the pages already read, or -1.
  [[nodiscard]] int loadedRow(domain::CandidateId id) const;

 Q_SIGNALS:
  void failed(const swage::Error& error) const;

 protected:
  [[nodiscard]] int rows() const override { return m_count; }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, services::CandidateColumn column, int role) const override;

 private:
  using Page = std::vector<services::CandidateRow>;

  void reload();
  void reorder();
  [[nodiscard]] std::optional<int> queryCount() const;
  [[nodiscard]] const services::CandidateRow* rowAt(int row) const;
  [[nodiscard]] const Page& page(int number) const;

  const services::RecordService& m_record;
  services::CandidatePage m_query;
  int m_count = 0;
  mutable std::map<int, Page> m_pages;
};

}  // namespace swage::ui
