// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/services/export_service.h"
#include "core/store/record.h"

namespace swage::engine {

// What an export of a candidate would write, from the record and the task bundle that its run names. InvalidInput when
// a gate keeps it from being exported.
[[nodiscard]] Result<services::ExportFiles> makeExportFiles(const store::Record& record, domain::CandidateId candidate,
                                                            services::ExportFormat format);

// Writes them: one file to `target`, or several into the folder `target`, which is made. With Keep, InvalidInput when
// that file is there, or that folder with anything in it. A folder that it made itself is taken away again when not all
// of it could be written.
[[nodiscard]] Result<> writeExportFiles(const services::ExportFiles& files, const std::filesystem::path& target,
                                        services::ExistingFiles existing);

}  // namespace swage::engine
