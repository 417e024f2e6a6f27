// SPDX-License-Identifier: Apache-2.0
#include "core/domain/evaluation.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/core/domain/samples.h"

namespace swage::domain {
namespace {

TEST(Evaluation, HasOneLineForEachOutcome) {
  std::vector<std::string> lines;
  for (const Evaluation& evaluation : testing::sampleEvaluations()) {
    lines.push_back(summary(evaluation));
  }
  EXPECT_THAT(lines,
              ::testing::ElementsAre(
                  "duplicate: same source as candidate 3", "rejected: forbidden call: it calls system()",
                  "compile error: the compiler ran out of memory", "launch error: row_block_0: too many resources",
                  "wrong: output 0, element 17: expected 0.25, got nan (nan)", "crashed: signal 11: illegal address",
                  "timed out: verify took more than 20 s", "cheating: reads outside: red zone", "unstable: bimodal",
                  "correct: 1.00 us (990 ns to 1.01 us), tf32"));
}

TEST(Evaluation, ShowsTheFirstErrorOfACompilersLog) {
  const CompileFailed failed{CompileFailureReason::Error, "note: x\nk.cu(3): error: expected ';'\n1 error\n"};
  EXPECT_EQ(summary(failed), "compile error: k.cu(3): error: expected ';'");
}

TEST(Evaluation, StaysOneShortLineWhateverTheDetail) {
  std::string detail = "\n\n";
  for (int i = 0; i < 300; ++i) {
    detail += "\xC3\xA4";
  }
  const std::string line = summary(Unstable{detail + "\nmore"});
  EXPECT_LT(line.size(), 300U);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.back(), '\xA4') << "cut inside a character";
}

TEST(Evaluation, SaysThatASlowOrUntimedCandidateIsCorrect) {
  Correct correct = testing::correctIn(2.5e6);
  correct.timing.screenedOut = true;
  EXPECT_EQ(summary(correct), "correct: 2.500 ms, too slow for a full measurement, tf32");
  correct.timing.candidate.samples = 0;
  EXPECT_EQ(summary(correct), "correct: not timed, tf32");
}

TEST(Evaluation, WholeOutputsCanBeWrong) {
  EXPECT_EQ(summary(Wrong{1, -1, 0, 0, "shape", "it has 3 dimensions, not 2", {}}),
            "wrong: output 1: it has 3 dimensions, not 2 (shape)");
}

TEST(Evaluation, TheFirstWrongElementsAreLinesWithTheirPlaces) {
  EXPECT_EQ(placeOf(17, {4, 7}), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(placeOf(0, {}), std::vector<std::int64_t>());
  Wrong wrong;
  EXPECT_TRUE(firstWrongLines(wrong).empty());
  wrong.first = {{17, {2, 3}, 0.25, 1e-9}, {18, {}, 1.0, std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(firstWrongLines(wrong),
            (std::vector<std::string>{"[2, 3]: expected 0.25, got 1e-09", "[]: expected 1, got inf"}));
}

TEST(Evaluation, WordsOfTheRecordHaveTitlesForPeople) {
  EXPECT_EQ(inputsTitle(kHeldBackInputs), "unseen seeds");
  EXPECT_EQ(inputsTitle("large"), "large");
  EXPECT_EQ(stopTitle("time budget"), "stopped by time limit");
  EXPECT_EQ(stopTitle("something new"), "");
}

TEST(Evaluation, OnlyCorrectOnesAreCorrect) {
  for (const Evaluation& evaluation : testing::sampleEvaluations()) {
    EXPECT_EQ(asCorrect(evaluation) != nullptr, statusName(evaluation) == "correct");
  }
}

}  // namespace
}  // namespace swage::domain
