// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

#include "core/domain/launch_plan.h"
#include "ui/models/table_model.h"

namespace swage::ui {

enum class PlanColumn : std::uint8_t { Step, Kind, Name, Geometry, Shared, Arguments };

struct PlanRow {
  QString kind;
  QString name;
  QString geometry;
  QString shared;
  QString arguments;
};

[[nodiscard]] std::vector<PlanRow> planRows(const domain::LaunchPlan& plan);

// The steps of a launch plan in order.
class PlanModel final : public TableModel<PlanColumn> {
 public:
  using TableModel::TableModel;
  void setRows(std::vector<PlanRow> rows);

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, PlanColumn column, int role) const override;

 private:
  std::vector<PlanRow> m_rows;
};

}  // namespace swage::ui
