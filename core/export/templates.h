// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What exported files are made of (core/export/templates/*.in), as text with @TOKENS@.
namespace swage::exporting {

[[nodiscard]] std::string_view moduleTemplate();
[[nodiscard]] std::string_view pytorchTemplate();  // where PyTorch's own way wins
[[nodiscard]] std::string_view cpuTemplate();
[[nodiscard]] std::string_view cudaTemplate();
[[nodiscard]] std::string_view cudaMapsTemplate();   // part of the former for plans with tensor maps
[[nodiscard]] std::string_view helpersTemplate();    // functions of which a file has those that it calls
[[nodiscard]] std::string_view testTemplate();       // of a project's test script
[[nodiscard]] std::string_view benchmarkTemplate();  // a project's script that times; no tokens
[[nodiscard]] std::string_view readmeTemplate();     // of a project's README.md
[[nodiscard]] std::string_view reportTemplate();     // of a run's report in HTML

}  // namespace swage::exporting
