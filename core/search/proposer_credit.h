// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/domain/proposer_name.h"

namespace swage::search {

// What it took to make a candidate, or several.
struct Cost {
  double seconds = 0.0;
  double cents = 0.0;
  std::int64_t tokens = 0;  // of a language model

  [[nodiscard]] bool isNothing() const { return seconds <= 0.0 && cents <= 0.0 && tokens <= 0; }
  // Without what cannot be: others compute what they cost.
  [[nodiscard]] Cost sound() const;
  Cost& operator+=(const Cost& other);
  friend bool operator==(const Cost&, const Cost&) = default;
};

// What one proposer has earned, and at what price.
struct ProposerCredit {
  domain::ProposerName name = domain::OperatorKind::Synthesis;
  std::int64_t offered = 0;
  std::int64_t correct = 0;
  std::int64_t improved = 0;  // entered the archive
  double quality = 0.5;       // what it earned lately, 0 to 1
  double share = 0.0;         // of the turns, that it gets now; 0: it gets none
  Cost cost;                  // of making them
  double trialSeconds = 0.0;  // of compilers and workers with them

  // How often it improved the archive for each second that it and the machine spent; 0: nothing was spent.
  [[nodiscard]] double improvedPerSecond() const;
  // The same for each cent; 0: it cost nothing.
  [[nodiscard]] double improvedPerCent() const;
  // Of one offer, in seconds of its maker and of the machine, a cent being worth kSecondsPerCent; 0: nothing was spent.
  [[nodiscard]] double price() const;

  static constexpr double kSecondsPerCent = 36.0;  // a dollar for an hour of the machine
};

// Who gets how many turns, by what they have earned: the formula of OperatorCredits, by name, among those who take
// turns.
//   q <- q + a (r - q)        r = 1 when the candidate entered the archive, else 0; a = 0.1; q starts at 0.5
//   p  = f + (1 - K f) q / sum(q)     f = 0.05 for each of the K proposers, or half of an equal share if that is less
// where q is what it earned lately for what it costs: quality over the price of its offers, as a part of the mean price
// of those who take turns and have spent something, between 1 / kPriceRange and kPriceRange. So who earns as much for
// half the time or the money has twice the turns; the floor is what it takes to see a price change.
class ProposerCredits {
 public:
  static constexpr double kRate = 0.1;
  static constexpr double kFloor = 0.05;
  static constexpr double kPriceRange = 8.0;

  enum class Result : std::uint8_t { Failed, Correct, Improved };

  // From now on it takes turns, or no more. Whoever is only counted takes none.
  void join(const domain::ProposerName& name);
  void leave(const domain::ProposerName& name);
  void countOffered(const domain::ProposerName& name, const Cost& cost = {});
  void countEnded(const domain::ProposerName& name, Result result, double trialSeconds);
  // That an earlier sitting spent.
  void addCost(const domain::ProposerName& name, const Cost& cost);

  // Of the turns; 0 for who takes none.
  [[nodiscard]] double share(const domain::ProposerName& name) const;
  // That all of them spent, those who left included.
  [[nodiscard]] Cost spent() const;
  // In the order of their names.
  [[nodiscard]] std::vector<ProposerCredit> list() const;
  // Null: never heard of. Valid until the next change.
  [[nodiscard]] const ProposerCredit* find(const domain::ProposerName& name) const;

 private:
  struct Entry {
    ProposerCredit credit;
    bool takesTurns = false;
  };
  Entry& entry(const domain::ProposerName& name);
  [[nodiscard]] double meanPrice() const;

  std::map<domain::ProposerName, Entry> m_entries;
};

}  // namespace swage::search
