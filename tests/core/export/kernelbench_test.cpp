// SPDX-License-Identifier: Apache-2.0
#include "core/export/kernelbench.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/result_matchers.h"

namespace swage::exporting {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::Not;
using ::testing::StartsWith;

KernelBenchRow row(int level, int problem, double speedup) {
  KernelBenchRow one;
  one.level = level;
  one.problem = problem;
  one.name = std::to_string(problem) + "_Task";
  one.run = domain::RunId(problem);
  one.device = "A CPU";
  one.operators = {"aten.bmm.default", "aten.relu.default"};
  one.baselines = {{"eager", 2e6, 1.9e6, 2.1e6, domain::AccuracyClass::Fp32, {}},
                   {"compile", 0.0, 0.0, 0.0, domain::AccuracyClass::Fp32, "no compiler"}};
  one.baselineMode = "eager";
  KernelBenchKernel kernel;
  kernel.candidate = domain::CandidateId(17);
  kernel.timeNs = 2e6 / speedup;
  kernel.lowNs = 1.9e6 / speedup;
  kernel.highNs = 2.1e6 / speedup;
  kernel.speedup = {speedup, 0.95 * speedup, 1.05 * speedup};
  kernel.patterns = {"map"};
  kernel.relativeError = 1e-7;
  kernel.eagerRelativeError = 2e-7;
  kernel.roofShare = 0.5;
  kernel.cell = "A1B0C1";
  one.kernel = kernel;
  one.candidates = 20;
  one.correct = 18;
  one.searchSeconds = 5.0;
  one.seconds = 20.0;
  one.exported = speedup > 1.0 ? "kernel" : "eager";
  one.exportFile = "/a/new.py";
  one.check = {"accepted", "(5 / 5)", "", "on the CPU; and more"};
  return one;
}

KernelBenchRow failed(int level, int problem) {
  KernelBenchRow one;
  one.level = level;
  one.problem = problem;
  one.name = std::to_string(problem) + "_Failed";
  one.check.verdict = "not run";
  one.failedStage = "import";
  one.failureKind = "invalid input";
  one.failure = "it cannot be traced";
  return one;
}

KernelBenchDocument document(std::vector<KernelBenchRow> rows) {
  KernelBenchDocument one;
  one.settings = {"cpu", 10.0, 0, 1, 1 << 20, {"eager"}};
  one.device = "A CPU";
  one.torchVersion = "2.11.0";
  one.swageVersion = "0.1.0";
  for (KernelBenchRow& each : rows) {
    one.put(std::move(each));
  }
  return one;
}

TEST(KernelBenchSummary, OneMeanCountsWaysThatKernelBenchRejects) {
  KernelBenchRow rejected = row(1, 1, 4.0);
  rejected.baselines[1] = {"compile", 5e5, 5e5, 5e5, domain::AccuracyClass::Tf32, "KernelBench would reject it"};
  KernelBenchRow slower = row(1, 3, 4.0);
  slower.baselines[1] = {"compile", 4e6, 4e6, 4e6, domain::AccuracyClass::Tf32, "KernelBench would reject it"};
  const KernelBenchSummary summary = summarise("all", {rejected, slower});
  EXPECT_DOUBLE_EQ(summary.geometricMean, 4.0);
  EXPECT_DOUBLE_EQ(summary.strictGeometricMean, 2.0) << "1, and 4 over eager";
}

TEST(KernelBenchSummary, MeansAreOfTheKernelsAndSharesOfAllTasks) {
  const KernelBenchSummary summary = summarise("all", {row(1, 1, 4.0), row(1, 3, 1.0), row(1, 5, 0.25), failed(1, 7)});
  EXPECT_EQ(summary.tasks, 4);
  EXPECT_EQ(summary.kernels, 3);
  EXPECT_EQ(summary.accepted, 3);
  EXPECT_DOUBLE_EQ(summary.geometricMean, 1.0);
  EXPECT_DOUBLE_EQ(summary.median, 1.0);
  EXPECT_DOUBLE_EQ(summary.exportsGeometricMean, std::sqrt(2.0)) << "4, and 1 three times";
  EXPECT_DOUBLE_EQ(summary.fast1, 0.25);
  EXPECT_DOUBLE_EQ(summary.fast15, 0.25);
  EXPECT_DOUBLE_EQ(summary.fast2, 0.25);
}

TEST(KernelBenchSummary, NamesEveryLossTheWorstFirst) {
  const auto losses = summarise("all", {row(1, 1, 4.0), row(1, 3, 0.9), row(1, 5, 0.25), failed(2, 7)}).losses;
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_EQ(losses[0].name, "7_Failed");
  EXPECT_EQ(losses[0].why, "import: it cannot be traced");
  EXPECT_EQ(losses[1].problem, 5);
  EXPECT_EQ(losses[2].problem, 3);
  EXPECT_EQ(losses[2].why, "slower than eager");
}

TEST(KernelBenchSummary, AKernelThatIsLessExactThanTheBaselineDoesNotCount) {
  KernelBenchRow inexact = row(1, 1, 4.0);
  inexact.kernel->accuracy = domain::AccuracyClass::Tf32;
  const KernelBenchSummary summary = summarise("all", {inexact, row(1, 3, 1.5)});
  EXPECT_EQ(summary.kernels, 1);
  EXPECT_DOUBLE_EQ(summary.geometricMean, 1.5);
  ASSERT_EQ(summary.losses.size(), 1U);
  EXPECT_EQ(summary.losses[0].why, "its kernel has accuracy tf32, the baseline fp32");
  inexact.baselineAccuracy = domain::AccuracyClass::Tf32;
  EXPECT_EQ(summarise("all", {inexact}).kernels, 1);
}

TEST(KernelBenchSummary, LeavesAlgebraicAndDegenerateOnesOutAndHasEachLevel) {
  KernelBenchRow algebraic = row(1, 1, 16.0);
  algebraic.kernel->isAlgebraic = true;
  KernelBenchRow degenerate = row(1, 3, 8.0);
  degenerate.isDegenerate = true;
  const auto summaries = kernelBenchSummaries(document({algebraic, degenerate, row(1, 5, 2.0), row(2, 1, 2.0)}));
  std::vector<std::pair<std::string, double>> found;
  for (const KernelBenchSummary& one : summaries) {
    found.emplace_back(one.title, std::round(100.0 * one.geometricMean) / 100.0);
  }
  EXPECT_THAT(found, ElementsAre(std::pair("all tasks", 4.76), std::pair("without algebraic kernels", 3.17),
                                 std::pair("without degenerate tasks", 4.0), std::pair("without both", 2.0),
                                 std::pair("level 1", 6.35), std::pair("level 2", 2.0)));
}

TEST(KernelBenchSummary, CountsAnExportedCudaGraphAndSaysWhatItIsOf) {
  KernelBenchRow graph = row(3, 1, 2.0);
  graph.kernel->isCaptured = true;
  EXPECT_THAT(kernelBenchText(document({graph})), HasSubstr("CUDA graph"));
  EXPECT_THAT(kernelBenchText(document({graph})), Not(HasSubstr("PyTorch's operators as a CUDA graph")));
  graph.kernel->patterns.clear();
  graph.exported = kGraphExport;
  EXPECT_THAT(kernelBenchText(document({graph})), HasSubstr("PyTorch's operators as a CUDA graph"));
  const KernelBenchSummary summary = summarise("all", {graph});
  EXPECT_EQ(summary.exportsGeometricMean, 2.0);
  EXPECT_EQ(summary.kernels, 0) << "it has no kernel of ours";
}

TEST(KernelBenchSummary, OfNothingIsNothing) {
  const KernelBenchSummary summary = summarise("all", {});
  EXPECT_EQ(summary.geometricMean, 0.0);
  EXPECT_EQ(summary.fast1, 0.0);
  EXPECT_THAT(summary.losses, IsEmpty());
}

TEST(KernelBenchDocument, KeepsRowsInOrderAndOneOfEachProblem) {
  KernelBenchDocument one = document({row(2, 1, 1.0), row(1, 11, 1.0), row(1, 3, 1.0)});
  one.put(row(1, 11, 3.0));
  ASSERT_EQ(one.rows.size(), 3U);
  EXPECT_EQ(one.rows[0].problem, 3);
  EXPECT_EQ(one.rows[1].kernel->speedup.value, 3.0);
  EXPECT_EQ(one.rows[2].level, 2);
  EXPECT_EQ(one.find(1, 1), nullptr);
  EXPECT_EQ(one.find(2, 1), &one.rows[2]);
}

TEST(KernelBenchDocument, IsReadAsItWasWritten) {
  KernelBenchRow full = row(1, 1, 2.0);
  full.constants = {{"shape", "{\"tuple\":[4,8]}"}, {"size", "16"}};
  full.kernel->aten = {"aten.bmm.default"};
  full.alwaysAten = {"aten.bmm.default"};
  full.doubts = {"the output is constant"};
  full.isDegenerate = true;
  full.kernel->isCaptured = true;
  const KernelBenchDocument one = document({full, failed(1, 3)});
  const domain::Json json = toJson(one);
  const auto read = kernelBenchFromJson(json);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(toJson(*read), json);
  EXPECT_EQ(read->settings, one.settings);
  EXPECT_TRUE(read->rows[0].kernel->isCaptured);
  EXPECT_EQ(read->rows[0].kernel->speedup, full.kernel->speedup);
  EXPECT_FALSE(read->rows[1].run.isValid());
}

TEST(KernelBenchDocument, IsNotReadFromAnythingElse) {
  EXPECT_THAT(kernelBenchFromJson({{"tasks", domain::Json::array()}}),
              IsError(ErrorKind::InvalidInput, HasSubstr("swage_kernelbench")));
  domain::Json later = toJson(document({}));
  later["swage_kernelbench"] = 2;
  EXPECT_THAT(kernelBenchFromJson(later), IsError(ErrorKind::InvalidInput, HasSubstr("swage_kernelbench")));
  domain::Json broken = toJson(document({row(1, 1, 2.0)}));
  broken["tasks"][0]["problem"] = "one";
  EXPECT_THAT(kernelBenchFromJson(broken), IsError(ErrorKind::InvalidInput, HasSubstr("problem")));
}

TEST(AtenOperators, SaysOfWhichTasksTheyAreLeftToPyTorch) {
  KernelBenchRow first = row(1, 1, 2.0);
  first.kernel->aten = {"aten.bmm.default", "aten.relu.default"};
  first.alwaysAten = {"aten.bmm.default"};
  KernelBenchRow second = row(2, 3, 2.0);
  second.kernel->aten = {"aten.relu.default"};
  EXPECT_THAT(atenOperators(document({first, second})),
              ElementsAre(KernelBenchOperator{"aten.bmm.default", {"1/1"}, {"1/1"}},
                          KernelBenchOperator{"aten.relu.default", {"1/1", "2/3"}, {}}));
}

TEST(AtenOperators, ViewsAreNoWork) {
  EXPECT_TRUE(isViewOperator("aten.view.default"));
  EXPECT_TRUE(isViewOperator("aten.transpose.int"));
  EXPECT_FALSE(isViewOperator("aten.view_as_real.default"));
  EXPECT_FALSE(isViewOperator("aten.mm.default"));
  EXPECT_FALSE(isViewOperator("mine.view.default"));
}

TEST(KernelBenchText, HasSummaryTasksLossesOperatorsAndRemarks) {
  KernelBenchRow aten = row(1, 3, 0.5);
  aten.kernel->aten = {"aten.bmm.default"};
  aten.check = {"rejected", "(0 / 5)", "Output mismatch", "", "torch.compile is faster, but KernelBench rejects it"};
  const std::string text = kernelBenchText(document({row(1, 1, 2.0), aten, failed(1, 5)}));
  for (const char* part :
       {"3 tasks on A CPU, 10 s of search each, made smaller until no tensor is larger than 1 MiB; PyTorch 2.11.0",
        "all tasks", "2.00× (1.90 to 2.10)", "1.0e-07 (2.0e-07)", "50 %", "A1B0C1", "20 (18)", "slower than eager",
        "import: it cannot be traced", "Operators that still run as ATen", "KernelBench: rejected: Output mismatch",
        "torch.compile is faster, but KernelBench rejects it", "\non the CPU.\n"}) {
    EXPECT_THAT(text, HasSubstr(part)) << part;
  }
  EXPECT_THAT(text, Not(HasSubstr(" \n"))) << "no line ends with blanks";
}

TEST(KernelBenchText, OfMarkdownHasTheSameTables) {
  const std::string text = kernelBenchMarkdown(document({row(1, 1, 2.0), failed(1, 3)}));
  EXPECT_THAT(text, StartsWith("# KernelBench\n\n2 tasks on A CPU"));
  EXPECT_THAT(text, AllOf(HasSubstr("## Losses\n\n| task | name | speedup | why |\n| --- | --- | --- | --- |\n"),
                          HasSubstr("| 1/1 | 1\\_Task | 1 ms | 2.00× (1.90 to 2.10) | eager | 2 ms | failed |")));
  EXPECT_THAT(text, Not(HasSubstr("## Operators"))) << "there are none";
}

TEST(KernelBenchText, OfOneTaskIsOneLine) {
  EXPECT_EQ(rowHeadline(row(1, 1, 2.0)), "2.00× (1.90 to 2.10) over eager; exported it, KernelBench: accepted");
  EXPECT_EQ(rowHeadline(failed(1, 1)), "import failed: it cannot be traced");
  KernelBenchRow none = row(1, 1, 1.0);
  none.kernel.reset();
  none.failedStage = "search";
  none.failure = "no kernel is correct: 3 wrong\nmore";
  EXPECT_EQ(rowHeadline(none), "search failed: no kernel is correct: 3 wrong; exported eager, KernelBench: accepted");
}

TEST(KernelBenchChart, StandsAloneAndTellsGainsFromLosses) {
  KernelBenchRow degenerate = row(1, 3, 8.0);
  degenerate.isDegenerate = true;
  degenerate.name = "3_<Task>";
  const std::string svg = kernelBenchChart(document({row(1, 1, 2.0), degenerate, row(1, 5, 0.5), failed(1, 7)}));
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"gain\""), HasSubstr("class=\"gain aside\""), HasSubstr("class=\"loss\""),
                         HasSubstr("no kernel"), HasSubstr("3_&lt;Task&gt;"), HasSubstr("0.5×"), HasSubstr("8×")));
  for (const char* outside : {"href", "url(", "<script"}) {
    EXPECT_THAT(svg, Not(HasSubstr(outside))) << outside;
  }
}

}  // namespace
}  // namespace swage::exporting
