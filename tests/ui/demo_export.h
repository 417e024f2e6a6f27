// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_export_service.h"

namespace swage::testing {

// A GPU kernel as it could stand before an export: right, faster, its compute-sanitizer run and its other process not
// yet asked for, and failing at other sizes. Files are those of tests/core/export/data.
void fillDemoExport(FakeExportService& exporter);
[[nodiscard]] std::vector<services::ExportGate> demoGates();
// The same after everything was asked for and passed.
[[nodiscard]] std::vector<services::ExportGate> demoPassedGates();
// The same when the fresh process found that it is wrong.
[[nodiscard]] std::vector<services::ExportGate> demoWrongGates();

}  // namespace swage::testing
