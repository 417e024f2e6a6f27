// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"
#include "core/domain/json.h"
#include "core/domain/speedup.h"

// What a benchmark over KernelBench's problems has found, as it is kept in one JSON file and shown. Pure.
namespace swage::exporting {

// One of PyTorch's own ways to run a problem.
struct KernelBenchWay {
  std::string mode;  // "eager", "compile", "max-autotune"
  double timeNs = 0.0;
  double lowNs = 0.0;  // 95 % interval
  double highNs = 0.0;
  domain::AccuracyClass accuracy = domain::AccuracyClass::Fp32;
  std::string failure;  // not empty: it did not work, and why
};

// The best candidate that is not PyTorch's own operators, whether or not it beats PyTorch.
struct KernelBenchKernel {
  domain::CandidateId candidate;
  double timeNs = 0.0;
  double lowNs = 0.0;  // 95 % interval
  double highNs = 0.0;
  domain::Speedup speedup;  // over the fastest of PyTorch's ways that its settings permit
  domain::AccuracyClass accuracy = domain::AccuracyClass::Fp32;
  std::vector<std::string> patterns;  // of its regions, each once
  double relativeError = 0.0;         // against float64, the largest of all outputs
  double eagerRelativeError = 0.0;    // of eager on the same output
  double roofShare = 0.0;             // 0: not known
  std::string cell;                   // "A1B0C1"; empty: none
  std::vector<std::string> aten;      // operators that it leaves to PyTorch, each once; views are none
  bool isAlgebraic = false;           // it computes something else that is equal by algebra
  bool isCaptured = false;            // its steps are launched as one CUDA graph

  // Otherwise it is a CUDA graph of PyTorch's operators alone, which is worth exporting and counts as no kernel.
  [[nodiscard]] bool hasKernels() const { return !isCaptured || !patterns.empty(); }
};

// KernelBenchRow::exported of what is not a way of PyTorch.
inline constexpr std::string_view kKernelExport = "kernel";
inline constexpr std::string_view kGraphExport = "CUDA graph";  // of PyTorch's operators, without a kernel of ours
[[nodiscard]] constexpr bool isOwnExport(std::string_view exported) {
  return exported == kKernelExport || exported == kGraphExport;
}

// What KernelBench's own checker said of the export.
struct KernelBenchCheck {
  std::string verdict;           // "accepted", "rejected", "reference failed" or "not run"
  std::string trials;            // "(5 / 5)"
  std::string problem;           // why it was not accepted
  std::string note;              // what differs from KernelBench's own way of running it
  std::string rejectedWay = {};  // why PyTorch's faster way was exported first and rejected; empty: it was not
};

struct KernelBenchRow {
  int level = 0;
  int problem = 0;
  std::string name;    // "1_Square_matrix_multiplication_"
  domain::RunId run;   // of the benchmark's project; invalid: the search did not begin
  std::string device;  // its name
  std::vector<std::pair<std::string, std::string>> constants;  // that were made smaller, with JSON values
  std::vector<std::string> operators;                          // of the graph, each once; views are none
  std::vector<KernelBenchWay> baselines;
  std::string baselineMode;  // what speedups are over; empty: none
  domain::AccuracyClass baselineAccuracy = domain::AccuracyClass::Fp32;
  std::optional<KernelBenchKernel> kernel;  // none: no candidate with a kernel is correct
  std::vector<std::string> alwaysAten;      // operators that every correct candidate leaves to PyTorch
  std::int64_t candidates = 0;
  std::int64_t correct = 0;
  double searchSeconds = 0.0;
  double seconds = 0.0;  // from the import to the verdict
  std::string exported;  // kKernelExport, kGraphExport, or the way of PyTorch that was written; empty: nothing was
  std::string exportFile;
  KernelBenchCheck check;
  std::vector<std::string> doubts;  // why a speedup on this task may say little
  bool isDegenerate = false;        // its output is constant, or does not depend on its inputs
  std::string failedStage;          // "import", "search", "export"; empty: nothing failed
  std::string failureKind;          // name(ErrorKind)
  std::string failure;
};

// What a benchmark was asked for. A file goes on only with the same.
struct KernelBenchSettings {
  std::string target;  // "cpu", "cuda", "auto"
  double timeBudgetSeconds = 0.0;
  std::int64_t maxEvaluations = 0;  // 0: no limit
  std::uint64_t seed = 1;
  std::int64_t largestTensorBytes = 0;  // 0: problems are taken as they are
  std::vector<std::string> baselines;   // empty: those that the time budget allows
  friend bool operator==(const KernelBenchSettings&, const KernelBenchSettings&) = default;
};

struct KernelBenchDocument {
  KernelBenchSettings settings;
  std::string device;  // of its rows; empty: there is none yet
  std::string torchVersion;
  std::string swageVersion;
  std::vector<KernelBenchRow> rows;  // by level and number

  // Replaces a row of the same problem.
  void put(KernelBenchRow row);
  [[nodiscard]] const KernelBenchRow* find(int level, int problem) const;
};

// With its summaries, which the parser leaves out: they follow from the rows.
[[nodiscard]] domain::Json toJson(const KernelBenchDocument& document);
[[nodiscard]] domain::Json toJson(const KernelBenchRow& row);
[[nodiscard]] Result<KernelBenchDocument> kernelBenchFromJson(const domain::Json& json);

// A task whose best kernel is slower than PyTorch, or that has none.
struct KernelBenchLoss {
  int level = 0;
  int problem = 0;
  std::string name;
  domain::Speedup speedup;  // not known: there is no kernel that counts
  std::string why;
};

// Speedups are those of the best kernels that are at least as exact as the baseline that they are compared with.
struct KernelBenchSummary {
  std::string title;                  // "all tasks"
  std::int64_t tasks = 0;             // shares are of these, failed ones included
  std::int64_t kernels = 0;           // tasks with a kernel that counts
  std::int64_t accepted = 0;          // exports that KernelBench's checker accepts
  double geometricMean = 0.0;         // of the kernels' speedups; 0: there is none
  double median = 0.0;                // of the same
  double strictGeometricMean = 0.0;   // over the fastest of PyTorch's ways, those that KernelBench rejects counted
  double exportsGeometricMean = 0.0;  // of all tasks: 1 where PyTorch's own way is what is exported
  double fast1 = 0.0;                 // share of tasks with a speedup above 1
  double fast15 = 0.0;
  double fast2 = 0.0;
  std::vector<KernelBenchLoss> losses;  // the slowest first, tasks without a kernel before them
};

[[nodiscard]] KernelBenchSummary summarise(std::string title, const std::vector<KernelBenchRow>& rows);
// All tasks, those without algebraic kernels, without degenerate tasks, without both, and each level.
[[nodiscard]] std::vector<KernelBenchSummary> kernelBenchSummaries(const KernelBenchDocument& document);

// An operator that some best kernels leave to PyTorch.
struct KernelBenchOperator {
  std::string name;                  // "aten.bmm.default"
  std::vector<std::string> inBest;   // tasks ("1/3") whose best kernel has it so
  std::vector<std::string> inEvery;  // tasks of which every correct candidate has it so, those without any included
  friend bool operator==(const KernelBenchOperator&, const KernelBenchOperator&) = default;
};
// By name.
[[nodiscard]] std::vector<KernelBenchOperator> atenOperators(const KernelBenchDocument& document);

// Whether an operator only looks at the same memory in another way.
[[nodiscard]] bool isViewOperator(std::string_view op);

// "43 tasks on NVIDIA H100, 10 s of search each; PyTorch 2.11.0, Swage 0.1.0".
[[nodiscard]] std::string kernelBenchHeadline(const KernelBenchDocument& document);
[[nodiscard]] std::string kernelBenchText(const KernelBenchDocument& document);
[[nodiscard]] std::string kernelBenchMarkdown(const KernelBenchDocument& document);
// A picture that stands alone: one bar a task on a logarithmic scale, with its interval.
[[nodiscard]] std::string kernelBenchChart(const KernelBenchDocument& document);

// "2.41x over compile, exported; accepted" of a finished task, for a line of progress.
[[nodiscard]] std::string rowHeadline(const KernelBenchRow& row);

}  // namespace swage::exporting
