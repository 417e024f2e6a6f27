// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a judge says about a candidate: one thing to change, and what it goes by. Data, so that it can be stored, shown,
// given to a coder, and scored against what came of it.
namespace swage::domain {

enum class AdvicePass : std::uint8_t {
  Functional,   // the candidate is not right yet: one fix
  Optimisation  // it is right: one bottleneck and what to do about it
};

// One number that the advice goes by, as the profile or the compiler gave it.
struct AdviceEvidence {
  std::string name;  // of the counter or fact: "achieved occupancy"
  double value = 0.0;
  std::string unit;  // "%", "bytes", "registers"; empty: a plain number
  friend bool operator==(const AdviceEvidence&, const AdviceEvidence&) = default;
};

struct Advice {
  std::string rule;  // the rule's id, "uncoalesced_access"; of a model: its endpoint's name
  AdvicePass pass = AdvicePass::Optimisation;
  std::string bottleneck;                // one sentence: what costs the time, or what is wrong
  std::string method;                    // one sentence: what to change
  std::string plan;                      // how, step by step, for whoever writes the program; may be empty
  std::optional<double> expectedGain;    // time before over time after, 1 and more; no value: not known
  std::vector<AdviceEvidence> evidence;  // at most four
  std::string kernel;                    // its entry; empty: the whole candidate
  int line = 0;                          // of the source, 1-based; 0: not known
  friend bool operator==(const Advice&, const Advice&) = default;
};

}  // namespace swage::domain
