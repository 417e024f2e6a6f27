// SPDX-License-Identifier: Apache-2.0
#include "core/judge/judge.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace swage::judge {
namespace {

using domain::Advice;
using domain::AdvicePass;

constexpr double kWorthSaying = 1.02;  // of the gain; as in stats::diagnose

bool speaksOf(const Rule& rule, const Case& what, AdvicePass pass) {
  return rule.pass == pass && (!rule.device || (what.device != nullptr && *rule.device == what.device->kind));
}

bool holds(const Rule& rule, const Facts& facts) {
  if (!std::all_of(rule.when.begin(), rule.when.end(), [&](const auto& condition) { return condition.holds(facts); })) {
    return false;
  }
  const std::string* message = facts.word("failure.message");
  return rule.says.empty() ||
         (message != nullptr && std::any_of(rule.says.begin(), rule.says.end(),
                                            [&](const auto& one) { return message->find(one) != std::string::npos; }));
}

std::optional<Advice> adviceOf(const Rule& rule, const Facts& facts) {
  if (!holds(rule, facts)) {
    return std::nullopt;
  }
  auto bottleneck = facts.fill(rule.bottleneck);
  auto method = facts.fill(rule.method);
  auto plan = facts.fill(rule.plan);
  if (!bottleneck || !method || !plan) {
    return std::nullopt;
  }
  Advice advice{.rule = rule.id,
                .pass = rule.pass,
                .bottleneck = std::move(*bottleneck),
                .method = std::move(*method),
                .plan = std::move(*plan),
                .expectedGain = rule.gain ? rule.gain->value(facts) : std::nullopt,
                .evidence = {},
                .kernel = {},
                .line = 0};
  if (advice.expectedGain && *advice.expectedGain < kWorthSaying) {
    return std::nullopt;
  }
  for (const RuleEvidence& one : rule.evidence) {
    if (const auto value = facts.number(one.fact)) {
      advice.evidence.push_back({one.title, one.unit == "%" ? *value * 100.0 : *value, one.unit});
    }
  }
  return advice;
}

std::optional<Advice> ofKernels(const Rule& rule, const std::vector<KernelCase>& kernels) {
  std::optional<Advice> best;
  for (const KernelCase& kernel : kernels) {
    auto advice = adviceOf(rule, kernel.facts);
    if (advice && (!best || advice->expectedGain.value_or(0.0) > best->expectedGain.value_or(0.0))) {
      advice->kernel = kernel.entry;
      advice->line = kernel.line;
      best = std::move(advice);
    }
  }
  return best;
}

}  // namespace

std::vector<Advice> judge(const RuleBook& rules, const Case& what) {
  std::vector<Advice> found;
  if (what.evaluation == nullptr || std::holds_alternative<domain::Duplicate>(*what.evaluation)) {
    return found;
  }
  const bool isCorrect = domain::asCorrect(*what.evaluation) != nullptr;
  const AdvicePass pass = isCorrect ? AdvicePass::Optimisation : AdvicePass::Functional;
  const CaseFacts facts = factsOf(what);
  for (const Rule& rule : rules.all()) {
    if (!speaksOf(rule, what, pass)) {
      continue;
    }
    auto advice = rule.isOfKernel() ? ofKernels(rule, facts.kernels) : adviceOf(rule, facts.candidate);
    if (advice) {
      advice->line = advice->line > 0 ? advice->line : facts.line;
      found.push_back(std::move(*advice));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    return a.expectedGain.value_or(0.0) > b.expectedGain.value_or(0.0);
  });
  return found;
}

}  // namespace swage::judge
