// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/services/doctor_service.h"
#include "core/services/self_test_service.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

// How good a row is, for the delegate that colours its first column.
enum class CheckTone : std::uint8_t { Good, Caution, Bad };
inline constexpr int kToneRole = Qt::UserRole + 1;

enum class DoctorColumn : std::uint8_t { Status, Name, Found, Fix };

// What the doctor found, in its order. GUI thread only.
class DoctorModel final : public RowsModel<services::DoctorCheck, DoctorColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;
  // The report as a person pastes it into a message.
  [[nodiscard]] QString text() const;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, DoctorColumn column, int role) const override;
};

enum class SelfTestColumn : std::uint8_t { Verdict, Name, Family, Expected, Got };

// The planted candidates of the self-test, as they end.
class SelfTestModel final : public RowsModel<services::SelfTestCase, SelfTestColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, SelfTestColumn column, int role) const override;
};

}  // namespace swage::ui
