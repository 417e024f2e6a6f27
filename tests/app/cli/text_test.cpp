// SPDX-License-Identifier: Apache-2.0
#include "app/cli/text.h"

#include <gmock/gmock.h>

#include "app/cli/views.h"
#include "tests/support/result_matchers.h"

namespace swage::cli {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

TEST(RecordReference, TellsRunsFromCandidates) {
  EXPECT_EQ(parseReference("17")->kind, RecordReference::Kind::Candidate);
  EXPECT_EQ(parseReference("c17")->number, 17);
  EXPECT_EQ(parseReference("r3")->kind, RecordReference::Kind::Run);
  for (const char* text : {"", "r", "x3", "3r", "-1", "99999999999999999999"}) {
    EXPECT_THAT(parseReference(text), IsError(ErrorKind::Usage, HasSubstr("neither"))) << text;
  }
}

TEST(Format, PicksTheUnitOfATime) {
  EXPECT_EQ(formatTime(0), "-");
  EXPECT_EQ(formatTime(812), "812 ns");
  EXPECT_EQ(formatTime(1234), "1.23 µs");
  EXPECT_EQ(formatTime(1.31e6), "1.31 ms");
  EXPECT_EQ(formatTime(2.5e9), "2.5 s");
}

TEST(Format, PicksTheUnitOfASize) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(999), "999 B");
  EXPECT_EQ(formatBytes(4096), "4.10 kB");
  EXPECT_EQ(formatBytes(1'310'000), "1.31 MB");
  EXPECT_EQ(formatBytes(2'500'000'000), "2.50 GB");
}

TEST(Format, WritesSecondsAsAClock) {
  EXPECT_EQ(formatSeconds(42.4), "42 s");
  EXPECT_EQ(formatSeconds(65), "1:05");
  EXPECT_EQ(formatSeconds(3723), "1:02:03");
  EXPECT_EQ(formatSeconds(-1), "0 s");
}

TEST(Format, MarksSpeedupsWithAWideInterval) {
  EXPECT_EQ(formatSpeedupInterval({1.52, 1.44, 1.6}), "1.52x (1.44 to 1.60)");
  EXPECT_EQ(formatSpeedupInterval({1.52, 0.9, 2.4}), "~1.52x (0.90 to 2.40)");
  EXPECT_EQ(formatSpeedup(domain::Speedup::exactly(1.0)), "1.00x");
  EXPECT_EQ(formatSpeedupInterval({}), "-");
}

TEST(Format, AlignsColumnsByCharactersNotBytes) {
  EXPECT_EQ(formatTable({{"time", "name"}, {"1 µs", "a"}, {"", "b"}}), "time  name\n1 µs  a\n      b\n");
}

TEST(Format, AlignsNumbersToTheRight) {
  EXPECT_EQ(
      formatTable({{"name", "time", "speedup"}, {"a", "1.31 ms", "2.00x"}, {"b", "12 µs", "~10.00x"}, {"c", "-", "-"}}),
      "name     time  speedup\na     1.31 ms    2.00x\nb       12 µs  ~10.00x\nc           -        -\n");
  EXPECT_EQ(formatTable({{"id"}, {"1"}, {"r10"}}), "id\n1\nr10\n") << "words among them: no column of numbers";
}

TEST(Format, CountsThings) {
  EXPECT_EQ(counted(1, "cell"), "1 cell");
  EXPECT_EQ(counted(0, "cell"), "0 cells");
  EXPECT_EQ(formatInterval(1.31e6, 1.28e6, 1.35e6), "1.31 ms (1.28 ms to 1.35 ms)");
  EXPECT_EQ(formatInterval(0, 0, 0), "-");
}

TEST(GateTable, SaysTheSpeedupAgainstTheFastestBaselineBeforeThatAgainstEager) {
  services::ExportGate gate{.kind = services::ExportGate::Kind::Faster, .state = services::ExportGate::State::Failed};
  gate.timing.emplace();
  gate.checks = 120;
  gate.speedup = {1.01, 0.98, 1.04};
  gate.baselineMode = "compile";
  gate.overEager = {2.31, 2.27, 2.34};
  gate.detail = "fastest baseline: compile, 41.2 us";
  const std::string text = gateTable({gate});
  EXPECT_THAT(text, ::testing::StartsWith("check "));
  EXPECT_THAT(text,
              HasSubstr("  1.01x (0.98 to 1.04) against the fastest baseline; 2.31x (2.27 to 2.34) against eager; "
                        "fastest baseline: compile, 41.2 us\n"));
  EXPECT_EQ(toJson(gate)["speedup"], domain::toJson(gate.speedup));
  EXPECT_EQ(toJson(gate)["baseline"], "compile");
  EXPECT_FALSE(toJson(services::ExportGate()).contains("speedup"));
}

TEST(CandidateText, HasTheErrorsOnEachKindOfInputsBesideEagers) {
  services::CandidateDetail detail;
  domain::Correct correct;
  correct.byInputs = {
      {"task", 5, {{0, 1e-7, 2e-6, 3e-7, 4e-6}}}, {"held back", 3, {{0, 1e-7, 2e-6, 3e-7, 4e-6}}}, {"large", 1, {}}};
  detail.evaluation = correct;
  const std::string text = candidateText(detail);
  EXPECT_THAT(text, HasSubstr("  inputs         checks output  relative  (eager)   largest   (eager) \n"
                              "  task                5      0  1.00e-07  3.00e-07  2.00e-06  4.00e-06\n"
                              "  unseen seeds        3      0  1.00e-07  3.00e-07  2.00e-06  4.00e-06\n"
                              "  large               1  only NaN could be judged: PyTorch itself fails there\n"));
}

TEST(CandidateText, HasTheFirstWrongElements) {
  services::CandidateDetail detail;
  detail.evaluation = domain::Wrong{0, 17, 1.5, 3.0, "error", {}, {}, {{16, {2, 2}, 1.0, 0.0}, {17, {2, 3}, 1.5, 3.0}}};
  EXPECT_THAT(candidateText(detail), HasSubstr("wrong       [2, 2]: expected 1, got 0\n"
                                               "wrong       [2, 3]: expected 1.5, got 3\n"));
  EXPECT_EQ(toJson(detail)["evaluation"]["first"][1]["place"], domain::Json({2, 3}));
}

TEST(CandidateText, HasTheNumericModeBesideTheAccuracy) {
  services::CandidateDetail detail;
  detail.evaluation = domain::Correct();
  EXPECT_THAT(candidateText(detail), HasSubstr("accuracy    fp32, repeats bit by bit\n"));
  detail.genome = domain::Genome{{{{0}, "product_mma", {{"mode", 1}}}}};
  EXPECT_THAT(candidateText(detail), HasSubstr("accuracy    fp32, products as fp16x3, repeats bit by bit\n"));
}

TEST(CandidateText, SaysWhatWasRewritten) {
  services::CandidateDetail detail;
  detail.genome.emplace().rewrites = {{"fold batch norm", domain::ValueId(4), "model.py:14"}};
  detail.row.isAlgebraic = true;
  EXPECT_THAT(candidateText(detail),
              HasSubstr("rewrite     A batch norm in evaluation mode is folded into the weights and "
                        "bias before it (model.py:14), algebraic\n"));
  EXPECT_EQ(toJson(detail)["algebraic"], true);
  EXPECT_EQ(toJson(detail)["genome"]["rewrites"][0]["rule"], "fold batch norm");
  EXPECT_THAT(candidateTable({detail.row}), HasSubstr(", algebraic"));
}

TEST(CandidateText, SaysWhyNoMoreSamplesWereTakenAndWhatThrottled) {
  services::CandidateDetail detail;
  domain::Correct correct;
  domain::Timing& timing = correct.timing.candidate;
  timing.samples = 18;
  timing.medianNs = 1.31e6;
  timing.lowNs = 1.28e6;
  timing.highNs = 1.35e6;
  timing.stopReason = "time budget";
  timing.conditions.smClockMhz = 1980;
  timing.conditions.throttleReasons = {"power cap"};
  detail.evaluation = correct;
  detail.row.roofShare = 0.93;
  const std::string text = candidateText(detail);
  EXPECT_THAT(text, HasSubstr("time        1.31 ms (1.28 ms to 1.35 ms), 18 samples (stopped by time limit)\n"));
  EXPECT_THAT(text, HasSubstr("; throttled: power cap"));
  EXPECT_THAT(text, HasSubstr("roofline    93 % of what"));
}

TEST(CandidateText, HasTheParametersOfTheSource) {
  services::CandidateDetail detail;
  detail.genome.emplace().regions = {{{0}, "row", {{"lanes", 64}}}};
  detail.program.source = "namespace region_0 {\nconstexpr int kLanes = 128;\n}  // namespace region_0\n";
  EXPECT_THAT(candidateText(detail), HasSubstr("row(lanes=128)"));
  EXPECT_EQ(toJson(detail)["genome"], domain::toJson(*saidGenome(detail)));
  EXPECT_EQ(saidGenome(detail)->regions[0].parameters.at("lanes"), 128);
}

TEST(Tables, HaveIntervalsAndTheWordsOfTheWindow) {
  services::RunSummary run;
  run.status = domain::RunStatus::Interrupted;
  EXPECT_THAT(runTable({run}), HasSubstr("stopped"));
  EXPECT_THAT(runTable({run}), HasSubstr("% of roofline"));
  services::CandidateRow row;
  row.timeNs = 1.31e6;
  row.lowNs = 1.28e6;
  row.highNs = 1.35e6;
  EXPECT_THAT(candidateTable({row}), HasSubstr("1.31 ms (1.28 ms to 1.35 ms)"));
}

TEST(TrustText, NamesChecksAndDoubts) {
  EXPECT_EQ(
      trustText({{domain::AssuranceKind::HeldBackSeeds, domain::AssuranceVerdict::Passed, "3 seeds", 0.0}},
                {"the output is constant"}),
      "checked     unseen seeds passed: 3 seeds\nwarning     correctness checks are weak: the output is constant\n");
}

TEST(Format, WritesDatesInUtc) {
  EXPECT_EQ(formatDate(1'700'000'000'000), "2023-11-14 22:13");
}

}  // namespace
}  // namespace swage::cli
