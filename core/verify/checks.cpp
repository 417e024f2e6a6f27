// SPDX-License-Identifier: Apache-2.0
#include "core/verify/checks.h"

#include <array>

namespace swage::verify {
namespace {

// Far from the seeds of the task's own checks, and from those of the engine's later requests (wire::LoadTask).
constexpr std::uint64_t kHardSeeds = 400;
constexpr std::uint64_t kHeldBackSeeds = 500;

constexpr std::array kHard = {
    InputClass::Weights,    InputClass::Masks,     InputClass::Uneven,   InputClass::Offset,
    InputClass::Large,      InputClass::Small,     InputClass::Equal,    InputClass::Ties,
    InputClass::Rows,       InputClass::MixedSign, InputClass::Negative, InputClass::Wide,
    InputClass::Cancelling, InputClass::Denormal,  InputClass::Nan,      InputClass::Infinite};

}  // namespace

std::string_view name(InputClass inputs) {
  static constexpr std::array<std::string_view, kInputClasses> kNames{
      "task",        "other weights",  "common offset", "cancelling", "large",      "small",
      "equal",       "denormal",       "mixed sign",    "negative",   "wide",       "uneven",
      "other masks", "zeros and ties", "scaled rows",   "NaN",        "infinities", "held back"};
  return kNames[static_cast<std::size_t>(inputs)];
}

bool isHard(InputClass inputs) {
  return inputs != InputClass::Task && inputs != InputClass::HeldBack;
}

bool isSpecial(InputClass inputs) {
  return inputs == InputClass::Nan || inputs == InputClass::Infinite;
}

bool isForCpusOnly(InputClass inputs) {
  return inputs == InputClass::Ties || inputs == InputClass::Rows || isSpecial(inputs);
}

std::vector<Check> planChecks(const wire::LoadTask& request) {
  std::vector<Check> checks;
  checks.reserve(static_cast<std::size_t>(request.checkSeeds) + kHard.size());
  for (int seed = 0; seed < request.checkSeeds; ++seed) {
    checks.push_back({InputClass::Task, request.baseSeed + static_cast<std::uint64_t>(seed)});
  }
  if (request.adversarial) {
    for (std::size_t i = 0; i < kHard.size(); ++i) {
      checks.push_back({kHard[i], request.baseSeed + kHardSeeds + i});
    }
  }
  for (int seed = 0; seed < request.heldBackSeeds; ++seed) {
    checks.push_back({InputClass::HeldBack, request.baseSeed + kHeldBackSeeds + static_cast<std::uint64_t>(seed)});
  }
  return checks;
}

}  // namespace swage::verify
