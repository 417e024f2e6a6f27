// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace swage::exporting::testing {

// Compares with a file of tests/core/export/data. SWAGE_UPDATE_GOLDEN=1 writes the file anew; the difference is then
// for a person to read.
void expectGolden(const std::string& name, const std::string& text);

}  // namespace swage::exporting::testing
