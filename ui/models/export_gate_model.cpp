// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/export_gate_model.h"

#include <array>

#include "ui/models/export_text.h"

namespace swage::ui {
namespace {

using services::ExportGate;

constexpr std::array kColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "State"), QT_TRANSLATE_NOOP("columns", "Result of the check")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Check"), QT_TRANSLATE_NOOP("columns", "What is checked")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Found"), QT_TRANSLATE_NOOP("columns", "The figure, as it is recorded")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "For the export"),
               QT_TRANSLATE_NOOP("columns", "What the result means for the exported file")}};

}  // namespace

GateTone toneOf(const ExportGate& gate) {
  switch (gate.state) {
    case ExportGate::State::Passed: return GateTone::Good;
    case ExportGate::State::Failed: return GateTone::Bad;
    case ExportGate::State::NotRun: return GateTone::Caution;
    case ExportGate::State::NotApplicable:
    case ExportGate::State::Running: break;
  }
  return GateTone::Neutral;
}

std::span<const ColumnInfo> ExportGateModel::columns() const {
  return kColumns;
}

QVariant ExportGateModel::cell(int row, GateColumn column, int role) const {
  const ExportGate& gate = item(row);
  if (role == kGateToneRole) {
    return static_cast<int>(toneOf(gate));
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
    return {};
  }
  const GateText text = describeGate(gate);
  switch (column) {
    case GateColumn::State: return text.state;
    case GateColumn::Gate: return text.name;
    case GateColumn::Found: return text.found;
    case GateColumn::Meaning: return text.meaning;
  }
  return {};
}

}  // namespace swage::ui
