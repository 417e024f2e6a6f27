// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The Python parts of an exported file (core/export/templates/*.py.in), as text with @TOKENS@.
namespace swage::exporting {

[[nodiscard]] std::string_view moduleTemplate();
[[nodiscard]] std::string_view cpuTemplate();
[[nodiscard]] std::string_view cudaTemplate();

}  // namespace swage::exporting
