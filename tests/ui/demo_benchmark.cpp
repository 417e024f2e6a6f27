// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_benchmark.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace swage::testing {
namespace {

services::BenchmarkTask won(int problem, std::string name, double factor) {
  services::BenchmarkTask task;
  task.level = 1;
  task.problem = problem;
  task.name = std::move(name);
  task.run = domain::RunId(problem);
  task.fastestWay = "eager";
  task.fastestNs = 2.64e6;
  task.kernelNs = 2.64e6 / factor;
  task.speedup = {factor, 0.99 * factor, 1.01 * factor};
  task.accuracy = "fp32";
  task.relativeError = 1.9e-7;
  task.eagerRelativeError = 8.4e-7;
  task.roofShare = 0.86;
  task.cell = "A3B2C3";
  task.candidates = 171;
  task.correct = 153;
  task.seconds = 48.0;
  task.verdict = "accepted";
  return task;
}

services::BenchmarkTask failed(int problem, std::string name) {
  services::BenchmarkTask task;
  task.level = 2;
  task.problem = problem;
  task.name = std::move(name);
  task.seconds = 2.0;
  task.verdict = "not run";
  task.remarks = {"import failed: the module cannot be traced: data-dependent control flow"};
  return task;
}

// One bar a task, as the command draws it.
std::string chart() {
  std::string svg =
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 120"><style>
text { font: 11px sans-serif; fill: #222; } .gain { fill: #0072b2; }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd; }
}
</style>
)";
  for (int i = 0; i < 3; ++i) {
    svg +=
        fmt::format(R"(<text x="8" y="{}">problem {}</text><rect class="gain" x="330" y="{}" width="{}" height="10"/>)",
                    40 + 16 * i, 2 * i + 1, 31 + 16 * i, 300 - 90 * i);
  }
  return svg + "</svg>";
}

}  // namespace

services::BenchmarkResults demoBenchmark() {
  services::BenchmarkResults results;
  results.headline = "4 tasks on NVIDIA H100, 10 s of search each; PyTorch 2.11.0, Swage 0.1.0";
  results.project = "/tmp/odd.project";
  services::BenchmarkTask slower = won(3, "3_Batched_matrix_multiplication", 0.46);
  slower.remarks = {"KernelBench's checker: not run for a loss"};
  slower.verdict = "not run";
  services::BenchmarkTask rewritten = won(5, "5_Matrix_scalar_multiplication", 1.02);
  rewritten.isAlgebraic = true;
  rewritten.aten = {"aten.convolution.default"};
  results.tasks = {won(1, "1_Square_matrix_multiplication_", 4.15), slower, rewritten, failed(7, "7_Data_dependent")};
  results.summaries = {{"all tasks", 4, 3, 2, 1.25, 1.02, 0.5, 0.25, 0.25},
                       {"without algebraic kernels", 4, 2, 1, 1.38, 2.30, 0.25, 0.25, 0.25}};
  results.chart = chart();
  return results;
}

}  // namespace swage::testing
