// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/assurance.h"
#include "core/domain/json.h"
#include "core/domain/task.h"
#include "core/services/doctor_service.h"
#include "core/services/export_service.h"
#include "core/services/self_test_service.h"
#include "core/services/types.h"

// What services return, as JSON and as text for a person. Pure.
namespace swage::cli {

[[nodiscard]] domain::Json toJson(const services::RunSummary& run);
[[nodiscard]] domain::Json toJson(const services::CandidateRow& row);
[[nodiscard]] domain::Json toJson(const services::CandidateDetail& detail);
[[nodiscard]] domain::Json toJson(const services::Progress& progress);
[[nodiscard]] domain::Json toJson(const services::Notice& notice);
[[nodiscard]] domain::Json toJson(const services::DoctorCheck& check);
[[nodiscard]] domain::Json toJson(const services::ExportGate& gate);
[[nodiscard]] domain::Json toJson(const services::SelfTestCase& one);
[[nodiscard]] domain::Json toJson(const services::SelfTestReport& report);
[[nodiscard]] domain::Json taskSummary(const domain::Task& task, const std::string& bundle);

[[nodiscard]] std::string runTable(const std::vector<services::RunSummary>& runs);
[[nodiscard]] std::string candidateTable(const std::vector<services::CandidateRow>& rows);
[[nodiscard]] std::string candidateText(const services::CandidateDetail& detail);
// What else was checked of a candidate, and the doubts about its task; empty when there is nothing.
[[nodiscard]] std::string trustText(const std::vector<domain::Assurance>& assurances,
                                    const std::vector<std::string>& doubts);
[[nodiscard]] std::string taskText(const domain::Task& task, const std::string& bundle);
[[nodiscard]] std::string doctorText(const std::vector<services::DoctorCheck>& checks);
// What speaks for and against an export, where it comes from, and what it consists of.
[[nodiscard]] std::string gateTable(const std::vector<services::ExportGate>& gates);
[[nodiscard]] std::string provenanceText(const std::vector<services::ExportFact>& provenance);
[[nodiscard]] std::string fileTable(const std::vector<services::ExportFile>& files);
// The table of a self-test, line by line as its cases end.
[[nodiscard]] std::string selfTestHeading();
[[nodiscard]] std::string selfTestLine(const services::SelfTestCase& one);
[[nodiscard]] std::string selfTestSummary(const services::SelfTestReport& report);
// With the parameters that the source has: of an edited one the record has those of its parent.
[[nodiscard]] std::optional<domain::Genome> saidGenome(const services::CandidateDetail& detail);
[[nodiscard]] std::string describeCell(const domain::Cell& cell);

}  // namespace swage::cli
