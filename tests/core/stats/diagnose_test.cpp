// SPDX-License-Identifier: Apache-2.0
#include "core/stats/diagnose.h"

#include <gmock/gmock.h>

namespace swage::stats {
namespace {

using domain::Bound;
using domain::FindingKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

domain::KernelProfile kernelWith(double computePercent, double memoryPercent) {
  domain::KernelProfile kernel;
  kernel.entry = "k";
  kernel.durationNs = 800.0;
  kernel.metrics = {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", computePercent},
                    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", memoryPercent}};
  return kernel;
}

domain::Profile profileOf(std::vector<domain::KernelProfile> kernels) {
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  profile.kernels = std::move(kernels);
  return profile;
}

DiagnosisContext contextOf(double candidateNs, double bytes = 0.0) {
  DiagnosisContext context;
  context.candidateNs = candidateNs;
  context.task.bytes = bytes;
  return context;
}

std::vector<FindingKind> kindsOf(const domain::Diagnosis& diagnosis) {
  std::vector<FindingKind> kinds;
  for (const domain::Finding& finding : diagnosis.findings) {
    kinds.push_back(finding.kind);
  }
  return kinds;
}

TEST(Diagnose, NamesTheUnitThatIsBusyAndLatencyWhereNoneIs) {
  EXPECT_EQ(diagnose(profileOf({kernelWith(20, 93)}), {}).bound, Bound::Memory);
  EXPECT_EQ(diagnose(profileOf({kernelWith(75, 62)}), {}).bound, Bound::Compute);
  EXPECT_EQ(diagnose(profileOf({kernelWith(30, 40)}), {}).bound, Bound::Latency);
  EXPECT_EQ(diagnose(profileOf({domain::KernelProfile{}}), {}).bound, Bound::Unknown);
  EXPECT_EQ(diagnose({}, {}).bound, Bound::Unknown);
}

TEST(Diagnose, SharesTheTimeAmongKernelsAndWhatIsOutsideOfThem) {
  auto twice = kernelWith(20, 93);
  twice.launches = 2;
  const auto diagnosis = diagnose(profileOf({kernelWith(20, 93), twice}), contextOf(4000.0));
  EXPECT_DOUBLE_EQ(diagnosis.kernels[0].share, 0.2);
  EXPECT_DOUBLE_EQ(diagnosis.kernels[1].share, 0.4);
  EXPECT_DOUBLE_EQ(diagnosis.kernelsNs, 2400.0);
  ASSERT_THAT(kindsOf(diagnosis), ElementsAre(FindingKind::OutsideKernels));
  EXPECT_DOUBLE_EQ(*diagnosis.findings[0].gain, 0.4);
}

TEST(Diagnose, DoesNotCallTimeOutsideWhereAKernelWasNotTimed) {
  const auto diagnosis = diagnose(profileOf({kernelWith(20, 93), domain::KernelProfile{}}), contextOf(4000.0));
  EXPECT_DOUBLE_EQ(diagnosis.kernels[0].share, 0.2);
  EXPECT_EQ(diagnosis.kernelsNs, 0.0);
  EXPECT_THAT(kindsOf(diagnosis), IsEmpty());
}

TEST(Diagnose, SharesAddUpToOneWhereTheProfilerMadeKernelsSlower) {
  const auto diagnosis = diagnose(profileOf({kernelWith(20, 93), kernelWith(20, 93)}), contextOf(1000.0));
  EXPECT_DOUBLE_EQ(diagnosis.kernels[0].share + diagnosis.kernels[1].share, 1.0);
  EXPECT_THAT(diagnosis.findings, IsEmpty());
}

TEST(Diagnose, CallsItLaunchesWhereMostTimeIsOutsideOfKernels) {
  EXPECT_EQ(diagnose(profileOf({kernelWith(20, 93)}), contextOf(2000.0)).bound, Bound::Launches);
}

TEST(Diagnose, AStallCostsNoMoreThanTheUnitsAreIdleAndPointsToItsLine) {
  auto kernel = kernelWith(20, 70);
  kernel.metrics.push_back({"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", 80.0});
  kernel.instructions = {{0, "LDG", 37, 10, {{"long_scoreboard", 9.0}}},
                         {16, "FADD", 12, 50, {{"wait", 50.0}}},
                         {32, "LDG", 37, 10, {{"long_scoreboard", 8.0}}}};
  const auto diagnosis = diagnose(profileOf({kernel}), contextOf(800.0));
  ASSERT_THAT(kindsOf(diagnosis), ElementsAre(FindingKind::Stall));
  const domain::Finding& stall = diagnosis.findings[0];
  EXPECT_EQ(stall.detail, "long_scoreboard");
  EXPECT_EQ(stall.line, 37);
  EXPECT_DOUBLE_EQ(stall.measured, 0.8);
  EXPECT_NEAR(*stall.gain, 0.3, 1e-12);
  ASSERT_THAT(diagnosis.kernels[0].lines, SizeIs(2));
  EXPECT_EQ(diagnosis.kernels[0].lines[0].line, 12);
  EXPECT_NEAR(diagnosis.kernels[0].lines[1].share, 20.0 / 70.0, 1e-12);
}

TEST(Diagnose, CountsTrafficBeyondWhatTheTaskNeedsOnlyWhereMemoryIsTheBound) {
  auto kernel = kernelWith(20, 93);
  kernel.metrics.push_back({"dram__bytes_read.sum", 3e6});
  kernel.metrics.push_back({"dram__bytes_write.sum", 1e6});
  const auto diagnosis = diagnose(profileOf({kernel}), contextOf(800.0, 2e6));
  ASSERT_THAT(kindsOf(diagnosis), ElementsAre(FindingKind::ExtraTraffic));
  EXPECT_DOUBLE_EQ(diagnosis.findings[0].measured, 2.0);
  EXPECT_DOUBLE_EQ(*diagnosis.findings[0].gain, 0.5);
  kernel.metrics[1].value = 30.0;
  EXPECT_THAT(diagnose(profileOf({kernel}), contextOf(800.0, 2e6)).findings, IsEmpty());
}

TEST(Diagnose, BlamesOccupancyOnlyWhereWarpsWaitAndSaysWhatLimitsIt) {
  auto kernel = kernelWith(20, 30);
  kernel.theoreticalOccupancy = 0.5;
  kernel.occupancyLimiter = "registers";
  kernel.metrics.push_back({"sm__warps_active.avg.pct_of_peak_sustained_active", 48.0});
  auto diagnosis = diagnose(profileOf({kernel}), contextOf(800.0));
  ASSERT_THAT(kindsOf(diagnosis), ElementsAre(FindingKind::Occupancy));
  EXPECT_EQ(diagnosis.findings[0].detail, "registers");
  EXPECT_DOUBLE_EQ(*diagnosis.findings[0].gain, 0.5);
  kernel.metrics[2].value = 20.0;  // fewer than the limit allows: the grid is too small or ends unevenly
  diagnosis = diagnose(profileOf({kernel}), contextOf(800.0));
  EXPECT_EQ(diagnosis.findings[0].detail, "");
  EXPECT_NEAR(*diagnosis.findings[0].gain, 0.6, 1e-12);
  kernel.metrics[1].value = 90.0;
  EXPECT_THAT(diagnose(profileOf({kernel}), contextOf(800.0)).findings, IsEmpty());
}

TEST(Diagnose, KeepsTheThreeThatCanCostMostAndPutsThoseWithoutAnEstimateLast) {
  auto kernel = kernelWith(20, 70);
  kernel.spillBytes = 64;
  kernel.metrics.push_back({"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 50.0});
  kernel.metrics.push_back({"smsp__sass_average_branch_targets_threads_uniform.pct", 80.0});
  auto diagnosis = diagnose(profileOf({kernel}), contextOf(800.0));
  EXPECT_THAT(kindsOf(diagnosis),
              ElementsAre(FindingKind::PartialSectors, FindingKind::Divergence, FindingKind::Spills));
  EXPECT_FALSE(diagnosis.findings[2].gain);
  diagnosis = diagnose(profileOf({kernel}), contextOf(1200.0));
  EXPECT_THAT(kindsOf(diagnosis),
              ElementsAre(FindingKind::OutsideKernels, FindingKind::PartialSectors, FindingKind::Divergence));
}

class DiagnoseOnACpu : public ::testing::Test {
 protected:
  DiagnoseOnACpu() {
    m_kernel.entry = "k";
    m_kernel.durationNs = 1e6;
    m_context.candidateNs = 1e6;
    m_context.task.bytes = 1e6;
    m_context.device.kind = domain::DeviceKind::Cpu;
    m_context.device.architecture = "x86-64-v3";
    m_context.device.threads = 8;
    m_context.device.copyBytesPerSecond = 1e10;
    domain::KernelFacts facts;
    facts.entry = "k";
    facts.arithmetic = domain::Arithmetic::Packed;
    facts.evidence = {{"arith.ymm", 4}};
    m_context.kernels = {facts};
  }
  [[nodiscard]] domain::Diagnosis diagnosis() const {
    auto profile = profileOf({m_kernel});
    profile.source = domain::ProfileSource::Activity;
    return diagnose(profile, m_context);
  }

  domain::KernelProfile m_kernel;
  DiagnosisContext m_context;
};

TEST_F(DiagnoseOnACpu, WithoutCountersComparesTheBytesWithACopy) {
  EXPECT_EQ(diagnosis().bound, Bound::Unknown);
  EXPECT_DOUBLE_EQ(*diagnosis().copyShare, 0.1);
  m_context.task.bytes = 8e6;
  EXPECT_EQ(diagnosis().bound, Bound::Memory);
  EXPECT_THAT(diagnosis().kernels[0].units, ElementsAre(domain::UnitUse{domain::HardwareUnit::DeviceMemory, 0.8}));
  EXPECT_THAT(diagnosis().findings, IsEmpty());
  m_context.task.bytes = 12e6;  // out of the caches
  EXPECT_DOUBLE_EQ(*diagnosis().copyShare, 1.2);
  EXPECT_DOUBLE_EQ(diagnosis().kernels[0].units[0].share, 1.0);
}

TEST_F(DiagnoseOnACpu, WithoutCountersKnowsThatLargeProductsAreBoundByArithmetic) {
  m_context.task.operations = 100.0 * m_context.task.bytes;
  EXPECT_EQ(diagnosis().bound, Bound::Compute);
}

TEST_F(DiagnoseOnACpu, FindsScalarAndNarrowCode) {
  m_context.kernels[0].evidence = {{"load.scalar", 4}};
  m_context.kernels[0].arithmetic = domain::Arithmetic::Scalar;
  ASSERT_THAT(kindsOf(diagnosis()), ElementsAre(FindingKind::NarrowVectors));
  EXPECT_EQ(diagnosis().findings[0].measured, 0.0);
  EXPECT_EQ(diagnosis().findings[0].detail, "256");
  EXPECT_DOUBLE_EQ(*diagnosis().findings[0].gain, 0.875);
  m_context.kernels[0].evidence = {{"arith.xmm", 4}};
  m_context.kernels[0].arithmetic = domain::Arithmetic::Packed;
  EXPECT_DOUBLE_EQ(*diagnosis().findings[0].gain, 0.5);
  m_context.task.bytes = 8e6;
  EXPECT_THAT(diagnosis().findings, IsEmpty()) << "memory is the bound: wider vectors would wait for it, too";
}

TEST_F(DiagnoseOnACpu, FindsIdleAndWaitingThreads) {
  m_kernel.metrics = {
      {"samples-kernel", 900.0}, {"samples-openmp", 50.0}, {"samples-other", 50.0}, {"samples-parallelism", 2.0}};
  ASSERT_THAT(kindsOf(diagnosis()), ElementsAre(FindingKind::IdleThreads));
  EXPECT_DOUBLE_EQ(*diagnosis().findings[0].gain, 0.75);
  m_kernel.metrics = {
      {"samples-kernel", 400.0}, {"samples-openmp", 600.0}, {"samples-other", 0.0}, {"samples-parallelism", 7.5}};
  ASSERT_THAT(kindsOf(diagnosis()), ElementsAre(FindingKind::ThreadWaits));
  EXPECT_EQ(diagnosis().bound, Bound::Latency);
}

TEST_F(DiagnoseOnACpu, ReadsTheCountersOfTheProcessor) {
  m_kernel.metrics = {{"cycles", 4e6},          {"instructions", 1e6},     {"task-clock", 1e6},
                      {"L1-dcache-loads", 1e5}, {"cache-misses", 31250.0}, {"L1-dcache-load-misses", 3e4},
                      {"branches", 1e5},        {"branch-misses", 1e4}};
  const domain::Diagnosis result = diagnosis();
  const domain::ProcessorUse& use = *result.kernels[0].processor;
  EXPECT_DOUBLE_EQ(*use.instructionsPerCycle, 0.25);
  EXPECT_DOUBLE_EQ(*use.clockHz, 4e9);
  EXPECT_DOUBLE_EQ(*use.memoryBytes, 2e6);
  EXPECT_DOUBLE_EQ(*use.missesPerElement, 0.125);
  EXPECT_EQ(result.bound, Bound::Latency);
  EXPECT_THAT(kindsOf(result),
              ElementsAre(FindingKind::ExtraTraffic, FindingKind::CacheMisses, FindingKind::BranchMisses));
  EXPECT_DOUBLE_EQ(result.findings[0].measured, 2.0);
}

TEST(Diagnose, TakesTheRoofsFromCountersAndDevice) {
  auto kernel = kernelWith(20, 93);
  for (const char* metric :
       {"dram__bytes_read.sum", "dram__bytes_write.sum", "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
        "sm__sass_thread_inst_executed_op_fmul_pred_on.sum", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"}) {
    kernel.metrics.push_back({metric, 1e6});
  }
  kernel.metrics.push_back({"dram__bytes.sum.peak_sustained", 2000.0});
  kernel.metrics.push_back({"dram__cycles_elapsed.avg.per_second", 2e9});
  kernel.metrics.push_back({"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 16000.0});
  kernel.metrics.push_back({"sm__cycles_elapsed.avg.per_second", 1e9});
  DiagnosisContext context;
  context.device.copyBytesPerSecond = 3e12;
  const domain::Roofs roofs = diagnose(profileOf({kernel}), context).roofs;
  EXPECT_EQ(roofs.measuredBytesPerSecond, 3e12);
  EXPECT_EQ(roofs.theoreticalBytesPerSecond, 4e12);
  EXPECT_EQ(roofs.flopsPerSecond, 3.2e13);
}

}  // namespace
}  // namespace swage::stats
