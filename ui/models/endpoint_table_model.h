// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QString>

#include "core/services/endpoint_service.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class EndpointColumn : std::uint8_t { Name, Kind, Model, Address, Key };

// The user's language models, with a box for those that take part in searches. GUI thread only.
class EndpointTableModel final : public RowsModel<services::EndpointSettings, EndpointColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;

  // By name; of models that are not there any more, too.
  void setUsed(const QSet<QString>& names);
  [[nodiscard]] const QSet<QString>& used() const { return m_used; }

  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 Q_SIGNALS:
  void usedChanged();  // by the user

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, EndpointColumn column, int role) const override;

 private:
  QSet<QString> m_used;
};

// Where the key is: "variable FAST_KEY"; never the key.
[[nodiscard]] QString keyText(const services::EndpointSettings& endpoint);

}  // namespace swage::ui
