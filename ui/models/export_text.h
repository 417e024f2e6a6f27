// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "core/domain/assurance.h"
#include "core/services/export_service.h"

// How an export and what is known of its candidate read. Pure functions.
namespace swage::ui {

struct FormatText {
  QString name;
  QString purpose;
};
[[nodiscard]] FormatText describeFormat(services::ExportFormat format);

struct GateText {
  QString state;    // "passed"
  QString name;     // "Held-out shapes"
  QString found;    // the figure
  QString meaning;  // for the export
};
[[nodiscard]] GateText describeGate(const services::ExportGate& gate);
// The gate that a check belongs to.
[[nodiscard]] services::ExportGate::Kind gateOf(domain::AssuranceKind check);
// What an exported file's head calls it, for the window: "task id".
[[nodiscard]] QString provenanceLabel(const std::string& label);

}  // namespace swage::ui
