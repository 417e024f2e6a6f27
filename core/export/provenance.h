// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/domain/assurance.h"
#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/json.h"
#include "core/domain/speedup.h"
#include "core/domain/task.h"

namespace swage::exporting {

// Where an exported kernel comes from and what is known of it; written into the files and used for nothing else.
struct Provenance {
  domain::RunId run;
  domain::CandidateId candidate;
  std::uint64_t seed = 0;
  std::string swageVersion;
  std::string compiler;  // that made the machine code, in its own words; empty: not known
  std::string cell;      // "A1 B0 C1"
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  std::vector<domain::CandidateId> parents;
  std::vector<domain::CandidateId> ancestors;  // beyond the parents, near ones first; may be cut off
  std::optional<domain::Genome> genome;
  domain::Correct evaluation;
  domain::Speedup speedup;   // against the fastest baseline; not known of PyTorch's own operators
  std::string baselineMode;  // the fastest baseline that counts; empty: none
  std::vector<domain::Baseline> baselines;
  std::vector<domain::Assurance> assurances;
  std::vector<std::string> doubts;  // why a speedup on this task may say little
  std::string sandbox{};            // "none" where kernels of the run were compiled without one; else empty
};

// A label and a value for a person, as in the head of an exported file. A label may come more than once.
using ProvenanceLine = std::pair<std::string, std::string>;
[[nodiscard]] std::vector<ProvenanceLine> provenanceLines(const Provenance& from, const domain::Task& task,
                                                          const domain::DeviceInfo& device);
// All of it, for programs.
[[nodiscard]] domain::Json provenanceJson(const Provenance& from, const domain::Task& task,
                                          const domain::DeviceInfo& device);

[[nodiscard]] std::string timeText(double nanoseconds);              // "27.4 us"
[[nodiscard]] std::string timingText(const domain::Timing& timing);  // "27.4 us (27.1 to 27.9)"
// The candidate against eager, where that is not the fastest baseline. Not known where it is, and where it was not
// measured in turns.
[[nodiscard]] domain::Speedup speedupOverEager(const Provenance& from);
// "1.25x (1.21 to 1.29) against the fastest baseline (compile), 1.50x (1.46 to 1.54) against eager". Empty where
// neither is known, and of PyTorch's own operators, which stand for that baseline.
[[nodiscard]] std::string speedupLine(const Provenance& from);
[[nodiscard]] std::string describe(const domain::Assurance& assurance);  // "other shapes failed: ..."
[[nodiscard]] std::string describeDoubt(const std::string& doubt);       // "correctness checks are weak: ..."
// The largest error of all outputs: "relative L2 1.2e-07 (eager 1.3e-07)"; empty without outputs.
[[nodiscard]] std::string errorText(const std::vector<domain::OutputError>& errors);

}  // namespace swage::exporting
