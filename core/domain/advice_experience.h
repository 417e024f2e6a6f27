// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace swage::domain {

// What became of the advice of one rule, over all that followed it.
struct AdviceExperience {
  std::string rule;
  std::string role;           // of the pairs that followed it
  std::int64_t followed = 0;  // candidates that were made of it
  std::int64_t paid = 0;      // of them, that were faster than what they were made of, or right where that was not
  double rewards = 0.0;       // 0 to 1 each: how far they were ahead of all before them
  double logGain = 0.0;       // natural logarithms of the gains of those that paid, added up
  friend bool operator==(const AdviceExperience&, const AdviceExperience&) = default;
};

}  // namespace swage::domain
