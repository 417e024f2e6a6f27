// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/export/report.h"

namespace swage::engine {

// What the record has of a run, for its report. Opens the project read-only, also beside a search that writes it.
[[nodiscard]] Result<exporting::RunReport> readRunReport(const std::filesystem::path& project, domain::RunId run);

}  // namespace swage::engine
