// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/domain/evaluation.h"

// What became of a run and of a candidate, as the record keeps it and everybody shows it.
namespace swage::domain {

enum class RunStatus : std::uint8_t { Running, Paused, Finished, Interrupted, Failed };
// The word that is stored, and that `--json` has.
[[nodiscard]] std::string_view name(RunStatus status);
// In a person's words: an interrupted run was stopped.
[[nodiscard]] std::string_view title(RunStatus status);
[[nodiscard]] std::optional<RunStatus> parseRunStatus(std::string_view text);
// Finished, Interrupted or Failed.
[[nodiscard]] bool hasEnded(RunStatus status);

// The first two have no evaluation: it is still to come, or the run ended before. The others stand in the order of the
// alternatives of Evaluation.
enum class CandidateStatus : std::uint8_t {
  Pending,
  NotEvaluated,
  Duplicate,
  Rejected,
  CompileFailed,
  LaunchFailed,
  Wrong,
  Crashed,
  TimedOut,
  Cheating,
  Unstable,
  Correct,
};
// The word that is stored, shown, and understood by filters.
[[nodiscard]] std::string_view name(CandidateStatus status);
[[nodiscard]] std::optional<CandidateStatus> parseCandidateStatus(std::string_view text);
[[nodiscard]] CandidateStatus statusOf(const Evaluation& evaluation);
// It was evaluated, whatever came out.
[[nodiscard]] bool isEvaluated(CandidateStatus status);
// It was evaluated and is of no use: neither correct nor the same as another one.
[[nodiscard]] bool hasFailed(CandidateStatus status);

}  // namespace swage::domain
