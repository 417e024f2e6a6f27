// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/services/benchmark_service.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class BenchmarkColumn : std::uint8_t {
  Problem,
  Name,
  Speedup,
  Over,
  Fastest,
  Kernel,
  Accuracy,
  Error,
  Roof,
  Cell,
  Candidates,
  Seconds,
  Verdict,
  Remarks
};

// The problems of a benchmark. GUI thread only.
class BenchmarkModel final : public RowsModel<services::BenchmarkTask, BenchmarkColumn> {
  Q_OBJECT

 public:
  // What a column is sorted by: a number where it shows one, so that nothing measured comes last.
  enum Role : int { SortRole = Qt::UserRole + 1 };

  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, BenchmarkColumn column, int role) const override;
};

enum class BenchmarkSummaryColumn : std::uint8_t {
  Title,
  Tasks,
  Kernels,
  Mean,
  Median,
  Fast1,
  Fast15,
  Fast2,
  Accepted
};

// Means and shares of groups of problems. GUI thread only.
class BenchmarkSummaryModel final : public RowsModel<services::BenchmarkSummary, BenchmarkSummaryColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, BenchmarkSummaryColumn column, int role) const override;
};

// What is known of a problem beside its row, as HTML.
[[nodiscard]] QString benchmarkRemarks(const services::BenchmarkTask& task);

}  // namespace swage::ui
