// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_benchmark.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "tests/core/process/fakes.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::engine {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;
using Report = ExportBenchmark::Report;

constexpr const char* kTimes = R"("eager": {"call_us": 5.0, "launch_us": 3.0, "guard_us": 2.1})";

// A shell script in the place of Python keeps the file that it is given.
class ExportBenchmarkTest : public ::testing::Test {
 protected:
  void answer(const std::string& times, const std::string& devices = "[]") {
    const std::filesystem::path python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\ncase \"$3\" in\nprobe) echo '{\"torch\": {\"devices\": " << devices
                          << "}}';;\nbench-export) cp \"$4\" '" << m_folder.path().string()
                          << "'; echo \"{\\\"device\\\": \\\"$6\\\", \\\"calls\\\": $8, \"'" << times << "}';;\nesac\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    m_programs.bridge = {python.string(), "/bridge"};
    m_programs.compilerCommand = testing::fakeCompiler("ok");
  }

  Result<Report> measure(const std::string& target, process::DriverState driver) {
    m_programs.driver = [driver] { return driver; };
    std::optional<Result<Report>> result;
    ExportBenchmark benchmark(m_programs, {.target = target, .calls = 400});
    QObject::connect(&benchmark, &ExportBenchmark::finished, &benchmark, [&](const Result<Report>& report) {
      EXPECT_FALSE(result.has_value());
      result = report;
    });
    benchmark.start();
    EXPECT_TRUE(waitFor([&] { return result.has_value(); }));
    return result.value_or(Error(ErrorKind::Internal, "no report"));
  }

  testing::TempDir m_folder;
  process::Programs m_programs;
};

TEST_F(ExportBenchmarkTest, MeasuresAnExportOnTheCpu) {
  answer(std::string(kTimes) + R"(, "compiled": {"failure": "no compiler"}, "graph": null)");
  const Result<Report> report = measure("auto", process::DriverState::Absent);
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->size(), 1U);
  const ExportBenchmark::DeviceReport& cpu = report->front();
  EXPECT_EQ(cpu.device, "cpu");
  EXPECT_EQ(cpu.calls, 400);
  EXPECT_DOUBLE_EQ(cpu.eager.guardUs, 2.1);
  EXPECT_FALSE(cpu.compiled.has_value());
  EXPECT_EQ(cpu.compiledFailure, "no compiler");
  EXPECT_TRUE(cpu.keepsLimit());
  EXPECT_THAT(readTextFile(m_folder / "relu_cpu.py").value_or(""), HasSubstr("class ModelNew("));
}

TEST_F(ExportBenchmarkTest, MeasuresTheFirstGpuTooWhereThereIsOne) {
  answer(std::string(kTimes) + R"(, "compiled": {"call_us": 20.0, "launch_us": 14.0, "guard_us": 6.0},
                                   "graph": {"call_us": 4.0, "launch_us": 4.0, "guard_us": 0.0})",
         R"([{"capability": [9, 0]}])");
  const Result<Report> report = measure("auto", process::DriverState::Loaded);
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->size(), 2U);
  EXPECT_EQ(report->back().device, "cuda:0");
  EXPECT_TRUE(report->back().graph.has_value());
  EXPECT_FALSE(report->back().keepsLimit()) << "under torch.compile it takes 6 us";
  EXPECT_THAT(readTextFile(m_folder / "relu_cuda.py").value_or(""), HasSubstr("_SWAGE_CAPABILITY = (9, 0)"));
}

TEST_F(ExportBenchmarkTest, SaysWhyThereIsNothingToMeasure) {
  answer(R"("eager": 3)");
  EXPECT_THAT(measure("cuda", process::DriverState::Absent),
              IsError(ErrorKind::Environment, HasSubstr("NVIDIA driver")));
  EXPECT_THAT(measure("cuda", process::DriverState::Loaded), IsError(ErrorKind::Environment, HasSubstr("no GPU")));
  EXPECT_THAT(measure("cpu", process::DriverState::Absent), IsError(ErrorKind::Protocol, HasSubstr("no times")));
}

}  // namespace
}  // namespace swage::engine
