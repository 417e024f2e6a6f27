// SPDX-License-Identifier: Apache-2.0
#include "core/run/candidate_outcome.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::run {

std::optional<domain::Evaluation> evaluationOf(const Error& why) {
  switch (why.kind()) {
    case ErrorKind::InvalidInput: return domain::Rejected{.rule = "genome", .detail = why.message()};
    case ErrorKind::Internal:
      return domain::CompileFailed{.reason = domain::CompileFailureReason::Crash, .log = why.message()};
    default: return std::nullopt;
  }
}

std::optional<domain::Evaluation> refusalOf(const domain::Program& program, domain::DeviceKind device) {
  if (const domain::LanguageFacts& facts = domain::factsOf(program.language); facts.device != device) {
    return domain::Rejected{.rule = "program",
                            .detail = fmt::format("it is in {}, for {}, and the device is {}", facts.displayName,
                                                  domain::name(facts.device), domain::name(device))};
  }
  if (!program.plan.hasKernels() && !program.plan.isCaptured) {
    return domain::Rejected{.rule = "program", .detail = "it launches no kernel of its own"};
  }
  return std::nullopt;
}

std::optional<domain::Evaluation> unkeepableOf(const domain::Program& program, bool isSwagesOwn) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20U;  // as the compiler has it
  constexpr std::size_t kMostSteps = 10'000;
  if (program.source.size() > kMostBytes || program.plan.steps.size() > kMostSteps) {
    return domain::Rejected{.rule = "program", .detail = "it is too large"};
  }
  if (std::string defect = domain::findDefect(program.plan); !defect.empty()) {
    return domain::Rejected{.rule = "launch plan", .detail = std::move(defect)};
  }
  if (!isSwagesOwn) {
    const Result<domain::Json> kept = domain::parseJson(domain::dumpJson(domain::toJson(program.plan)));
    const Result<domain::LaunchPlan> read =
        kept ? domain::launchPlanFromJson(*kept) : Result<domain::LaunchPlan>(kept.error());
    if (!read) {
      return domain::Rejected{.rule = "launch plan", .detail = read.error().message()};
    }
  }
  return std::nullopt;
}

search::Outcome outcomeOf(const store::CandidateRecord& candidate, const domain::Evaluation& evaluation) {
  search::Outcome outcome;
  outcome.candidate = candidate.id;
  // PyTorch's own operators do not compete.
  outcome.cell = candidate.madeBy == domain::OperatorKind::Baseline ? std::nullopt : candidate.cell;
  if (std::holds_alternative<domain::Duplicate>(evaluation)) {
    outcome.kind = search::Outcome::Kind::Duplicate;
  } else if (const domain::Correct* correct = domain::asCorrect(evaluation)) {
    outcome.kind = correct->timing.screenedOut ? search::Outcome::Kind::ScreenedOut : search::Outcome::Kind::Correct;
    outcome.timeNs = correct->timing.candidate.medianNs;
    outcome.overEager = correct->timing.screenedOut ? domain::Speedup::exactly(correct->timing.speedup)
                                                    : domain::againstEager(correct->timing);
  }
  return outcome;
}

}  // namespace swage::run
