// SPDX-License-Identifier: Apache-2.0
#include "core/export/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/sha256.h"
#include "core/domain/json.h"
#include "tests/core/export/fixtures.h"
#include "tests/core/export/golden.h"
#include "tests/support/result_matchers.h"

namespace swage::exporting {
namespace {

using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::ElementsAre;
using testing::expectGolden;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<ExportedFile> exported(const ModelNewInput& input) {
  auto files = writeProject(input);
  EXPECT_THAT(files, IsOk());
  return files ? std::move(*files) : std::vector<ExportedFile>();
}

std::vector<std::string> namesOf(const std::vector<ExportedFile>& files) {
  std::vector<std::string> names;
  for (const ExportedFile& file : files) {
    names.push_back(file.name);
  }
  return names;
}

std::string contentOf(const std::vector<ExportedFile>& files, const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.name == name; });
  EXPECT_NE(found, files.end()) << name;
  return found == files.end() ? std::string() : found->content;
}

TEST(Project, WritesTheGoldenFolderOfASmallPlan) {
  const std::vector<ExportedFile> files = exported(testing::reluExport());
  EXPECT_THAT(namesOf(files), ElementsAre("README.md", "modelnew.py", "kernels.cpp", "launch_plan.json", "original.py",
                                          "test_modelnew.py", "benchmark.py", "provenance.json"));
  for (const ExportedFile& file : files) {
    if (file.name != "modelnew.py") {  // which is the same as by itself
      expectGolden("relu_project/" + file.name, file.content);
    }
  }
  EXPECT_EQ(contentOf(files, "modelnew.py"), writeModelNew(testing::reluExport()).value_or(""));
}

TEST(Project, CudaKernelsAreACudaFile) {
  const std::vector<ExportedFile> files = exported(testing::reluExport(domain::DeviceKind::Cuda));
  const std::string source = contentOf(files, "kernels.cu");
  EXPECT_THAT(source, ::testing::StartsWith("// SPDX-License-Identifier: MIT-0\n"));
  EXPECT_THAT(source, HasSubstr("extern \"C\" __global__ void relu_kernel"));
  EXPECT_THAT(contentOf(files, "README.md"), HasSubstr("| `kernels.cu` |"));
}

TEST(Project, WhatIsPyTorchsOwnHasNoKernelFile) {
  ModelNewInput input = testing::reluExport();
  input.program.source.clear();
  input.program.plan.steps = {domain::AtenStep{input.task.graph.nodes.front()}};
  const std::vector<ExportedFile> files = exported(input);
  EXPECT_THAT(namesOf(files), Not(::testing::Contains("kernels.cpp")));
  EXPECT_THAT(contentOf(files, "README.md"), Not(HasSubstr("kernels.cpp")));
}

TEST(Project, TheLaunchPlanCanBeReadBack) {
  const ModelNewInput input = testing::reluExport(domain::DeviceKind::Cuda);
  const auto json = domain::parseJson(contentOf(exported(input), "launch_plan.json"));
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ((*json)["entries"], domain::Json({"relu_kernel"}));
  const auto plan = domain::launchPlanFromJson((*json)["plan"]);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(*plan, input.program.plan);
}

TEST(Project, TheProvenanceHasTheHashOfEveryOtherFile) {
  const std::vector<ExportedFile> files = exported(testing::countingLinearExport());
  const auto json = domain::parseJson(contentOf(files, "provenance.json"));
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ((*json)["files"].size(), files.size() - 1);
  EXPECT_EQ((*json)["files"]["modelnew.py"], sha256Hex(contentOf(files, "modelnew.py")));
  EXPECT_EQ((*json)["versions"]["compiler"], "test-cc 1.2");
  EXPECT_EQ((*json)["parents"], domain::Json({12, 15}));
}

TEST(Project, SaysWhereItsKernelsWereCompiledWithoutASandbox) {
  ModelNewInput input = testing::countingLinearExport();
  EXPECT_THAT(contentOf(exported(input), "README.md"), ::testing::Not(HasSubstr("sandbox")));
  input.provenance.sandbox = "none";
  const std::vector<ExportedFile> files = exported(input);
  EXPECT_THAT(contentOf(files, "README.md"), HasSubstr("compiled without a sandbox"));
  EXPECT_THAT(contentOf(files, "modelnew.py"), HasSubstr("compiled without a sandbox"));
  EXPECT_EQ((*domain::parseJson(contentOf(files, "provenance.json")))["sandbox"], "none");
}

TEST(Project, TheOriginalHasTheConstantsThatItWasSearchedWith) {
  const std::string original = contentOf(exported(testing::countingLinearExport()), "original.py");
  EXPECT_THAT(original, HasSubstr("\nscale = 2.0\n"));
  EXPECT_THAT(original, HasSubstr("class Model(nn.Module):"));
  EXPECT_THAT(original, HasSubstr("def get_inputs():"));
  EXPECT_THAT(original, ::testing::StartsWith("from __future__ import annotations"));
}

TEST(Project, SaysWhenItIsNotKnownToBeFaster) {
  ModelNewInput input = testing::reluExport();
  EXPECT_THAT(contentOf(exported(input), "README.md"), Not(HasSubstr("No significant difference")));
  input.provenance.speedup = {1.01, 0.98, 1.04};
  EXPECT_THAT(contentOf(exported(input), "README.md"), HasSubstr("No significant difference from PyTorch."))
      << "of the fastest baseline; eager is slower";
}

TEST(Project, SaysTheSpeedupAgainstTheFastestBaselineFirst) {
  ModelNewInput input = testing::reluExport();
  EXPECT_THAT(contentOf(exported(input), "README.md"),
              HasSubstr("\n1.25x (1.20 to 1.31) against the fastest baseline (compile), "
                        "1.50x (1.46 to 1.54) against eager. Against float64: "));
  input.provenance.speedup = {1.5, 1.46, 1.54};
  input.provenance.baselineMode = "eager";
  const std::string readme = contentOf(exported(input), "README.md");
  EXPECT_THAT(readme, HasSubstr("\n1.50x (1.46 to 1.54) against the fastest baseline (eager). Against float64: "));
  EXPECT_THAT(readme, Not(HasSubstr("against eager")));
  input.provenance.speedup = {};
  EXPECT_THAT(contentOf(exported(input), "README.md"),
              HasSubstr("\n1.50x (1.46 to 1.54) against eager. No significant difference from PyTorch. "));
}

TEST(Project, TheProvenanceHasTheSpeedupAndItsBaseline) {
  ModelNewInput input = testing::reluExport();
  auto json = domain::parseJson(contentOf(exported(input), "provenance.json"));
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ((*json)["speedup"], domain::Json({{"value", 1.25}, {"low", 1.2}, {"high", 1.31}}));
  EXPECT_EQ((*json)["baseline"], "compile");
  input.provenance.speedup = {};
  input.provenance.baselineMode.clear();
  json = domain::parseJson(contentOf(exported(input), "provenance.json"));
  ASSERT_THAT(json, IsOk());
  EXPECT_TRUE((*json)["speedup"].is_null());
  EXPECT_TRUE((*json)["baseline"].is_null());
}

TEST(Project, ACellOfATableStaysOne) {
  ModelNewInput input = testing::reluExport();
  input.device.name = "a | b\nc";
  EXPECT_THAT(contentOf(exported(input), "README.md"), HasSubstr("| device | a \\| b c (test-1, driver 580.1) |\n"));
}

TEST(Project, RefusesWhatTheModuleFileRefuses) {
  ModelNewInput input = testing::reluExport();
  input.task.source.className = "Other";
  EXPECT_THAT(writeProject(input), IsError(ErrorKind::NotFound, HasSubstr("no class Other")));
}

TEST(Project, OfPytorchsOwnWayHoldsTheModuleAlone) {
  ModelNewInput input = testing::reluExport();
  input.pytorchMode = "compile";
  const auto files = exported(input);
  EXPECT_THAT(namesOf(files), ElementsAre("README.md", "modelnew.py", "original.py", "provenance.json"));
  EXPECT_THAT(contentOf(files, "README.md"), HasSubstr("PyTorch's own way, torch.compile, so `ModelNew`"));
}

}  // namespace
}  // namespace swage::exporting
