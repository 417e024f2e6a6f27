// SPDX-License-Identifier: Apache-2.0
#include "core/engine/kernelbench_problems.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace swage::engine {
namespace {

namespace fs = std::filesystem;

std::optional<int> numberIn(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole && number >= 1 ? std::optional<int>(number) : std::nullopt;
}

Result<std::vector<int>> numbersIn(std::string_view text, std::string_view what, std::string_view hint) {
  std::vector<int> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::optional<int> number = numberIn(text.substr(0, comma));
    if (!number) {
      return Error(ErrorKind::Usage, fmt::format("'{}' is no {}", text.substr(0, comma), what), std::string(hint));
    }
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end()) {
      numbers.push_back(*number);
    }
    if (comma == std::string_view::npos) {
      return numbers;
    }
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<KernelBenchProblem>> problemsOf(const fs::path& checkout, int level) {
  const fs::path folder = checkout / "KernelBench" / fmt::format("level{}", level);
  std::error_code error;
  std::vector<KernelBenchProblem> problems;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    const std::optional<int> number = numberIn(std::string_view(name).substr(0, name.find('_')));
    if (entry.path().extension() == ".py" && number) {
      problems.push_back({level, *number, name, fs::absolute(entry.path())});
    }
  }
  if (error) {
    return Error(ErrorKind::NotFound, fmt::format("cannot read '{}': {}", folder.string(), error.message()),
                 "--checkout names the folder of a checkout of KernelBench, which has KernelBench/level1");
  }
  std::sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return problems;
}

}  // namespace

bool ProblemChoice::wants(int number) const {
  switch (kind) {
    case Kind::All: return true;
    case Kind::Odd: return number % 2 == 1;
    case Kind::Even: return number % 2 == 0;
    case Kind::Listed: return numbers.contains(number);
  }
  return false;
}

Result<ProblemChoice> parseProblemChoice(std::string_view text) {
  using Kind = ProblemChoice::Kind;
  for (const auto& [word, kind] : {std::pair("all", Kind::All), {"odd", Kind::Odd}, {"even", Kind::Even}}) {
    if (text == word) {
      return ProblemChoice{kind, {}};
    }
  }
  SWAGE_TRY_ASSIGN(const std::vector<int> numbers,
                   numbersIn(text, "number of a problem", "write odd, even, all, or numbers such as 1,5,7"));
  return ProblemChoice{Kind::Listed, {numbers.begin(), numbers.end()}};
}

Result<std::vector<int>> parseLevels(std::string_view text) {
  return numbersIn(text, "level", "write levels such as 1,2,3");
}

Result<std::vector<KernelBenchProblem>> findKernelBenchProblems(const fs::path& checkout,
                                                                const std::vector<int>& levels,
                                                                const ProblemChoice& choice) {
  std::vector<KernelBenchProblem> chosen;
  std::set<int> missing = choice.numbers;
  for (const int level : levels) {
    SWAGE_TRY_ASSIGN(const std::vector<KernelBenchProblem> problems, problemsOf(checkout, level));
    for (const KernelBenchProblem& problem : problems) {
      if (choice.wants(problem.number)) {
        chosen.push_back(problem);
        missing.erase(problem.number);
      }
    }
  }
  if (!missing.empty()) {
    return Error(ErrorKind::NotFound, fmt::format("no level has a problem {}", fmt::join(missing, ", ")));
  }
  if (chosen.empty()) {
    return Error(ErrorKind::NotFound, fmt::format("'{}' has none of these problems", checkout.string()));
  }
  return chosen;
}

}  // namespace swage::engine
