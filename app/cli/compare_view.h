// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "core/domain/json.h"
#include "core/domain/speedup.h"
#include "core/services/types.h"
#include "core/store/record.h"

// Two candidates beside each other. Pure.
namespace swage::cli {

struct ComparedSide {
  std::filesystem::path project;
  store::RunRow run;
  services::CandidateDetail detail;
};

// How much faster the second is than the first.
struct SpeedComparison {
  domain::Speedup ratio;  // of B over A; not known where one of them has no time
  std::string how;        // "each against eager, interleaved", "times as measured"
  std::string obstacle;   // why there is no ratio; empty: there is one
  // Whether the intervals are apart.
  [[nodiscard]] bool isSignificant() const { return ratio.isKnown() && (ratio.low > 1.0 || ratio.high < 1.0); }
};
[[nodiscard]] SpeedComparison compareSpeed(const ComparedSide& a, const ComparedSide& b);

// One thing that both are or have, as text.
struct ComparedFact {
  std::string name;
  std::string a;
  std::string b;
};
[[nodiscard]] std::vector<ComparedFact> compareFacts(const ComparedSide& a, const ComparedSide& b);
// Of each region what differs: its pattern, its parameters. Empty: the genomes are equal.
[[nodiscard]] std::vector<ComparedFact> compareParameters(const domain::Genome& a, const domain::Genome& b);
// A line for each step, as in a diff: " ", "-" or "+" before it. Empty: the plans are equal.
[[nodiscard]] std::vector<std::string> comparePlans(const domain::LaunchPlan& a, const domain::LaunchPlan& b);

struct ComparisonDiffs {
  std::optional<std::string> source;
  std::optional<std::string> assembly;
};
[[nodiscard]] ComparisonDiffs diffsOf(const ComparedSide& a, const ComparedSide& b, bool source, bool assembly);

[[nodiscard]] std::string comparisonText(const ComparedSide& a, const ComparedSide& b, const ComparisonDiffs& diffs);
[[nodiscard]] domain::Json comparisonJson(const ComparedSide& a, const ComparedSide& b, const ComparisonDiffs& diffs);

}  // namespace swage::cli
