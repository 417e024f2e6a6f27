// SPDX-License-Identifier: Apache-2.0
#include "core/domain/record/status.h"

#include <array>
#include <variant>

namespace swage::domain {
namespace {

constexpr std::array kRunStatuses = {RunStatus::Running, RunStatus::Paused, RunStatus::Finished, RunStatus::Interrupted,
                                     RunStatus::Failed};
constexpr auto kFirstEvaluated = static_cast<std::size_t>(CandidateStatus::Duplicate);
constexpr auto kStatusCount = static_cast<std::size_t>(CandidateStatus::Correct) + 1;
static_assert(kStatusCount == kFirstEvaluated + std::variant_size_v<Evaluation>);

}  // namespace

std::string_view name(RunStatus status) {
  switch (status) {
    case RunStatus::Running: return "running";
    case RunStatus::Paused: return "paused";
    case RunStatus::Finished: return "finished";
    case RunStatus::Interrupted: return "interrupted";
    case RunStatus::Failed: return "failed";
  }
  return "unknown";
}

std::string_view title(RunStatus status) {
  return status == RunStatus::Interrupted ? "stopped" : name(status);
}

std::optional<RunStatus> parseRunStatus(std::string_view text) {
  for (const RunStatus status : kRunStatuses) {
    if (name(status) == text) {
      return status;
    }
  }
  return std::nullopt;
}

bool hasEnded(RunStatus status) {
  return status != RunStatus::Running && status != RunStatus::Paused;
}

std::string_view name(CandidateStatus status) {
  switch (status) {
    case CandidateStatus::Pending: return "pending";
    case CandidateStatus::NotEvaluated: return "not evaluated";
    default: return statusNames()[static_cast<std::size_t>(status) - kFirstEvaluated];
  }
}

std::optional<CandidateStatus> parseCandidateStatus(std::string_view text) {
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    if (const auto status = static_cast<CandidateStatus>(i); name(status) == text) {
      return status;
    }
  }
  return std::nullopt;
}

CandidateStatus statusOf(const Evaluation& evaluation) {
  return static_cast<CandidateStatus>(kFirstEvaluated + evaluation.index());
}

bool isEvaluated(CandidateStatus status) {
  return status != CandidateStatus::Pending && status != CandidateStatus::NotEvaluated;
}

bool hasFailed(CandidateStatus status) {
  return isEvaluated(status) && status != CandidateStatus::Correct && status != CandidateStatus::Duplicate;
}

}  // namespace swage::domain
