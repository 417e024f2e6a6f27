// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "core/services/profile_service.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class KernelColumn : std::uint8_t { Name, Launches, Time, Share, Limit, Bound, Occupancy, Registers, Spills };

// One kernel of the launch plan as the profile has it, or what the plan does outside of its kernels.
struct KernelShare {
  QString name;
  int launches = 0;
  double totalNs = 0.0;  // 0: not measured
  double share = 0.0;    // of the candidate's time
  QString bound;
  std::optional<double> achievedOccupancy;
  double theoreticalOccupancy = 0.0;
  int registers = 0;
  int spillBytes = 0;
  int index = -1;  // into the profile's kernels; -1: none of them

  // How many times faster the candidate would be if this took no time (G. Amdahl, 1967).
  [[nodiscard]] double speedupLimit() const { return share < 1.0 ? 1.0 / (1.0 - share) : 0.0; }
};

[[nodiscard]] std::vector<KernelShare> kernelShares(const services::ProfileReport& report);

// All kernels of a launch plan, and what their share of the time is worth.
class KernelShareModel final : public RowsModel<KernelShare, KernelColumn> {
 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, KernelColumn column, int role) const override;
};

}  // namespace swage::ui
