// SPDX-License-Identifier: Apache-2.0
// Exported files run by Python against the module that they replace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/export/project.h"
#include "tests/core/export/fixtures.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::exporting {
namespace {

// Runs a check of tests/core/export/check_modelnew.py on the exported file; returns what it printed.
std::string runCheck(const std::string& check, const ModelNewInput& input) {
  const swage::testing::TempDir folder;
  const auto text = writeModelNew(input);
  EXPECT_THAT(text, swage::testing::IsOk());
  const std::filesystem::path file = folder.path() / "export.py";
  const std::filesystem::path original = folder.path() / "original.py";
  EXPECT_THAT(writeFileAtomically(file, text.value_or("")), swage::testing::IsOk());
  EXPECT_THAT(writeFileAtomically(original, input.taskSource), swage::testing::IsOk());
  const std::string log = (folder.path() / "log.txt").string();
  const std::string command =
      fmt::format("XDG_CACHE_HOME='{}' '{}' '{}/check_modelnew.py' {} '{}' '{}' > '{}' 2>&1", folder.path().string(),
                  SWAGE_TEST_PYTHON, SWAGE_TEST_SCRIPTS, check, file.string(), original.string(), log);
  const int status = std::system(command.c_str());
  return fmt::format("{}{}", readTextFile(log).value_or(""), status == 0 ? "" : fmt::format("exit status {}", status));
}

// Runs a script of an exported folder; returns what it printed.
std::string runProject(const ModelNewInput& input, const std::string& script = "test_modelnew.py") {
  const swage::testing::TempDir folder;
  const auto files = writeProject(input);
  EXPECT_THAT(files, swage::testing::IsOk());
  for (const ExportedFile& file : *files) {
    EXPECT_THAT(writeFileAtomically(folder / file.name, file.content), swage::testing::IsOk());
  }
  const std::string log = (folder / "log.txt").string();
  const std::string command = fmt::format("XDG_CACHE_HOME='{0}' '{1}' '{0}/{3}' > '{2}' 2>&1", folder.path().string(),
                                          SWAGE_TEST_PYTHON, log, script);
  const int status = std::system(command.c_str());
  return fmt::format("{}{}", readTextFile(log).value_or(""), status == 0 ? "" : fmt::format("exit status {}", status));
}

TEST(ExportedProject, PassesItsOwnTest) {
  EXPECT_EQ(runProject(testing::reluExport()), "ModelNew matches Model on 3 seeds\n");
  EXPECT_EQ(runProject(testing::countingLinearExport()), "ModelNew matches Model on 3 seeds\n");
}

TEST(ExportedProject, CallsABatchNormAsTheModuleDoes) {
  EXPECT_EQ(runProject(testing::batchNormExport()), "ModelNew matches Model on 3 seeds\n");
  const auto text = writeModelNew(testing::batchNormExport());
  ASSERT_THAT(text, swage::testing::IsOk());
  EXPECT_THAT(*text, ::testing::HasSubstr("torch.batch_norm("));
  EXPECT_THAT(*text, ::testing::Not(::testing::HasSubstr("legit_functional")));
}

TEST(ExportedProject, TimesItselfAgainstTheModule) {
  EXPECT_THAT(
      runProject(testing::countingLinearExport(), "benchmark.py"),
      ::testing::ContainsRegex("ModelNew +[0-9.]+ us  .median of [0-9]+.\n"
                               "eager +[0-9.]+ us  .median of [0-9]+.\n"
                               "torch.compile +[0-9.]+ us  .median of [0-9]+.\n"
                               "ModelNew is [0-9.]+x against [a-z.]+. These are plain timings, not the verified "
                               "ones of README.md.\n"));
}

TEST(ExportedProject, DoesNotTimeTheModuleInPlaceOfItsKernels) {
  ModelNewInput input = testing::reluExport();
  input.program.source = "this is not C++\n";
  EXPECT_THAT(runProject(input, "benchmark.py"), ::testing::HasSubstr("original operators run instead"));
}

TEST(ExportedProject, FailsItsOwnTestWhenAKernelIsWrong) {
  ModelNewInput input = testing::reluExport();
  input.program.source.replace(input.program.source.find("> 0.0f"), 6, "> 0.5f");
  EXPECT_THAT(runProject(input), ::testing::HasSubstr("AssertionError: seed 0, output 0"));
}

TEST(ExportedProject, FailsItsOwnTestWhenTheKernelsDoNotRun) {
  ModelNewInput input = testing::reluExport();
  input.program.source = "this is not C++\n";
  EXPECT_THAT(runProject(input), ::testing::HasSubstr("original operators run instead"));
}

TEST(ExportedFile, ComputesWhatTheModuleComputes) {
  EXPECT_EQ(runCheck("relu", testing::reluExport()), "ok\n");
}

TEST(ExportedFile, KeepsStateGradientsAndNestedResults) {
  EXPECT_EQ(runCheck("counting", testing::countingLinearExport()), "ok\n");
}

TEST(ExportedFile, NoticesReplacedParametersOfManyLayers) {
  EXPECT_EQ(runCheck("deep", testing::deepExport()), "ok\n");
}

TEST(ExportedFile, CapturesThePlanOnceForEachState) {
  ModelNewInput input = testing::deepExport();
  input.program.language = domain::Language::CudaCpp;
  input.program.plan.isCaptured = true;
  EXPECT_EQ(runCheck("captured", input), "ok\n");
}

TEST(ExportedFile, IsTheModuleItselfWherePytorchWins) {
  for (const char* mode : {"eager", "compile"}) {
    ModelNewInput input = testing::countingLinearExport();
    input.pytorchMode = mode;
    EXPECT_EQ(runCheck("pytorch", input), "ok\n") << mode;
  }
}

TEST(ExportedFile, RunsItsChecksOnceForEachWayInWhichTensorsCome) {
  EXPECT_EQ(runCheck("cases", testing::countingLinearExport()), "ok\n");
}

TEST(ExportedFile, RunsHooksOnce) {
  EXPECT_EQ(runCheck("hooks", testing::reluExport()), "ok\n");
}

TEST(ExportedFile, IsTheOriginalToTorchCompile) {
  EXPECT_EQ(runCheck("traced", testing::reluExport()), "ok\n");
}

TEST(ExportedFile, RunsTheOriginalOperatorsWhenTheKernelsCannotBeCompiled) {
  ModelNewInput input = testing::reluExport();
  input.program.source = "this is not C++\n";
  EXPECT_EQ(runCheck("uncompilable", input), "ok\n");
}

TEST(ExportedFile, EncodesTensorMapsOnceForEachAddress) {
#ifdef SWAGE_FAKE_CUDA_FOLDER
  ::setenv("LD_LIBRARY_PATH", SWAGE_FAKE_CUDA_FOLDER, 1);
  EXPECT_EQ(runCheck("maps", testing::mapExport()), "ok\n");
  ::unsetenv("LD_LIBRARY_PATH");
#else
  GTEST_SKIP() << "there are no CUDA headers to build the fake driver with";
#endif
}

TEST(ExportedFile, IsCompiledForAnotherGpu) {
#ifdef SWAGE_TEST_CUDA_HOME
  ::setenv("SWAGE_CUDA_HOME", SWAGE_TEST_CUDA_HOME, 1);
  // PyTorch also says on standard error that it finds no GPU.
  EXPECT_THAT(runCheck("other_device", testing::reluExport(domain::DeviceKind::Cuda)), ::testing::EndsWith("ok\n"));
#else
  GTEST_SKIP() << "there is no nvcc";
#endif
}

TEST(ExportedFile, TakesLargeTensorsInHugePages) {
  ModelNewInput input = testing::reluExport();
  input.taskSource.replace(input.taskSource.find("batch_size = 16\ndim = 64"), 24, "batch_size = 1024\ndim = 4096");
  const auto tensor = domain::contiguousTensor(domain::ScalarType::Float32, {1024, 4096});
  input.task.graph.values = {tensor, tensor};
  input.program.plan.buffers = {tensor, tensor};
  std::get<domain::KernelStep>(input.program.plan.steps[0]).arguments[2] = domain::Int32{1024 * 4096};
  EXPECT_EQ(runCheck("large", input), "ok\n");
}

}  // namespace
}  // namespace swage::exporting
