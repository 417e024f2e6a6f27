// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/domain/task.h"
#include "core/export/provenance.h"
#include "core/services/export_service.h"
#include "core/store/record.h"

// What the record knows of a candidate that is about to be exported.
namespace swage::engine {

struct ExportEvidence {
  store::CandidateRecord candidate;
  store::RunRow run;
  domain::Task task;
  exporting::Provenance provenance;  // without an evaluation where the candidate is not correct
};
[[nodiscard]] Result<ExportEvidence> readExportEvidence(const store::Record& record, domain::CandidateId candidate);

// Each kind once, in the order of the enumeration. Pure.
[[nodiscard]] std::vector<services::ExportGate> exportGates(const ExportEvidence& evidence);
[[nodiscard]] services::ExportFacts exportFacts(const ExportEvidence& evidence);

// The gates alone, without reading what only the head of an exported file needs: the binary and the ancestors.
[[nodiscard]] Result<std::vector<services::ExportGate>> recordedGates(const store::Record& record,
                                                                      domain::CandidateId candidate);

}  // namespace swage::engine
