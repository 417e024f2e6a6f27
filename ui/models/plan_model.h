// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

#include "core/domain/launch_plan.h"
#include "ui/models/rows_model.h"

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
class PlanModel final : public RowsModel<PlanRow, PlanColumn> {
 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, PlanColumn column, int role) const override;
};

}  // namespace swage::ui
