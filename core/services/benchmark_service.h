// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/speedup.h"

namespace swage::services {

// One problem of a benchmark, as it is shown.
struct BenchmarkTask {
  int level = 0;
  int problem = 0;
  std::string name;
  domain::RunId run;       // of BenchmarkResults::project; invalid: the search did not begin
  std::string fastestWay;  // of PyTorch, which the speedup is over: "compile"; empty: none was measured
  double fastestNs = 0.0;  // 0: not measured
  double kernelNs = 0.0;   // of the best kernel; 0: there is none
  domain::Speedup speedup;
  std::string accuracy;             // class of the kernel: "fp32"; empty: there is no kernel
  double relativeError = 0.0;       // against float64
  double eagerRelativeError = 0.0;  // of PyTorch's eager mode on the same output
  double roofShare = 0.0;           // of the roofline; 0: not known
  std::string cell;                 // "A1B0C1"; empty: none
  std::vector<std::string> aten;    // operators that the kernel leaves to PyTorch
  std::int64_t candidates = 0;
  std::int64_t correct = 0;
  double seconds = 0.0;  // from the import to the verdict
  std::string verdict;   // of KernelBench's own checker: "accepted", "rejected", "reference failed", "not run"
  bool isAlgebraic = false;
  bool isCaptured = false;  // launched as one CUDA graph
  bool isDegenerate = false;
  std::vector<std::string> remarks;  // what failed and why, and why a speedup on this task may say little
};

// Of a group of tasks. Shares are of all tasks, failed ones included.
struct BenchmarkSummary {
  std::string title;  // "all tasks"
  std::int64_t tasks = 0;
  std::int64_t kernels = 0;    // tasks with a kernel that is at least as exact as PyTorch
  std::int64_t accepted = 0;   // exports that KernelBench's checker accepts
  double geometricMean = 0.0;  // of the kernels' speedups; 0: there is none
  double median = 0.0;
  double fast1 = 0.0;  // share of tasks with a speedup above 1
  double fast15 = 0.0;
  double fast2 = 0.0;
};

struct BenchmarkResults {
  std::string headline;           // how many tasks, on which device, with which budget and versions
  std::filesystem::path project;  // with the runs; empty: not beside the file
  std::vector<BenchmarkSummary> summaries;
  std::vector<BenchmarkTask> tasks;  // by level and number
  std::string chart;                 // an SVG document that stands alone
};

// Reads what `swage bench kernelbench` wrote. Every answer comes from a thread of the service's own.
class BenchmarkService {
 public:
  virtual ~BenchmarkService() = default;
  // NotFound or Io where the file cannot be read; InvalidInput where it is no such document.
  [[nodiscard]] virtual QFuture<Result<BenchmarkResults>> read(const std::filesystem::path& file) const = 0;
};

}  // namespace swage::services
