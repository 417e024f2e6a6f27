// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "core/device/cupti_profiler.h"
#include "tests/support/result_matchers.h"

// The flow of CUPTI's calls against a library that stands in for it (tests/fake_cupti).
namespace swage::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Cupti : public ::testing::Test {
 protected:
  void SetUp() override {
    behave("");
    auto library = CuptiLibrary::open(SWAGE_FAKE_CUPTI);
    ASSERT_THAT(library, testing::IsOk());
    m_library = std::move(*library);
    m_profiler = std::make_unique<CuptiProfiler>(m_library, nullptr, 0, hooks());
  }
  void TearDown() override {
    m_profiler.reset();
    behave("");
  }
  static void behave(const char* how) { ::setenv("FAKE_CUPTI", how, 1); }
  MeasuringHooks hooks() {
    return {[this]() -> DeviceStatus {
              m_log += "c";
              return std::nullopt;
            },
            [this]() -> DeviceStatus {
              m_log += "s";
              return std::nullopt;
            }};
  }
  Profiler::Program program() {
    return [this](const Profiler::Bracket& bracket) {
      m_log += "(";
      DeviceStatus status = bracket([this] {
        m_log += "k";
        return m_launchStatus;
      });
      m_log += ")";
      return status;
    };
  }

  CuptiLibrary m_library;
  std::unique_ptr<CuptiProfiler> m_profiler;
  std::string m_log;
  DeviceStatus m_launchStatus;
};

TEST_F(Cupti, RunsTheProgramOnceForEachPassWithCleanCaches) {
  const auto report = m_profiler->counters(program());
  ASSERT_TRUE(report) << report.error().cause;
  EXPECT_EQ(report->passes, 3);
  EXPECT_EQ(m_log, "(cks)(cks)(cks)");
}

TEST_F(Cupti, CountsOneKernelAfterTheOther) {
  EXPECT_TRUE(m_profiler->counters(program()));
  const auto report = m_profiler->counters(program());
  ASSERT_TRUE(report) << report.error().cause;
  EXPECT_EQ(report->passes, 3);
}

TEST_F(Cupti, NamesTheMetricsThatTheChipLacksAndTakesTheirSuccessors) {
  const auto report = m_profiler->counters(program());
  ASSERT_TRUE(report) << report.error().cause;
  EXPECT_THAT(report->unknown, ElementsAre("l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"));
  double value = -1;
  for (std::size_t i = 0; i < report->values.size(); ++i) {
    EXPECT_EQ(report->values[i].value, static_cast<double>(i));
    EXPECT_THAT(report->values[i].name, ::testing::Not(HasSubstr("pipe_fp32")));
    value = report->values[i].name == "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"
                ? report->values[i].value
                : value;
  }
  EXPECT_GT(value, 0);
}

TEST_F(Cupti, LeavesOutBankConflictsWhereTheyCannotBeCountedWithTheRest) {
  const auto hasConflicts = [](const CounterReport& report) {
    return std::any_of(report.values.begin(), report.values.end(), [](const domain::ProfileMetric& metric) {
      return metric.name == "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
    });
  };
  behave("no-conflicts");
  const auto without = m_profiler->counters(program());
  ASSERT_TRUE(without) << without.error().cause;
  EXPECT_FALSE(hasConflicts(*without));
  EXPECT_EQ(without->unknown.size(), 2U) << "which is not worth a word";
  behave("");
  m_profiler.reset();
  m_profiler = std::make_unique<CuptiProfiler>(m_library, nullptr, 0, hooks());
  const auto with = m_profiler->counters(program());
  ASSERT_TRUE(with) << with.error().cause;
  EXPECT_TRUE(hasConflicts(*with));
  EXPECT_EQ(with->values.size(), without->values.size() + 2U);
}

TEST_F(Cupti, BracketsLaunchesItselfWhereTheProfilerDoesNot) {
  behave("no-launch");
  const auto report = m_profiler->counters(program());
  ASSERT_TRUE(report) << report.error().cause;
  EXPECT_EQ(report->passes, 3);
}

TEST_F(Cupti, SaysWhatToDoWithoutPrivileges) {
  behave("privileges");
  const auto report = m_profiler->counters(program());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().cause, HasSubstr("only administrators"));
  EXPECT_THAT(report.error().cause, HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
  EXPECT_THAT(report.error().fix, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  const auto begun = m_profiler->beginSampling();
  ASSERT_FALSE(begun);
  EXPECT_FALSE(begun.error().poisoned);
}

TEST_F(Cupti, SaysThatAnotherProfilerHasTheHardware) {
  behave("busy");
  const auto report = m_profiler->counters(program());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().cause, HasSubstr("another profiler uses the counters"));
  behave("");
  EXPECT_TRUE(m_profiler->counters(program())) << "later it works";
}

TEST_F(Cupti, EndsWithWhatTheKernelFailedWith) {
  m_launchStatus = DeviceFailure{"an illegal memory access", true};
  const auto report = m_profiler->counters(program());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().cause, "an illegal memory access");
  EXPECT_TRUE(report.error().poisoned);
}

TEST_F(Cupti, SamplesByInstructionAndReason) {
  ASSERT_TRUE(m_profiler->beginSampling());
  const auto report = m_profiler->samples(program(), "kernel", "a cubin");
  ASSERT_TRUE(report) << report.error().cause;
  EXPECT_EQ(report->samples, 28000) << "two instructions, two runs: enough";
  ASSERT_EQ(report->instructions.size(), 2U) << "those of the other kernel are not ours";
  const domain::InstructionSamples& second = report->instructions[1];
  EXPECT_EQ(second.offset, 16);
  EXPECT_EQ(second.samples, 14000);
  EXPECT_THAT(second.stalls,
              ElementsAre(domain::ProfileMetric{"long_scoreboard", 8000}, domain::ProfileMetric{"wait", 6000}));
  EXPECT_EQ(report->instructions[0].line, 1);
  EXPECT_EQ(second.line, 0) << "it comes from a header";
}

TEST_F(Cupti, CountsAfterItHasSampled) {
  ASSERT_TRUE(m_profiler->beginSampling());
  ASSERT_TRUE(m_profiler->samples(program(), "kernel", "a cubin"));
  EXPECT_TRUE(m_profiler->counters(program()));
  EXPECT_FALSE(m_profiler->beginSampling()) << "the hardware is taken";
  EXPECT_FALSE(m_profiler->samples(program(), "kernel", "a cubin"));
}

TEST(CuptiLibrary, ThatIsNotThereIsNamed) {
  EXPECT_THAT(CuptiLibrary::open("/nowhere/libcupti.so.13"),
              testing::IsError(ErrorKind::Environment, HasSubstr("/nowhere/libcupti.so.13")));
}

}  // namespace
}  // namespace swage::device
