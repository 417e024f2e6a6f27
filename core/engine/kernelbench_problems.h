// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

// The problems of a checkout of KernelBench: <checkout>/KernelBench/level<N>/<number>_<name>.py.
namespace swage::engine {

struct KernelBenchProblem {
  int level = 0;
  int number = 0;
  std::string name;  // the file's, without its suffix
  std::filesystem::path file;
};

// Which numbers of a level are wanted.
struct ProblemChoice {
  enum class Kind : std::uint8_t { All, Odd, Even, Listed } kind = Kind::All;
  std::set<int> numbers;  // of Listed
  [[nodiscard]] bool wants(int number) const;
  friend bool operator==(const ProblemChoice&, const ProblemChoice&) = default;
};

// "odd", "even", "all" or "1,5,7". Errors are of kind Usage.
[[nodiscard]] Result<ProblemChoice> parseProblemChoice(std::string_view text);
// "1,2,3", each at least 1 and named once. Errors are of kind Usage.
[[nodiscard]] Result<std::vector<int>> parseLevels(std::string_view text);

// By level in the order given, then by number. Errors: NotFound where a level has no folder, nothing is chosen, or a
// problem that was named is in none of the levels.
[[nodiscard]] Result<std::vector<KernelBenchProblem>> findKernelBenchProblems(const std::filesystem::path& checkout,
                                                                              const std::vector<int>& levels,
                                                                              const ProblemChoice& choice);

}  // namespace swage::engine
