// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/export/report.h"

// The pictures of a report as SVG and HTML. Their colours come from the style of the page. Pure.
namespace swage::exporting {

[[nodiscard]] std::string htmlEscaped(std::string_view text);

// Best speedup so far against search time; empty where there are no points.
[[nodiscard]] std::string progressChart(const RunReport& report);
// The 36 cells, rows for data movement, columns for arithmetic and decomposition.
[[nodiscard]] std::string cellMap(const RunReport& report);
// An interval between two ends that all rows share.
[[nodiscard]] std::string intervalBar(const domain::Speedup& speedup, double least, double most);
// How many candidates ended in which way.
[[nodiscard]] std::string failureBars(const RunReport& report);

}  // namespace swage::exporting
