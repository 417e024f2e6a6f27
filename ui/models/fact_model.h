// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

#include "core/services/types.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

struct Fact {
  QString name;
  QString value;
  friend bool operator==(const Fact&, const Fact&) = default;
};

// Everything the record knows about what happened to a candidate, in the order a person asks for it.
[[nodiscard]] std::vector<Fact> evaluationFacts(const services::CandidateDetail& detail);

enum class FactColumn : std::uint8_t { Name, Value };

// Names and values.
class FactModel final : public RowsModel<Fact, FactColumn> {
 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, FactColumn column, int role) const override;
};

}  // namespace swage::ui
