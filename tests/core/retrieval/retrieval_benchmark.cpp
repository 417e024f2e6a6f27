// SPDX-License-Identifier: Apache-2.0
// Prints how well the labelled questions are answered, and how long a question takes over 20 000 pieces:
// swage-retrieval-benchmark [PIECES]
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "core/retrieval/learning.h"
#include "tests/core/retrieval/questions.h"
#include "tests/support/temp_dir.h"

namespace swage::testing {
namespace {

// Of this thread: what other programs take does not count.
double processorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void printTimes(std::string_view what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::cout << fmt::format("{}: median {:.2f} ms, 95% {:.2f} ms, slowest {:.2f} ms ({} questions)\n", what,
                           times[times.size() / 2], times[times.size() * 95 / 100], times.back(), times.size());
}

void run(int pieces) {
  const TempDir folder;
  auto index = store::PatternIndex::open(folder / "patterns.sqlite").value();
  std::vector<retrieval::Unit> units = ownUnits();
  std::vector<retrieval::Unit> inductor = inductorUnits();
  std::move(inductor.begin(), inductor.end(), std::back_inserter(units));
  auto begin = std::chrono::steady_clock::now();
  static_cast<void>(retrieval::refresh(index, units).value());
  const double indexing = secondsSince(begin);
  std::string missed;
  const auto questions = labelledQuestions();
  {
    const auto finder = retrieval::Finder::over(index).value();
    std::cout << fmt::format("indexed {} pieces in {:.2f} s\n", finder.size(), indexing);
    std::cout << fmt::format("recall at 5 over all of them: {:.3f}\n{}", recallAtFive(finder, questions, missed),
                             missed);
  }
  auto more = madeUpUnits(std::max(0, pieces - static_cast<int>(retrieval::Finder::over(index).value().size())));
  std::move(more.begin(), more.end(), std::back_inserter(units));
  begin = std::chrono::steady_clock::now();
  static_cast<void>(retrieval::refresh(index, units).value());
  const double growing = secondsSince(begin);
  begin = std::chrono::steady_clock::now();
  const auto finder = retrieval::Finder::over(index).value();
  std::cout << fmt::format("with {} pieces: indexed in {:.1f} s, opened in {:.3f} s\n", finder.size(), growing,
                           secondsSince(begin));
  std::vector<double> times;
  std::vector<double> processor;
  for (int round = 0; round < 5; ++round) {
    for (const LabelledQuestion& question : questions) {
      const double before = processorSeconds();
      begin = std::chrono::steady_clock::now();
      static_cast<void>(finder.find({.text = question.text}).value());
      times.push_back(1e3 * secondsSince(begin));
      processor.push_back(1e3 * (processorSeconds() - before));
    }
  }
  printTimes("a question", times);
  printTimes("of the processor", processor);
}

}  // namespace
}  // namespace swage::testing

int main(int argc, char** argv) {
  constexpr int kPieces = 20000;
  swage::testing::run(argc > 1 ? std::atoi(argv[1]) : kPieces);
}
