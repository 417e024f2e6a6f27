// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/endpoint_table_model.h"

#include <array>

#include "ui/models/format.h"

namespace swage::ui {
namespace {

using services::EndpointSettings;

constexpr std::array<ColumnInfo, 5> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Name"), QT_TRANSLATE_NOOP("columns", "Ticked: it takes part in searches")},
    {QT_TRANSLATE_NOOP("columns", "Format"), QT_TRANSLATE_NOOP("columns", "That the endpoint speaks")},
    {QT_TRANSLATE_NOOP("columns", "Model"), QT_TRANSLATE_NOOP("columns", "As the endpoint calls it")},
    {QT_TRANSLATE_NOOP("columns", "Address"), QT_TRANSLATE_NOOP("columns", "Of the endpoint")},
    {QT_TRANSLATE_NOOP("columns", "Key"),
     QT_TRANSLATE_NOOP("columns", "Where it comes from; it is never shown or kept")},
}};

}  // namespace

QString keyText(const EndpointSettings& endpoint) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("endpoints", text); };
  const QString where = toQString(endpoint.keyWhere);
  switch (endpoint.key) {
    case EndpointSettings::Key::Environment: return tr("variable %1").arg(where);
    case EndpointSettings::Key::Command: return tr("a command");
    case EndpointSettings::Key::File: return tr("file %1").arg(where);
    case EndpointSettings::Key::Keychain: return tr("keychain, %1").arg(where);
    case EndpointSettings::Key::None: break;
  }
  return tr("none");
}

std::span<const ColumnInfo> EndpointTableModel::columns() const {
  return kColumns;
}

void EndpointTableModel::setUsed(const QSet<QString>& names) {
  m_used = names;
  if (rowCount() > 0) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::CheckStateRole});
  }
}

Qt::ItemFlags EndpointTableModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = RowsModel::flags(index);
  return index.column() == static_cast<int>(EndpointColumn::Name) ? flags | Qt::ItemIsUserCheckable : flags;
}

bool EndpointTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || index.column() != static_cast<int>(EndpointColumn::Name)) {
    return false;
  }
  const QString name = toQString(item(index.row()).name);
  if (value.toInt() == Qt::Checked) {
    m_used.insert(name);
  } else {
    m_used.remove(name);
  }
  Q_EMIT dataChanged(index, index, {role});
  Q_EMIT usedChanged();
  return true;
}

QVariant EndpointTableModel::cell(int row, EndpointColumn column, int role) const {
  const EndpointSettings& endpoint = item(row);
  if (role == Qt::CheckStateRole && column == EndpointColumn::Name) {
    return m_used.contains(toQString(endpoint.name)) ? Qt::Checked : Qt::Unchecked;
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
    return {};
  }
  switch (column) {
    case EndpointColumn::Name: return toQString(endpoint.name);
    case EndpointColumn::Kind: return toQString(endpoint.kind);
    case EndpointColumn::Model: return toQString(endpoint.model);
    case EndpointColumn::Address: return toQString(endpoint.baseUrl);
    case EndpointColumn::Key: return keyText(endpoint);
  }
  return {};
}

}  // namespace swage::ui
