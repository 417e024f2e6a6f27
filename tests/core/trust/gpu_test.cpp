// SPDX-License-Identifier: Apache-2.0
// What only a GPU can show of isolation: how soon a poisoned worker is replaced, and what compute-sanitizer finds.
// The kernel is PTX, which the driver takes as it takes a cubin.
#include <gmock/gmock.h>

#include <QCoreApplication>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/process/locations.h"
#include "core/process/spare_worker.h"
#include "core/process/worker_supervisor.h"
#include "core/trust/sanitizer_report.h"
#include "tests/core/verify/relu_ptx.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::trust {
namespace {

using ::testing::HasSubstr;
using testing::reluPtx;
using testing::waitFor;

constexpr int kRows = 1024;
constexpr std::chrono::seconds kPatience{120};

const domain::Task& relu() {
  static const domain::Task task = testing::pointwiseTask({kRows, kRows}, "aten.relu.default");
  return task;
}

domain::LaunchPlan plan() {
  domain::LaunchPlan plan = testing::oneKernelPlan(relu(), "relu");
  auto& step = std::get<domain::KernelStep>(plan.steps[0]);
  step.block = {256, 1, 1};
  step.grid = {kRows * kRows / 256, 1, 1};
  return plan;
}

bool gpuWorks() {
  return std::system(SWAGE_TEST_WORKER " --device cuda:0 --check > /dev/null 2>&1") == 0;
}

#define SWAGE_NEEDS_GPU()                         \
  if (!gpuWorks()) {                              \
    GTEST_SKIP() << "there is no GPU that works"; \
  }                                               \
  static_cast<void>(0)

double replacementSeconds(bool withSpare) {
  process::WorkerSupervisor::Options options;
  options.command = {.program = SWAGE_TEST_WORKER, .arguments = {"--device", "cuda:0"}};
  if (withSpare) {
    options.spare = process::spareFor(domain::DeviceKind::Cuda, options.command);
  }
  process::WorkerSupervisor supervisor(std::move(options));
  std::vector<process::EvaluationResult> results;
  std::vector<double> seconds;
  bool isLoaded = false;
  bool isStopped = false;
  QObject::connect(&supervisor, &process::WorkerSupervisor::deviceReady, &supervisor, [&] {
    wire::LoadTask load;
    load.task = relu();
    supervisor.load(load);
  });
  QObject::connect(&supervisor, &process::WorkerSupervisor::loaded, &supervisor, [&] { isLoaded = true; });
  QObject::connect(&supervisor, &process::WorkerSupervisor::evaluated, &supervisor,
                   [&](const process::EvaluationResult& result) { results.push_back(result); });
  QObject::connect(&supervisor, &process::WorkerSupervisor::readyAgain, &supervisor,
                   [&](double s) { seconds.push_back(s); });
  QObject::connect(&supervisor, &process::WorkerSupervisor::stopped, &supervisor, [&] { isStopped = true; });
  const auto evaluate = [&](const std::string& ptx) {
    wire::Evaluate message;
    message.plan = plan();
    message.binary = ptx;
    const std::size_t before = results.size();
    supervisor.evaluate(message);
    EXPECT_TRUE(waitFor([&] { return results.size() > before; }, kPatience));
  };
  supervisor.start();
  EXPECT_TRUE(waitFor([&] { return isLoaded; }, kPatience));
  EXPECT_TRUE(!withSpare || waitFor([&] { return supervisor.hasSpare(); }, kPatience));
  evaluate(reluPtx("0x7f0000000000"));
  evaluate(reluPtx("0"));
  EXPECT_TRUE(std::holds_alternative<domain::Crashed>(results.at(0).evaluation));
  EXPECT_NE(domain::asCorrect(results.at(1).evaluation), nullptr) << domain::summary(results.at(1).evaluation);
  supervisor.stop();
  EXPECT_TRUE(waitFor([&] { return isStopped; }, kPatience));
  return seconds.empty() ? -1.0 : seconds.front();
}

TEST(GpuReplacement, AfterAnIllegalAddressTheSpareIsReadyWithinHalfASecond) {
  SWAGE_NEEDS_GPU();
  const double cold = replacementSeconds(false);
  const double warm = replacementSeconds(true);
  std::printf("replacement after a sticky error: %.3f s from scratch, %.3f s with a spare\n", cold, warm);
  EXPECT_GT(cold, 0.0);
  EXPECT_GT(warm, 0.0);
  EXPECT_LT(warm, 0.5);
}

domain::Assurance sanitise(domain::AssuranceKind tool, const std::string& ptx) {
  const std::string sanitizer =
      process::Locations::find(QCoreApplication::applicationDirPath().toStdString()).sanitizer.string();
  const testing::TempDir folder;
  EXPECT_THAT(writeFileAtomically(folder / "plan.json", domain::toJson(plan()).dump()), testing::IsOk());
  EXPECT_THAT(writeFileAtomically(folder / "kernel", ptx), testing::IsOk());
  const std::string command = sanitizer + " --tool " + std::string(sanitizerTool(tool)) +
                              " --report-api-errors no --print-limit 3 " SWAGE_TEST_REPLAY " 0 " +
                              (folder / "plan.json").string() + " " + (folder / "kernel").string() +
                              (tool == domain::AssuranceKind::Racecheck ? " --if-shared-memory" : "") + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  SanitizerRun run;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    run.output.append(buffer.data(), count);
  }
  run.exitCode = WEXITSTATUS(::pclose(pipe));
  const domain::Assurance assurance = readSanitizerRun(tool, run);
  EXPECT_NE(assurance.verdict, domain::AssuranceVerdict::Unavailable) << run.output;
  return assurance;
}

class GpuSanitizer : public ::testing::TestWithParam<domain::AssuranceKind> {};

TEST_P(GpuSanitizer, PassesARightKernel) {
  SWAGE_NEEDS_GPU();
  if (process::Locations::find(QCoreApplication::applicationDirPath().toStdString()).sanitizer.empty()) {
    GTEST_SKIP() << "compute-sanitizer is not installed";
  }
  const domain::Assurance assurance = sanitise(GetParam(), reluPtx("0"));
  EXPECT_EQ(assurance.verdict, domain::AssuranceVerdict::Passed) << assurance.detail;
  EXPECT_EQ(assurance.detail, GetParam() == domain::AssuranceKind::Racecheck ? domain::kNoSharedMemory : "");
}

INSTANTIATE_TEST_SUITE_P(GpuSanitizer, GpuSanitizer,
                         ::testing::Values(domain::AssuranceKind::Memcheck, domain::AssuranceKind::Racecheck,
                                           domain::AssuranceKind::Initcheck));

TEST(GpuSanitizerFinds, AWriteOneElementBehindTheOutput) {
  SWAGE_NEEDS_GPU();
  if (process::Locations::find(QCoreApplication::applicationDirPath().toStdString()).sanitizer.empty()) {
    GTEST_SKIP() << "compute-sanitizer is not installed";
  }
  const domain::Assurance assurance = sanitise(domain::AssuranceKind::Memcheck, reluPtx("4"));
  EXPECT_EQ(assurance.verdict, domain::AssuranceVerdict::Failed) << assurance.detail;
  EXPECT_THAT(assurance.detail, HasSubstr("relu"));
}

}  // namespace
}  // namespace swage::trust
