// SPDX-License-Identifier: Apache-2.0
#include "core/run/learned_advice.h"

#include <cmath>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/run/advice_event.h"
#include "core/store/knowledge.h"

namespace swage::run {

using services::Notice;

Result<std::vector<domain::AdviceExperience>> experienceOf(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  std::map<std::pair<std::string, judge::Role>, domain::AdviceExperience> sums;
  for (const domain::RunEvent& event : events) {
    if (event.kind != domain::EventKind::AdviceScore) {
      continue;
    }
    SWAGE_TRY_ASSIGN(const judge::ScoredAdvice scored, parseScoredAdvice(event.json));
    domain::AdviceExperience& one = sums[{scored.rule, scored.role}];
    one.rule = scored.rule;
    one.role = judge::name(scored.role);
    ++one.followed;
    one.rewards += scored.reward;
    if (judge::hasPaid(scored)) {
      ++one.paid;
      one.logGain += std::log(scored.achievedGain);
    }
  }
  std::vector<domain::AdviceExperience> found;
  for (auto& [key, one] : sums) {
    found.push_back(std::move(one));
  }
  return found;
}

std::string learnedName(const std::filesystem::path& project, domain::RunId run) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(project, failed);
  return fmt::format("{}#r{}", failed ? project.string() : whole.string(), run.value());
}

Result<> keepExperience(const std::filesystem::path& file, const store::Record& record, domain::RunId run,
                        const std::filesystem::path& project, const domain::DeviceInfo& device) {
  SWAGE_TRY_ASSIGN(std::vector<domain::AdviceExperience> advice, experienceOf(record, run));
  if (advice.empty()) {
    return {};
  }
  SWAGE_TRY_ASSIGN(store::Knowledge knowledge, store::Knowledge::open(file));
  return knowledge.keep({.name = learnedName(project, run),
                         .device = device.name,
                         .architecture = device.architecture,
                         .advice = std::move(advice)});
}

Result<std::int64_t> takeUpExperience(const std::filesystem::path& file, const std::string& except,
                                      const domain::DeviceInfo& device, judge::Swarm& swarm) {
  std::error_code failed;
  if (!std::filesystem::exists(file, failed)) {
    return std::int64_t{0};
  }
  SWAGE_TRY_ASSIGN(const store::Knowledge knowledge, store::Knowledge::openToRead(file));
  SWAGE_TRY_ASSIGN(const std::vector<domain::AdviceExperience> earlier,
                   knowledge.about(device.name, device.architecture, except));
  swarm.learn(earlier);
  std::int64_t followed = 0;
  for (const domain::AdviceExperience& one : earlier) {
    followed += one.followed;
  }
  return followed;
}

std::optional<services::Notice> beginWithExperience(const RunContext& context, judge::Swarm& swarm) {
  if (context.parts.knowledge.empty()) {
    return std::nullopt;
  }
  const Result<std::int64_t> followed =
      takeUpExperience(context.parts.knowledge, learnedName(context.spec.project, context.run), context.device, swarm);
  if (!followed) {
    return Notice{.severity = Notice::Severity::Warning,
                  .text = "the results of advice in earlier runs cannot be used: " + followed.error().message(),
                  .hint = followed.error().hint()};
  }
  if (*followed == 0) {
    return std::nullopt;
  }
  return Notice{.severity = Notice::Severity::Info,
                .text = fmt::format(
                    "pairs start from the results of {} pieces of advice in earlier runs on such a device", *followed),
                .hint = {}};
}

std::optional<services::Notice> leaveExperience(const RunContext& context) {
  if (context.parts.knowledge.empty()) {
    return std::nullopt;
  }
  const Result<> kept =
      keepExperience(context.parts.knowledge, *context.record, context.run, context.spec.project, context.device);
  if (kept) {
    return std::nullopt;
  }
  return Notice{.severity = Notice::Severity::Warning,
                .text = "the results of this run's advice cannot be saved: " + kept.error().message(),
                .hint = kept.error().hint()};
}

}  // namespace swage::run
