// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine_benchmark.h"

#include <fstream>

#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using testing::IsError;
using testing::IsOk;
using ::testing::SizeIs;
using testing::waitFor;
using Report = EngineBenchmark::Report;

class EngineBenchmarkTest : public testing::SessionFixture {
 protected:
  Result<Report> measure(int processes, const std::string& gpuMonitor = {}) {
    std::optional<Result<Report>> result;
    EngineBenchmark benchmark(m_parts, {m_spec, processes, gpuMonitor});
    QObject::connect(&benchmark, &EngineBenchmark::finished, &benchmark,
                     [&](const Result<Report>& report) { result = report; });
    benchmark.start();
    EXPECT_TRUE(waitFor([&] { return result.has_value(); }));
    return result.value_or(Error(ErrorKind::Internal, "no report"));
  }
};

TEST_F(EngineBenchmarkTest, CountsTheSearchAndMeasuresTheWinnerInFreshProcesses) {
  const Result<Report> report = measure(3);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->run.evaluations, 20);
  EXPECT_GT(report->stages.compiled, 0);
  EXPECT_GT(report->stages.evaluated, 0);
  EXPECT_GT(report->searchSeconds, 0.0);
  EXPECT_TRUE(report->winner.isValid());
  EXPECT_THAT(report->freshMediansNs, SizeIs(3));
  EXPECT_EQ(report->freshSpread, 0.0) << "the fake worker's times depend on the candidate alone";
  EXPECT_FALSE(report->gpuBusyShare.has_value());
}

TEST_F(EngineBenchmarkTest, SamplesHowBusyTheGpuIsWhereThereIsOne) {
  const auto tool = m_folder / "nvidia-smi";
  std::ofstream(tool) << "#!/bin/sh\nwhile true; do echo 80; echo 60; sleep 0.05; done\n";
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  m_spec.maxEvaluations = 0;
  m_spec.timeBudgetSeconds = 0.5;
  m_spaceSize = 100000;
  const Result<Report> report = measure(0, tool.string());
  ASSERT_THAT(report, IsOk());
  ASSERT_TRUE(report->gpuBusyShare.has_value());
  EXPECT_NEAR(*report->gpuBusyShare, 0.7, 0.1);
  EXPECT_GT(report->gpuSamples, 0);
}

TEST_F(EngineBenchmarkTest, SaysWhyThereIsNothingToMeasure) {
  m_spec.task = (m_folder / "nowhere.swage").string();
  EXPECT_THAT(measure(1), IsError(ErrorKind::InvalidInput, ::testing::HasSubstr("nowhere.swage")));
}

}  // namespace
}  // namespace swage::engine
