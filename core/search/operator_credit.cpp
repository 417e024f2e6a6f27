// SPDX-License-Identifier: Apache-2.0
#include "core/search/operator_credit.h"

#include <algorithm>

#include "core/search/weighted_choice.h"

namespace swage::search {

using domain::OperatorKind;

OperatorCredits::OperatorCredits(Rewrites rewrites) : m_structural(kStructural.begin(), kStructural.end()) {
  if (rewrites == Rewrites::Some) {
    m_structural.push_back(OperatorKind::Rewrite);
  }
  for (const OperatorKind kind : m_structural) {
    entry(kind);
  }
  entry(OperatorKind::Parameter);
  entry(OperatorKind::Aimed);
}

OperatorCredit& OperatorCredits::entry(const domain::ProposerName& madeBy) {
  OperatorCredit& found = m_entries[madeBy];
  found.name = madeBy;
  return found;
}

void OperatorCredits::countProposed(const domain::ProposerName& madeBy) {
  ++entry(madeBy).proposed;
}

void OperatorCredits::countResult(const domain::ProposerName& madeBy, Result result, Learn learn) {
  OperatorCredit& found = entry(madeBy);
  found.correct += result != Result::Failed ? 1 : 0;
  found.improved += result == Result::Improved ? 1 : 0;
  if (learn == Learn::Yes) {
    const double reward = result == Result::Improved ? 1.0 : 0.0;
    found.quality += kRate * (reward - found.quality);
  }
}

double OperatorCredits::share(const domain::ProposerName& madeBy) const {
  const auto kind = madeBy.kind();
  if (!kind || std::find(m_structural.begin(), m_structural.end(), *kind) == m_structural.end()) {
    return 0.0;
  }
  double sum = 0.0;
  for (const OperatorKind other : m_structural) {
    sum += m_entries.at(other).quality;
  }
  const double free = 1.0 - kFloor * static_cast<double>(m_structural.size());
  // Qualities only decay towards 0, so the sum stays positive but may underflow in an endless run of failures.
  const double part = sum > 1e-9 ? m_entries.at(madeBy).quality / sum : 1.0 / static_cast<double>(m_structural.size());
  return kFloor + free * part;
}

OperatorKind OperatorCredits::choose(Random& random) const {
  std::vector<double> weights(m_structural.size());
  std::transform(m_structural.begin(), m_structural.end(), weights.begin(), [this](auto kind) { return share(kind); });
  return m_structural[pickWeighted(weights, random)];
}

int OperatorCredits::proposed(const domain::ProposerName& madeBy) const {
  const auto found = m_entries.find(madeBy);
  return found == m_entries.end() ? 0 : found->second.proposed;
}

std::vector<OperatorCredit> OperatorCredits::list(double localShare, double aimedShare) const {
  std::vector<OperatorCredit> credits;
  for (const auto& [madeBy, found] : m_entries) {
    credits.push_back(found);
    if (madeBy == OperatorKind::Parameter) {
      credits.back().weight = localShare;
    } else if (madeBy == OperatorKind::Aimed) {
      credits.back().weight = (1.0 - localShare) * aimedShare;
    } else {
      credits.back().weight = (1.0 - localShare) * (1.0 - aimedShare) * share(madeBy);
    }
  }
  return credits;
}

}  // namespace swage::search
