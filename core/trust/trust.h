// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/assurance.h"
#include "core/domain/evaluation.h"
#include "core/store/record.h"

// What is known of a candidate and of its task beyond the evaluation, and how it is kept in the record.
namespace swage::trust {

inline constexpr int kHeldBackSeeds = 3;

// What an evaluation says about the held-back seeds; no value where it did not get to them. A candidate that was not
// checked with them, because screening dropped it, never becomes an elite.
[[nodiscard]] std::optional<domain::Assurance> heldBackAssurance(const domain::Evaluation& evaluation);

// One event of the run for each doubt the worker has about the task.
[[nodiscard]] Result<> addDoubts(store::Record& record, domain::RunId run, const std::vector<std::string>& doubts);
[[nodiscard]] Result<std::vector<std::string>> doubtsOf(const store::Record& record, domain::RunId run);

// One event of the run where its compilers have no sandbox from now on; `sandbox` is that of process::Programs.
[[nodiscard]] Result<> addSandbox(store::Record& record, domain::RunId run, std::string_view sandbox);
// process::kNoSandbox where kernels of the run were compiled without one; else empty.
[[nodiscard]] Result<std::string> sandboxOf(const store::Record& record, domain::RunId run);

// Whether a sitting of the run went without the self-test of its device (--no-self-test).
[[nodiscard]] Result<bool> skippedSelfTest(const store::Record& record, domain::RunId run);

// Adds to a project that nobody writes; Locked while a run is on.
[[nodiscard]] Result<> recordAssurance(const std::filesystem::path& project, domain::CandidateId candidate,
                                       const domain::Assurance& assurance);

}  // namespace swage::trust
