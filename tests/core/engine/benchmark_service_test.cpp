// SPDX-License-Identifier: Apache-2.0
#include "core/engine/benchmark_service_impl.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/engine/kernelbench_file.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using ::testing::StartsWith;

class BenchmarkServiceTest : public ::testing::Test {
 protected:
  void write(const exporting::KernelBenchDocument& document) const {
    std::ofstream(m_file) << domain::dumpJson(exporting::toJson(document));
  }
  static exporting::KernelBenchRow row(int problem) {
    exporting::KernelBenchRow one;
    one.level = 1;
    one.problem = problem;
    one.name = std::to_string(problem) + "_Task";
    one.device = "A CPU";
    one.check.verdict = "not run";
    return one;
  }
  static exporting::KernelBenchRow faster(int problem) {
    exporting::KernelBenchRow one = row(problem);
    one.run = domain::RunId(4);
    one.baselines = {{"eager", 3e6, 2.9e6, 3.1e6, domain::AccuracyClass::Fp32, {}},
                     {"compile", 2e6, 1.9e6, 2.1e6, domain::AccuracyClass::Fp32, {}},
                     {"max-autotune", 0.0, 0.0, 0.0, domain::AccuracyClass::Fp32, "no compiler"}};
    one.baselineMode = "compile";
    exporting::KernelBenchKernel kernel;
    kernel.timeNs = 1e6;
    kernel.lowNs = 0.9e6;
    kernel.highNs = 1.1e6;
    kernel.speedup = {2.0, 1.9, 2.1};
    kernel.relativeError = 1e-7;
    kernel.eagerRelativeError = 2e-7;
    kernel.isAlgebraic = true;
    one.kernel = kernel;
    one.check = {"accepted", "(5 / 5)", "", ""};
    return one;
  }

  testing::TempDir m_folder;
  std::filesystem::path m_file = m_folder / "odd.json";
};

TEST_F(BenchmarkServiceTest, GivesEveryProblemWithPyTorchsFastestWay) {
  exporting::KernelBenchDocument document;
  document.settings.target = "cpu";
  document.put(faster(1));
  document.put(row(3));
  write(document);
  const auto results = readBenchmark(m_file);
  ASSERT_THAT(results, IsOk());
  EXPECT_THAT(results->headline, StartsWith("2 tasks"));
  ASSERT_EQ(results->tasks.size(), 2U);
  const services::BenchmarkTask& task = results->tasks.front();
  EXPECT_EQ(task.run, domain::RunId(4));
  EXPECT_EQ(task.fastestWay, "compile");
  EXPECT_EQ(task.fastestNs, 2e6);
  EXPECT_EQ(task.kernelNs, 1e6);
  EXPECT_EQ(task.speedup, (domain::Speedup{2.0, 1.9, 2.1}));
  EXPECT_EQ(task.accuracy, "fp32");
  EXPECT_TRUE(task.isAlgebraic);
  EXPECT_EQ(task.verdict, "accepted");
  EXPECT_THAT(task.remarks, ElementsAre("PyTorch's max-autotune failed: no compiler"));
  EXPECT_EQ(results->tasks.back().kernelNs, 0.0);
  EXPECT_TRUE(results->tasks.back().accuracy.empty());
  EXPECT_EQ(results->summaries.front().tasks, 2);
  EXPECT_EQ(results->summaries.front().kernels, 1);
  EXPECT_EQ(results->summaries.front().fast1, 0.5);
  EXPECT_THAT(results->chart, StartsWith("<svg"));
}

TEST_F(BenchmarkServiceTest, SaysWhatFailedAndWhatCheckersObjectTo) {
  exporting::KernelBenchRow failed = row(1);
  failed.failedStage = "import";
  failed.failure = "it cannot be traced";
  exporting::KernelBenchRow rejected = faster(3);
  rejected.baselines.pop_back();
  rejected.check = {"rejected", "(0 / 5)", "outputs differ", ""};
  rejected.doubts = {"the output is constant"};
  exporting::KernelBenchDocument document;
  document.put(failed);
  document.put(rejected);
  write(document);
  const auto results = readBenchmark(m_file);
  ASSERT_THAT(results, IsOk());
  EXPECT_THAT(results->tasks[0].remarks, ElementsAre("import failed: it cannot be traced"));
  EXPECT_THAT(results->tasks[1].remarks,
              ElementsAre("KernelBench's checker: outputs differ", "the output is constant"));
}

TEST_F(BenchmarkServiceTest, FindsTheRecordBesideTheFile) {
  write({});
  EXPECT_EQ(readBenchmark(m_file)->project, std::filesystem::path());
  std::filesystem::create_directory(m_folder / "odd.project");
  EXPECT_EQ(readBenchmark(m_file)->project, m_folder / "odd.project");
}

TEST_F(BenchmarkServiceTest, TurnsOtherFilesDown) {
  EXPECT_THAT(readBenchmark(m_folder / "none.json"), IsError(ErrorKind::NotFound, HasSubstr("none.json")));
  std::ofstream(m_file) << "{}";
  EXPECT_THAT(readBenchmark(m_file), IsError(ErrorKind::InvalidInput, HasSubstr("swage bench kernelbench")));
}

TEST_F(BenchmarkServiceTest, AnswersFromItsThread) {
  write({});
  const BenchmarkServiceImpl service;
  auto future = service.read(m_file);
  future.waitForFinished();
  EXPECT_THAT(future.result(), IsOk());
}

}  // namespace
}  // namespace swage::engine
