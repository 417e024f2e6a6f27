// SPDX-License-Identifier: Apache-2.0
#include "core/domain/assurance.h"

#include <array>

namespace swage::domain {
namespace {

constexpr std::array kKinds{AssuranceKind::HeldBackSeeds, AssuranceKind::Memcheck,      AssuranceKind::Racecheck,
                            AssuranceKind::Initcheck,     AssuranceKind::HeldOutShapes, AssuranceKind::FreshProcess};
constexpr std::array kVerdicts{AssuranceVerdict::Passed, AssuranceVerdict::Failed, AssuranceVerdict::Unavailable};

template <class Values>
auto parse(const Values& values, std::string_view text) -> std::optional<typename Values::value_type> {
  for (const auto value : values) {
    if (name(value) == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(AssuranceKind kind) {
  switch (kind) {
    case AssuranceKind::HeldBackSeeds: return "held-back seeds";
    case AssuranceKind::Memcheck: return "memcheck";
    case AssuranceKind::Racecheck: return "racecheck";
    case AssuranceKind::Initcheck: return "initcheck";
    case AssuranceKind::HeldOutShapes: return "held-out shapes";
    case AssuranceKind::FreshProcess: return "fresh process";
  }
  return "unknown";
}

std::string_view title(AssuranceKind kind) {
  switch (kind) {
    case AssuranceKind::HeldBackSeeds: return "unseen seeds";
    case AssuranceKind::HeldOutShapes: return "other shapes";
    default: return name(kind);
  }
}

std::optional<AssuranceKind> parseAssuranceKind(std::string_view text) {
  return parse(kKinds, text);
}

std::string_view name(AssuranceVerdict verdict) {
  switch (verdict) {
    case AssuranceVerdict::Passed: return "passed";
    case AssuranceVerdict::Failed: return "failed";
    case AssuranceVerdict::Unavailable: return "unavailable";
  }
  return "unknown";
}

std::optional<AssuranceVerdict> parseAssuranceVerdict(std::string_view text) {
  return parse(kVerdicts, text);
}

}  // namespace swage::domain
