// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_worker/later_verdicts.h"

#include <utility>

namespace swage::fake {
namespace {

constexpr double kWaveringNs = 1.5e3;  // of the fastest
constexpr double kLastWrongNs = 60e3;  // what is faster fails the last checks

}  // namespace

void LaterVerdicts::change(Behaviour behaviour, const wire::Evaluate& asked, domain::Evaluation& evaluation) {
  auto* const correct = std::get_if<domain::Correct>(&evaluation);
  if (correct == nullptr || (behaviour != Behaviour::Waver && behaviour != Behaviour::FailLastChecks)) {
    return;
  }
  const double ns = correct->timing.candidate.medianNs;
  const bool wavers = behaviour == Behaviour::Waver;
  if (wavers) {
    correct->timing.screenedOut = asked.screeningNs > 0.0 && ns > 1.05 * asked.screeningNs;
  }
  if (ns < (wavers ? kWaveringNs : kLastWrongNs) && !m_known.insert(ns).second) {
    domain::Wrong wrong;
    wrong.rule = "error";
    evaluation = std::move(wrong);
  }
}

}  // namespace swage::fake
