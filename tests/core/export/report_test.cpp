// SPDX-License-Identifier: Apache-2.0
#include "core/export/report.h"

#include <gmock/gmock.h>

#include "core/export/report_charts.h"

namespace swage::exporting {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RunReport report() {
  RunReport one;
  one.taskName = "softmax <rows>";
  one.taskSource = "class Model of softmax_rows.py";
  one.inputs = "float32[4096, 1024]";
  one.run = domain::RunId(3);
  one.status = "finished";
  one.startedAt = "2026-01-31 12:05 UTC";
  one.elapsedSeconds = 60.0;
  one.budgetSeconds = 60.0;
  one.seed = 7;
  one.evaluations = 120;
  one.correct = 100;
  one.swageVersion = "0.1.0";
  one.torchVersion = "2.11.0";
  one.device.name = "A CPU";
  one.device.architecture = "x86-64-v4";
  one.device.threads = 8;
  domain::Baseline eager;
  eager.mode = "eager";
  eager.timing.medianNs = 2e6;
  domain::Baseline compile = eager;
  compile.mode = "compile";
  compile.failure = "no <compiler>";
  one.baselines = {eager, compile};
  one.baselineMode = "eager";
  one.baselineNs = 2e6;
  ReportCandidate best;
  best.id = domain::CandidateId(17);
  best.madeBy = "parameter";
  best.cell = "A1B0C1";
  best.timeNs = 1e6;
  best.lowNs = 0.95e6;
  best.highNs = 1.05e6;
  best.speedup = {2.0, 1.9, 2.1};
  best.relativeError = 1e-7;
  one.best = best;
  one.bestWins = true;
  one.top = {best};
  for (int i = 0; i < domain::kCellCount; ++i) {
    one.cells.push_back({domain::Cell::fromIndex(i), ReportCell::State::Empty, 0, {}, 0.0, {}});
  }
  one.cells[10] = {domain::Cell::fromIndex(10), ReportCell::State::Filled, 5, best.id, 1e6, best.speedup};
  one.cells[11].state = ReportCell::State::FailedOnly;
  one.cells[12].state = ReportCell::State::Unavailable;
  one.history = {{2.0, {1.2, 1.1, 1.3}, domain::CandidateId(4)}, {30.0, best.speedup, best.id}};
  one.failures = {{"compile error", 15}, {"wrong", 5}};
  one.assurances = {{domain::AssuranceKind::FreshProcess, domain::AssuranceVerdict::Passed, "within 1 %", 1.0}};
  one.doubts = {"outputs vary little"};
  one.accuracy = "fp32";
  one.rewrites = {"A batch norm is folded into the weights, algebraic"};
  one.source = "#include <cmath>\nint main() {}\n";
  one.commands = {"swage verify 17"};
  return one;
}

TEST(ReportHtml, NeedsNothingFromOutside) {
  const std::string html = reportHtml(report());
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  for (const char* outside : {"http:", "https:", "src=", "<link", "<script", "@import", "url("}) {
    EXPECT_THAT(html, Not(HasSubstr(outside))) << outside;
  }
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, HasSubstr("@media (prefers-color-scheme: dark)"));
}

TEST(ReportHtml, SaysWhatWasFoundAndHowItWasChecked) {
  const std::string html = reportHtml(report());
  for (const char* part :
       {"2.00× (1.90 to 2.10) as fast as PyTorch (eager).", "Candidate 17: ", "softmax &lt;rows&gt;",
        "float32[4096, 1024]", "no &lt;compiler&gt;", "compile error", "fresh process passed: within 1 %",
        "correctness checks are weak: outputs vary little", "#include &lt;cmath&gt;", "swage verify 17",
        "accuracy class fp32", "rewritten: A batch norm is folded into the weights, algebraic"}) {
    EXPECT_THAT(html, HasSubstr(part)) << part;
  }
  EXPECT_THAT(html, Not(HasSubstr("@TITLE@")));
}

TEST(ReportHtml, DoesNotAnnounceAWinnerWhereThereIsNone) {
  RunReport one = report();
  one.bestWins = false;
  one.best->speedup = {1.02, 0.9, 1.2};
  EXPECT_THAT(reportHtml(one), HasSubstr("PyTorch itself (eager) is fastest: no kernel is significantly faster."));
  one.best.reset();
  one.top.clear();
  one.history.clear();
  one.failures.clear();
  EXPECT_THAT(reportHtml(one), AllOf(HasSubstr("No correct kernel was found."), HasSubstr("No candidate was timed."),
                                     HasSubstr("No candidate is correct.")));
}

TEST(ReportMarkdown, HasTheSameFacts) {
  const std::string text = reportMarkdown(report());
  EXPECT_THAT(text, StartsWith("# softmax <rows> on A CPU\n\n**2.00× (1.90 to 2.10) as fast as PyTorch (eager).**"));
  EXPECT_THAT(text, HasSubstr("| 17 | "));
  EXPECT_THAT(text, HasSubstr("| compile error | 15 |"));
  EXPECT_THAT(text, HasSubstr("- **Warning:** correctness checks are weak: outputs vary little\n"));
  EXPECT_THAT(text, HasSubstr("- rewritten: A batch norm is folded into the weights, algebraic\n"));
  EXPECT_THAT(text, HasSubstr("````cpp\n#include <cmath>"));
}

TEST(CellMap, TellsFilledFailedEmptyAndImpossibleApart) {
  const std::string map = cellMap(report());
  const auto count = [&map](const std::string& part) {
    int found = 0;
    for (std::size_t at = map.find(part); at != std::string::npos; at = map.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("class=\"filled\""), 1);
  EXPECT_EQ(count("class=\"failed\""), 1);
  EXPECT_EQ(count("class=\"unavailable\""), 1);
  EXPECT_EQ(count("class=\"empty\""), 33);
}

TEST(ProgressChart, HasAStepForEachImprovementAndTheBaseline) {
  const std::string chart = progressChart(report());
  EXPECT_THAT(chart, HasSubstr("class=\"baseline\""));
  EXPECT_THAT(chart, HasSubstr("candidate 4 after 2 s: 1.20× (1.10 to 1.30)"));
  EXPECT_EQ(progressChart(RunReport{}), "");
}

TEST(SpeedupText, MarksWhatIsUncertain) {
  EXPECT_EQ(speedupText({1.5, 0.9, 2.4}), "~1.50× (0.90 to 2.40)");
  EXPECT_EQ(speedupText({}), "–");
}

}  // namespace
}  // namespace swage::exporting
