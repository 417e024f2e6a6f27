// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/random.h"
#include "core/domain/candidate.h"

namespace swage::search {

// The credit that an operator, or whoever else made a candidate, has earned.
struct OperatorCredit {
  domain::ProposerName name = domain::OperatorKind::Synthesis;
  int proposed = 0;
  int correct = 0;
  int improved = 0;      // entered the archive
  double weight = 0.0;   // share of proposals it gets now
  double quality = 0.5;  // q: what it earned lately, 0 to 1
};

// How often each operator is used, by what it has earned. The structural operators share by probability matching
// with a floor (Thierens, "An adaptive pursuit strategy for allocating operator probabilities", GECCO 2005, eq. 1-2):
//   q <- q + a (r - q)        r = 1 when the candidate entered the archive, else 0; a = 0.1; q starts at 0.5
//   p  = f + (1 - K f) q / sum(q)     f = 0.05 for each of the K operators, so that none dies
// Matching rather than pursuit or a bandit, because what helps changes during a run: splitting pays early, swapping
// late, and an operator must be able to come back. Local search and aimed changes have the fixed shares of the options.
class OperatorCredits {
 public:
  static constexpr std::array kStructural = {domain::OperatorKind::Synthesis, domain::OperatorKind::Split,
                                             domain::OperatorKind::Merge, domain::OperatorKind::PatternSwap,
                                             domain::OperatorKind::Crossover};
  // Beside those, where something of the graph can be rewritten.
  enum class Rewrites : std::uint8_t { None, Some };
  static constexpr double kRate = 0.1;
  static constexpr double kFloor = 0.05;

  enum class Result : std::uint8_t { Failed, Correct, Improved };
  // Seeds are handed out, not chosen: their luck says nothing about synthesising more.
  enum class Learn : std::uint8_t { Yes, No };

  explicit OperatorCredits(Rewrites rewrites = Rewrites::None);

  void countProposed(const domain::ProposerName& madeBy);
  void countResult(const domain::ProposerName& madeBy, Result result, Learn learn);

  // Share among the structural operators; 0 for anybody else.
  [[nodiscard]] double share(const domain::ProposerName& madeBy) const;
  [[nodiscard]] domain::OperatorKind choose(Random& random) const;
  [[nodiscard]] const std::vector<domain::OperatorKind>& structural() const { return m_structural; }
  [[nodiscard]] int proposed(const domain::ProposerName& madeBy) const;
  // All operators that were used or can be, in the order of the enumeration, and behind them the others who made
  // something, with the weights that the given shares of local search and aimed changes leave.
  [[nodiscard]] std::vector<OperatorCredit> list(double localShare, double aimedShare) const;

 private:
  OperatorCredit& entry(const domain::ProposerName& madeBy);

  std::vector<domain::OperatorKind> m_structural;
  std::map<domain::ProposerName, OperatorCredit> m_entries;
};

}  // namespace swage::search
