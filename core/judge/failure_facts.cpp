// SPDX-License-Identifier: Apache-2.0
#include "core/judge/failure_facts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/domain/diagnostic.h"

namespace swage::judge {
namespace {

std::string firstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Where the first wrong elements lie: behind how much that is right, of the whole and of each row.
void addFirstWrong(const domain::Wrong& wrong, const domain::TensorType& type, Facts& facts) {
  const std::int64_t all = type.elementCount();
  const std::int64_t length = type.shape.empty() ? 1 : type.shape.back();
  std::set<std::int64_t> rows;
  std::int64_t inRow = length;
  for (const domain::WrongElement& one : wrong.first) {
    if (one.element < 0 || one.element >= all) {
      return;  // of a record that does not fit together
    }
    rows.insert(one.element / length);
    inRow = std::min(inRow, one.element % length);
  }
  if (!wrong.first.empty()) {
    facts.set("wrong.right_before", static_cast<double>(wrong.first.front().element) / static_cast<double>(all));
  }
  if (rows.size() > 1) {
    facts.set("wrong.right_of_rows", static_cast<double>(inRow) / static_cast<double>(length));
  }
}

void addWrong(const domain::Wrong& wrong, const domain::Program* program, Facts& facts) {
  facts.set("wrong.output", static_cast<double>(wrong.output));
  facts.set("wrong.expected", wrong.expected);
  facts.set("wrong.actual", wrong.actual);
  const double size = std::abs(wrong.expected);
  const double error = std::abs(wrong.actual - wrong.expected);
  facts.set("wrong.error", error);
  if (size > 0.0 && std::isfinite(error)) {
    facts.set("wrong.relative_error", error / size);
  }
  facts.set("wrong.is_zero", wrong.actual == 0.0 && wrong.expected != 0.0 ? 1.0 : 0.0);
  facts.set(
      "wrong." +
          [&wrong] {
            std::string rule = wrong.rule;
            std::replace(rule.begin(), rule.end(), ' ', '_');
            return rule;
          }(),
      1.0);
  facts.setWord("wrong.rule", wrong.rule);
  facts.setWord("failure.message", wrong.detail.empty() ? wrong.rule : firstLine(wrong.detail));
  if (wrong.element < 0 || program == nullptr || wrong.output < 0 ||
      static_cast<std::size_t>(wrong.output) >= program->plan.outputs.size()) {
    return;
  }
  const auto id = static_cast<std::size_t>(program->plan.outputs[static_cast<std::size_t>(wrong.output)].value());
  if (id < program->plan.buffers.size() && program->plan.buffers[id].elementCount() > 0) {
    const domain::TensorType& type = program->plan.buffers[id];
    facts.set("wrong.element", static_cast<double>(wrong.element));
    facts.set("wrong.elements", static_cast<double>(type.elementCount()));
    facts.setWord("wrong.place", domain::placeText(domain::placeOf(wrong.element, type.shape)));
    addFirstWrong(wrong, type, facts);
  }
}

}  // namespace

int addFailure(const domain::Evaluation& evaluation, const domain::Program* program, Facts& facts) {
  const auto set = [&facts](std::string_view how, const std::string& message) {
    facts.set(fmt::format("failed.{}", how), 1.0);
    facts.setWord("failure.message", firstLine(message));
  };
  if (const auto* failed = std::get_if<domain::CompileFailed>(&evaluation)) {
    const auto all = domain::diagnosticsOf(evaluation, {});
    const auto first = std::find_if(all.begin(), all.end(), [](const domain::Diagnostic& one) {
      return one.severity == domain::Diagnostic::Severity::Error;
    });
    set("compile", first == all.end() ? failed->log : first->message);
    facts.set("failed.compile_limit", failed->reason == domain::CompileFailureReason::Error ? 0.0 : 1.0);
    return first == all.end() ? 0 : first->line;
  }
  if (const auto* wrong = std::get_if<domain::Wrong>(&evaluation)) {
    facts.set("failed.wrong", 1.0);
    addWrong(*wrong, program, facts);
  } else if (const auto* launch = std::get_if<domain::LaunchFailed>(&evaluation)) {
    set("launch", launch->detail);
  } else if (const auto* crashed = std::get_if<domain::Crashed>(&evaluation)) {
    set("crash", crashed->detail);
    facts.set("failure.signal", static_cast<double>(crashed->signal));
  } else if (const auto* late = std::get_if<domain::TimedOut>(&evaluation)) {
    set("timeout", late->stage);
    facts.set("failure.limit_seconds", late->limitSeconds);
  } else if (const auto* rejected = std::get_if<domain::Rejected>(&evaluation)) {
    set("rejected", rejected->detail.empty() ? rejected->rule : rejected->detail);
  } else if (const auto* cheating = std::get_if<domain::Cheating>(&evaluation)) {
    set("cheating", cheating->rule);
  } else if (const auto* unstable = std::get_if<domain::Unstable>(&evaluation)) {
    set("unstable", unstable->detail);
  }
  return 0;
}

}  // namespace swage::judge
