// SPDX-License-Identifier: Apache-2.0
#include "core/search/proposer_credit.h"

#include <algorithm>
#include <cmath>

namespace swage::search {

Cost Cost::sound() const {
  const auto amount = [](double value) { return std::isfinite(value) ? std::max(value, 0.0) : 0.0; };
  return {.seconds = amount(seconds), .cents = amount(cents), .tokens = std::max<std::int64_t>(tokens, 0)};
}

Cost& Cost::operator+=(const Cost& other) {
  seconds += other.seconds;
  cents += other.cents;
  tokens += other.tokens;
  return *this;
}

double ProposerCredit::improvedPerSecond() const {
  const double spent = cost.seconds + trialSeconds;
  return spent > 0.0 ? static_cast<double>(improved) / spent : 0.0;
}

double ProposerCredit::improvedPerCent() const {
  return cost.cents > 0.0 ? static_cast<double>(improved) / cost.cents : 0.0;
}

double ProposerCredit::price() const {
  const double spent = cost.seconds + trialSeconds + kSecondsPerCent * cost.cents;
  return offered > 0 ? spent / static_cast<double>(offered) : 0.0;
}

ProposerCredits::Entry& ProposerCredits::entry(const domain::ProposerName& name) {
  Entry& found = m_entries[name];
  found.credit.name = name;
  return found;
}

void ProposerCredits::join(const domain::ProposerName& name) {
  entry(name).takesTurns = true;
}

void ProposerCredits::leave(const domain::ProposerName& name) {
  entry(name).takesTurns = false;
}

void ProposerCredits::countOffered(const domain::ProposerName& name, const Cost& cost) {
  ProposerCredit& credit = entry(name).credit;
  ++credit.offered;
  credit.cost += cost;
}

void ProposerCredits::countEnded(const domain::ProposerName& name, Result result, double trialSeconds) {
  ProposerCredit& credit = entry(name).credit;
  credit.correct += result != Result::Failed ? 1 : 0;
  credit.improved += result == Result::Improved ? 1 : 0;
  credit.quality += kRate * ((result == Result::Improved ? 1.0 : 0.0) - credit.quality);
  credit.trialSeconds += trialSeconds;
}

void ProposerCredits::addCost(const domain::ProposerName& name, const Cost& cost) {
  entry(name).credit.cost += cost;
}

double ProposerCredits::share(const domain::ProposerName& name) const {
  const auto asked = m_entries.find(name);
  if (asked == m_entries.end() || !asked->second.takesTurns) {
    return 0.0;
  }
  const double mean = meanPrice();
  const auto earned = [mean](const ProposerCredit& credit) {
    const double price = mean > 0.0 && credit.price() > 0.0 ? credit.price() / mean : 1.0;
    return credit.quality / std::clamp(price, 1.0 / kPriceRange, kPriceRange);
  };
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [other, found] : m_entries) {
    sum += found.takesTurns ? earned(found.credit) : 0.0;
    count += found.takesTurns ? 1.0 : 0.0;
  }
  const double floor = std::min(kFloor, 0.5 / count);
  // Qualities only decay towards 0, so the sum stays positive but may underflow in an endless run of failures.
  const double part = sum > 1e-9 ? earned(asked->second.credit) / sum : 1.0 / count;
  return floor + (1.0 - count * floor) * part;
}

double ProposerCredits::meanPrice() const {
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [name, found] : m_entries) {
    if (const double price = found.credit.price(); found.takesTurns && price > 0.0) {
      sum += price;
      count += 1.0;
    }
  }
  return count > 0.0 ? sum / count : 0.0;
}

Cost ProposerCredits::spent() const {
  Cost cost;
  for (const auto& [name, found] : m_entries) {
    cost += found.credit.cost;
  }
  return cost;
}

std::vector<ProposerCredit> ProposerCredits::list() const {
  std::vector<ProposerCredit> credits;
  credits.reserve(m_entries.size());
  for (const auto& [name, found] : m_entries) {
    credits.push_back(found.credit);
    credits.back().share = share(name);
  }
  return credits;
}

const ProposerCredit* ProposerCredits::find(const domain::ProposerName& name) const {
  const auto found = m_entries.find(name);
  return found == m_entries.end() ? nullptr : &found->second.credit;
}

}  // namespace swage::search
