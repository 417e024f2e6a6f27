// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/found_pattern_model.h"

#include <array>

#include "ui/models/format.h"

namespace swage::ui {
namespace {

constexpr std::array kColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Found"), QT_TRANSLATE_NOOP("columns", "What it is called")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "From"), QT_TRANSLATE_NOOP("columns", "Where it comes from")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "In short"), QT_TRANSLATE_NOOP("columns", "What it is about")}};

}  // namespace

QString originTitle(domain::PatternOrigin origin) {
  switch (origin) {
    case domain::PatternOrigin::Catalogue: return QCoreApplication::translate("patterns", "Catalogue");
    case domain::PatternOrigin::Record: return QCoreApplication::translate("patterns", "Your runs");
    case domain::PatternOrigin::Triton: return QCoreApplication::translate("patterns", "Triton");
    case domain::PatternOrigin::Inductor: return QCoreApplication::translate("patterns", "PyTorch compiler");
    case domain::PatternOrigin::Cutlass: return QCoreApplication::translate("patterns", "CUTLASS");
    case domain::PatternOrigin::DataSheet: return QCoreApplication::translate("patterns", "Data sheet");
  }
  return {};
}

std::span<const ColumnInfo> FoundPatternModel::columns() const {
  return kColumns;
}

QVariant FoundPatternModel::cell(int row, FoundPatternColumn column, int role) const {
  const domain::PatternEntry& entry = item(row);
  if (role == Qt::ToolTipRole) {
    return toQString(entry.summary);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (column) {
    case FoundPatternColumn::Title: return toQString(entry.title);
    case FoundPatternColumn::Origin: return originTitle(entry.origin);
    case FoundPatternColumn::Summary: return toQString(entry.summary).simplified();
  }
  return {};
}

}  // namespace swage::ui
