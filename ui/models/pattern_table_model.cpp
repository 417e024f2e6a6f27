// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/pattern_table_model.h"

#include <QStringList>

#include <array>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;

constexpr std::array kPatternColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Pattern"),
               QT_TRANSLATE_NOOP("columns", "Name of the pattern, and of its folder")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Language"),
               QT_TRANSLATE_NOOP("columns", "Language its kernels are written in")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Family"),
               QT_TRANSLATE_NOOP("columns", "Which kind of operators it computes")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Parameters"),
               QT_TRANSLATE_NOOP("columns", "Number of parameters that the search can change"), kRight}};

constexpr std::array kParameterColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Parameter"), QT_TRANSLATE_NOOP("columns", "Name in the source")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Values"), QT_TRANSLATE_NOOP("columns", "Values that the search tries")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Default"), QT_TRANSLATE_NOOP("columns", "Value in the source"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Meaning"), QT_TRANSLATE_NOOP("columns", "What it does")}};

QString searchText(const services::PatternInfo& pattern) {
  QStringList words = {toQString(pattern.id), toQString(pattern.language), toQString(pattern.family),
                       toQString(pattern.description)};
  for (const services::PatternParameter& parameter : pattern.parameters) {
    words << toQString(parameter.name) << toQString(parameter.description);
  }
  for (const auto& [key, value] : pattern.facts) {
    words << toQString(key) << toQString(value);
  }
  return words.join(u' ');
}

QString valuesText(const std::vector<std::int64_t>& values) {
  QStringList texts;
  for (const std::int64_t value : values) {
    texts << QString::number(value);
  }
  return texts.join(u"  "_s);
}

}  // namespace

std::span<const ColumnInfo> PatternTableModel::columns() const {
  return kPatternColumns;
}

QVariant PatternTableModel::cell(int row, PatternColumn column, int role) const {
  const services::PatternInfo& pattern = item(row);
  if (role == SearchRole) {
    return searchText(pattern);
  }
  if (role == Qt::ToolTipRole) {
    return toQString(pattern.description);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (column) {
    case PatternColumn::Id: return toQString(pattern.id);
    case PatternColumn::Language: return toQString(pattern.language);
    case PatternColumn::Family: return toQString(pattern.family);
    case PatternColumn::Parameters: return static_cast<int>(pattern.parameters.size());
  }
  return {};
}

std::span<const ColumnInfo> ParameterTableModel::columns() const {
  return kParameterColumns;
}

QVariant ParameterTableModel::cell(int row, ParameterColumn column, int role) const {
  const services::PatternParameter& parameter = item(row);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
    return {};
  }
  switch (column) {
    case ParameterColumn::Name: return toQString(parameter.name);
    case ParameterColumn::Values: return valuesText(parameter.values);
    case ParameterColumn::Standard: return QString::number(parameter.standard);
    case ParameterColumn::Meaning: return toQString(parameter.description);
  }
  return {};
}

}  // namespace swage::ui
