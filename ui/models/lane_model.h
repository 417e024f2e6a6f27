// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/services/activity.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class LaneColumn : std::uint8_t { Name, Doing, Since, Busy, Done, Replaced, LastEnd };

// What each worker and each compiler of a run is doing. GUI thread only.
class LaneModel final : public RowsModel<services::LaneStatus, LaneColumn> {
  Q_OBJECT

 public:
  enum Role : int {
    BusyShareRole = Qt::UserRole + 1,  // 0 to 1; invalid: not known
    LostRole,                          // bool
  };

  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, LaneColumn column, int role) const override;

 private:
  [[nodiscard]] static QString text(const services::LaneStatus& lane, LaneColumn column);
};

}  // namespace swage::ui
