// SPDX-License-Identifier: Apache-2.0
#include "core/judge/judge.h"

#include <gmock/gmock.h>

#include <functional>

namespace swage::judge {
namespace {

using domain::KernelStep;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

const RuleBook& rules() {
  static const RuleBook book = [] {
    auto loaded = RuleBook::load({SWAGE_TEST_RULES});
    EXPECT_TRUE(loaded) << loaded.error().message();
    return std::move(*loaded);
  }();
  return book;
}

domain::KernelFacts compiled(std::string entry, domain::DataMovement movement, domain::Arithmetic arithmetic,
                             int registers, std::int64_t spillBytes = 0) {
  domain::KernelFacts facts;
  facts.entry = std::move(entry);
  facts.movement = movement;
  facts.arithmetic = arithmetic;
  facts.registers = registers;
  facts.spillBytes = spillBytes;
  return facts;
}

domain::Wrong wrongBy(std::string rule, std::string detail = {}) {
  domain::Wrong wrong;
  wrong.rule = std::move(rule);
  wrong.detail = std::move(detail);
  return wrong;
}

domain::Wrong wrongAt(int output, std::int64_t element, double expected, double actual) {
  domain::Wrong wrong = wrongBy("error");
  wrong.output = output;
  wrong.element = element;
  wrong.expected = expected;
  wrong.actual = actual;
  return wrong;
}

// One kernel on an H100 that reads and writes 64 MiB at half of what the hardware allows, nothing wrong with it.
struct Bench {
  Bench() {
    device.kind = domain::DeviceKind::Cuda;
    device.multiprocessors = 132;
    device.computeCapability = 90;
    device.sharedBytesPerBlock = 232448;
    device.copyBytesPerSecond = 2e12;
    task.bytes = 128.0 * 1024 * 1024;
    task.roofNs = 67000.0;
    program.language = domain::Language::CudaCpp;
    const auto tensor = domain::contiguousTensor(domain::ScalarType::Float32, {4096, 4096});
    program.plan.buffers = {tensor, tensor};
    program.plan.inputs = {domain::ValueId(0)};
    program.plan.outputs = {domain::ValueId(1)};
    addStep("k", 0, 1);
    kernels = {compiled("k", domain::DataMovement::Wide, domain::Arithmetic::Scalar, 32)};
    time(2.0);
  }
  void addStep(const std::string& entry, int from, int to) {
    KernelStep step;
    step.entry = entry;
    step.grid = {132 * 8 * 8, 1, 1};
    step.block = {256, 1, 1};
    step.arguments = {domain::ValueId(from), domain::ValueId(to)};
    program.plan.steps.emplace_back(step);
  }
  void time(double overRoof, double launchNs = 2000.0) {
    domain::Correct correct;
    correct.timing.candidate.medianNs = task.roofNs * overRoof;
    correct.timing.speedup = 1.5;
    correct.timing.launchNs = launchNs;
    evaluation = correct;
  }
  KernelStep& step() { return std::get<KernelStep>(program.plan.steps.front()); }
  // A profile in which nothing is busy, and these numbers.
  void profileWith(const std::vector<domain::ProfileMetric>& metrics, double memoryPercent = 40.0) {
    profile.emplace();
    profile->source = domain::ProfileSource::Counters;
    domain::KernelProfile& kernel = profile->kernels.emplace_back();
    kernel.entry = "k";
    kernel.durationNs = std::get<domain::Correct>(evaluation).timing.candidate.medianNs;
    kernel.metrics = {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20.0},
                      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", memoryPercent}};
    kernel.metrics.insert(kernel.metrics.end(), metrics.begin(), metrics.end());
  }
  [[nodiscard]] std::vector<domain::Advice> advice() const {
    return judge(rules(), {.program = &program,
                           .kernels = &kernels,
                           .evaluation = &evaluation,
                           .profile = profile ? &*profile : nullptr,
                           .device = &device,
                           .task = task});
  }

  domain::DeviceInfo device;
  stats::Roofline task;
  domain::Program program;
  std::vector<domain::KernelFacts> kernels;
  domain::Evaluation evaluation;
  std::optional<domain::Profile> profile;
};

Bench onCpu() {
  Bench bench;
  bench.device = {};
  bench.device.kind = domain::DeviceKind::Cpu;
  bench.device.architecture = "x86-64-v4";
  bench.device.threads = 8;
  bench.device.copyBytesPerSecond = 5e10;
  bench.task.roofNs = 2.7e6;
  bench.kernels = {compiled("k", domain::DataMovement::Wide, domain::Arithmetic::Packed, 0)};
  bench.kernels[0].evidence = {{"arith.zmm", 4}, {"load.zmm", 4}};
  bench.time(1.0);
  return bench;
}

std::vector<std::string> idsOf(const std::vector<domain::Advice>& advice) {
  std::vector<std::string> ids;
  for (const domain::Advice& one : advice) {
    ids.push_back(one.rule);
  }
  return ids;
}

domain::ProfileMetric stall(std::string reason, double percent) {
  return {"smsp__warp_issue_stalled_" + std::move(reason) + "_per_warp_active.pct", percent};
}

struct Symptom {
  const char* rule;
  std::function<void(Bench&)> show;
};
// How each rule's case differs from a bench with which nothing is wrong.
const Symptom kCudaSymptoms[] = {
    {"idle_tensor_cores", [](Bench& b) { b.task.operations = 200.0 * b.task.bytes; }},
    {"slow_tensor_cores",
     [](Bench& b) {
       b.task.operations = 200.0 * b.task.bytes;
       b.kernels[0].arithmetic = domain::Arithmetic::TensorCore;
       b.profileWith({{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 30.0}});
     }},
    {"uncoalesced_access",
     [](Bench& b) {
       b.profileWith({{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 25.0}}, 90.0);
     }},
    {"narrow_access",
     [](Bench& b) {
       b.kernels[0].movement = domain::DataMovement::Direct;
       b.kernels[0].evidence = {{"ld.global", 4}, {"st.global", 4}};
     }},
    {"bank_conflicts",
     [](Bench& b) {
       b.kernels[0].staticSharedBytes = 4096;
       b.profileWith({stall("short_scoreboard", 15.0),
                      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 60.0},
                      {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 100.0}});
     }},
    {"shared_memory_stalls",
     [](Bench& b) {
       b.kernels[0].staticSharedBytes = 4096;
       b.profileWith({stall("short_scoreboard", 40.0)});
     }},
    {"mio_stalls", [](Bench& b) { b.profileWith({stall("mio_throttle", 40.0)}); }},
    {"occupancy_registers", [](Bench& b) { b.kernels[0].registers = 168; }},
    {"occupancy_shared_memory", [](Bench& b) { b.step().dynamicSharedBytes = 100000; }},
    {"occupancy_block",
     [](Bench& b) {
       b.step().block = {1024, 1, 1};
       b.kernels[0].registers = 40;
     }},
    {"spills", [](Bench& b) { b.kernels[0].spillBytes = 96; }},
    {"too_few_blocks",
     [](Bench& b) {
       b.step().grid = {16, 1, 1};
     }},
    {"tail_effect",
     [](Bench& b) {
       b.step().grid = {132 * 8 + 1, 1, 1};
     }},
    {"long_scoreboard", [](Bench& b) { b.profileWith({stall("long_scoreboard", 70.0)}); }},
    {"barrier_stalls", [](Bench& b) { b.profileWith({stall("barrier", 30.0)}); }},
    {"low_issue_rate",
     [](Bench& b) {
       b.profileWith({{"sm__inst_executed.sum", 132.0 * 1000 * 4 * 0.1}, {"sm__cycles_active.avg", 1000.0}});
     }},
    {"l2_bound",
     [](Bench& b) {
       b.profileWith({{"lts__throughput.avg.pct_of_peak_sustained_active", 85.0},
                      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 20.0}},
                     85.0);
     }},
    {"measured_overfetch",
     [](Bench& b) {
       b.profileWith({{"dram__bytes_read.sum", 2.0 * b.task.bytes}, {"dram__bytes_write.sum", b.task.bytes}}, 90.0);
     }},
    {"divergence",
     [](Bench& b) {
       b.profileWith({{"smsp__sass_average_branch_targets_threads_uniform.pct", 50.0}});
     }},
    {"launch_bound",
     [](Bench& b) {
       b.addStep("k", 0, 1);
       b.time(1.0, 20000.0);
     }},
    {"outside_kernels",
     [](Bench& b) {
       b.profileWith({});
       b.profile->kernels[0].durationNs *= 0.3;
     }},
    {"intermediate_traffic",
     [](Bench& b) {
       b.program.plan.buffers.push_back(b.program.plan.buffers[0]);
       b.addStep("second", 1, 2);
     }},
    {"many_regions", [](Bench& b) { b.addStep("second", 0, 1); }},
    {"far_from_roof", [](Bench& b) { b.time(1.5); }},
};
const Symptom kCpuSymptoms[] = {
    {"narrow_vectors",
     [](Bench& b) {
       b.kernels[0].evidence = {{"arith.ymm", 4}, {"load.ymm", 4}};
       b.time(2.0);
     }},
    {"scalar_arithmetic",
     [](Bench& b) {
       b.kernels = {compiled("k", domain::DataMovement::Direct, domain::Arithmetic::Scalar, 0)};
       b.time(3.0);
     }},
    {"cache_line_sharing", [](Bench& b) { b.kernels[0].evidence["lock"] = 2; }},
    {"far_from_bandwidth", [](Bench& b) { b.time(3.0); }},
    {"idle_threads",
     [](Bench& b) {
       b.profileWith({{"samples-parallelism", 2.0}});
       b.profile->kernels[0].metrics = {{"samples-parallelism", 2.0}};
     }},
    {"thread_waits",
     [](Bench& b) {
       b.profileWith({});
       b.profile->kernels[0].metrics = {{"samples-kernel", 60.0}, {"samples-openmp", 40.0}, {"samples-other", 0.0}};
     }},
    {"cache_misses",
     [](Bench& b) {
       b.time(4.0);
       b.profileWith({});
       b.profile->kernels[0].metrics = {{"L1-dcache-load-misses", 30.0},
                                        {"L1-dcache-loads", 100.0},
                                        {"stalled-cycles-backend", 70.0},
                                        {"cycles", 100.0}};
     }},
    {"slow_product",
     [](Bench& b) {
       b.task.operations = 100.0 * b.task.bytes;
       b.profileWith({});
       b.profile->kernels[0].metrics = {{"instructions", 100.0}, {"cycles", 100.0}};
     }},
};

TEST(Judge, SeesEachSymptomOfAGpu) {
  for (const Symptom& symptom : kCudaSymptoms) {
    Bench bench;
    bench.time(2.0);
    symptom.show(bench);
    EXPECT_THAT(idsOf(bench.advice()), Contains(symptom.rule));
  }
}

TEST(Judge, SeesEachSymptomOfAProcessor) {
  for (const Symptom& symptom : kCpuSymptoms) {
    Bench bench = onCpu();
    EXPECT_THAT(idsOf(bench.advice()), Not(Contains(symptom.rule)));
    symptom.show(bench);
    EXPECT_THAT(idsOf(bench.advice()), Contains(symptom.rule));
  }
}

TEST(Judge, SaysNothingOfAKernelAtItsRoof) {
  Bench bench;
  bench.time(1.02);
  EXPECT_THAT(idsOf(bench.advice()), IsEmpty());
  EXPECT_THAT(idsOf(onCpu().advice()), IsEmpty());
}

TEST(Judge, KnowsAllOptimisationRulesByASymptom) {
  std::vector<std::string> shown;
  for (const Symptom& symptom : kCudaSymptoms) {
    shown.emplace_back(symptom.rule);
  }
  for (const Symptom& symptom : kCpuSymptoms) {
    shown.emplace_back(symptom.rule);
  }
  for (const Rule& rule : rules().all()) {
    if (rule.pass == domain::AdvicePass::Optimisation) {
      EXPECT_THAT(shown, Contains(rule.id));
    }
  }
}

TEST(Judge, NamesOneCauseOfStallsOnSharedMemory) {
  const auto rulesWith = [](double conflicts, double wavefronts) {
    Bench bench;
    bench.kernels[0].staticSharedBytes = 4096;
    bench.profileWith({stall("short_scoreboard", 40.0)});
    if (wavefronts > 0.0) {
      auto& metrics = bench.profile->kernels[0].metrics;
      metrics.push_back({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", conflicts});
      metrics.push_back({"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", wavefronts});
    }
    std::vector<std::string> found;
    for (const std::string& id : idsOf(bench.advice())) {
      if (id == "bank_conflicts" || id == "shared_memory_stalls" || id == "mio_stalls") {
        found.push_back(id);
      }
    }
    return found;
  };
  EXPECT_EQ(rulesWith(60.0, 100.0), std::vector<std::string>{"bank_conflicts"});
  EXPECT_EQ(rulesWith(5.0, 100.0), std::vector<std::string>{"mio_stalls"});
  EXPECT_EQ(rulesWith(0.0, 0.0), std::vector<std::string>{"shared_memory_stalls"}) << "nobody has counted";
}

TEST(Judge, WeighsAKernelByItsShareOfTheTime) {
  Bench bench;
  bench.step().grid = {16, 1, 1};
  bench.addStep("other", 0, 1);
  const auto gain = [&bench] {
    const auto advice = bench.advice();
    const auto found = std::find_if(advice.begin(), advice.end(),
                                    [](const domain::Advice& one) { return one.rule == "too_few_blocks"; });
    return found == advice.end() ? 0.0 : found->expectedGain.value_or(0.0);
  };
  EXPECT_DOUBLE_EQ(gain(), 1.0 / (1.0 - 0.5 * 0.5)) << "one kernel of two; its time may be halved";
  bench.profileWith({});
  bench.profile->kernels[0].durationNs *= 0.1;
  bench.profile->kernels.emplace_back().entry = "other";  // there was no time for it
  EXPECT_NEAR(gain(), 1.0 / (1.0 - 0.1 * 0.5), 1e-9);
}

TEST(Judge, PutsTheLargestGainFirstAndWhatHasNoEstimateLast) {
  Bench bench;
  bench.kernels[0].spillBytes = 96;
  bench.step().grid = {16, 1, 1};
  const auto advice = bench.advice();
  EXPECT_EQ(idsOf(advice), (std::vector<std::string>{"too_few_blocks", "spills", "far_from_roof"}));
  EXPECT_EQ(advice[0].expectedGain, 2.0);  // no more than the roof allows
  EXPECT_EQ(advice[0].bottleneck, "k has 16 blocks for 132 multiprocessors.");
  EXPECT_EQ(advice[0].kernel, "k");
  ASSERT_EQ(advice[1].evidence.size(), 2U);
  EXPECT_EQ(advice[1].evidence[0], (domain::AdviceEvidence{"spilled a thread", 96.0, "bytes"}));
  EXPECT_EQ(advice[2].expectedGain, std::nullopt);
}

TEST(Judge, NamesTheKernelWhereItPromisesMost) {
  Bench bench;
  bench.addStep("second", 0, 1);
  bench.kernels.push_back(compiled("second", domain::DataMovement::Wide, domain::Arithmetic::Scalar, 64, 200));
  bench.kernels[0].spillBytes = 8;
  const auto advice = bench.advice();
  const auto spills = std::find_if(advice.begin(), advice.end(), [](const auto& one) { return one.rule == "spills"; });
  ASSERT_NE(spills, advice.end());
  EXPECT_EQ(spills->kernel, "second");
}

domain::Advice firstOf(const domain::Evaluation& evaluation) {
  Bench bench;
  bench.evaluation = evaluation;
  const auto advice = bench.advice();
  EXPECT_FALSE(advice.empty());
  return advice.empty() ? domain::Advice() : advice.front();
}

TEST(Judge, ReadsTheCompilersFirstMistake) {
  const auto advice = firstOf(domain::CompileFailed{
      .reason = domain::CompileFailureReason::Error,
      .log = "source.cpp:14:14: error: 'summe' was not declared in this scope\n   14 |   double z = summe;\n"});
  EXPECT_EQ(advice.rule, "compile_undeclared");
  EXPECT_EQ(advice.pass, domain::AdvicePass::Functional);
  EXPECT_EQ(advice.line, 14);
  EXPECT_EQ(advice.bottleneck, "The compiler: 'summe' was not declared in this scope.");
}

TEST(Judge, SaysWhereAndHowMuchIsWrong) {
  domain::Wrong wrong = wrongAt(0, 2 * 4096 + 3, 2.0, 5.0);
  auto advice = firstOf(wrong);
  EXPECT_EQ(advice.rule, "wrong_value");
  EXPECT_EQ(advice.bottleneck, "Output 0 is 5 at [2, 3] instead of 2.");
  wrong.actual = 2.001;
  EXPECT_EQ(firstOf(wrong).rule, "wrong_precision");
  wrong.actual = 0.0;
  EXPECT_EQ(firstOf(wrong).rule, "wrong_zero");
  EXPECT_EQ(firstOf(wrongBy("unwritten")).rule, "wrong_unwritten");
  EXPECT_EQ(firstOf(wrongBy("nan")).rule, "wrong_nan");
  EXPECT_EQ(firstOf(wrongBy("lost nan")).rule, "wrong_lost_nan");
  EXPECT_EQ(firstOf(wrongBy("red zone", "8 bytes behind")).rule, "wrong_red_zone");
  EXPECT_EQ(firstOf(wrongBy("input modified")).rule, "wrong_input_modified");
  EXPECT_EQ(firstOf(wrongBy("shape")).rule, "wrong_output");
}

domain::Wrong wrongFirstAt(const std::vector<std::int64_t>& elements) {
  domain::Wrong wrong = wrongAt(0, elements.front(), 2.0, 5.0);
  for (const std::int64_t element : elements) {
    wrong.first.push_back(
        {.element = element, .place = {element / 4096, element % 4096}, .expected = 2.0, .actual = 5.0});
  }
  return wrong;
}

TEST(Judge, SeesThatOnlyTheEndIsWrong) {
  constexpr std::int64_t kAll = std::int64_t{4096} * 4096;
  auto advice = firstOf(wrongFirstAt({kAll - 3, kAll - 2, kAll - 1}));
  EXPECT_EQ(advice.rule, "wrong_tail");
  EXPECT_EQ(advice.evidence.size(), 2U);
  advice = firstOf(wrongFirstAt({4095, 4096 + 4094, 4096 + 4095}));
  EXPECT_EQ(advice.rule, "wrong_row_ends");
  EXPECT_EQ(firstOf(wrongFirstAt({4095})).rule, "wrong_value") << "one row says nothing";
  EXPECT_EQ(firstOf(wrongFirstAt({3, 4096 + 4095})).rule, "wrong_value");
  EXPECT_EQ(firstOf(wrongFirstAt({kAll})).rule, "wrong_value") << "there is no such element";
}

TEST(Judge, HasAFixForEveryWayToFail) {
  EXPECT_EQ(firstOf(domain::Rejected{"rule", "detail"}).rule, "refused");
  EXPECT_EQ(firstOf(domain::LaunchFailed{"k", "too many resources"}).rule, "launch_resources");
  EXPECT_EQ(firstOf(domain::Crashed{11, "SIGSEGV"}).rule, "crash");
  EXPECT_EQ(firstOf(domain::TimedOut{"verify", 20.0}).rule, "timeout");
  EXPECT_EQ(firstOf(domain::Cheating{"floor", "too fast"}).rule, "refused");
  EXPECT_EQ(firstOf(domain::Unstable{"differs"}).rule, "unstable");
  EXPECT_EQ(firstOf(domain::CompileFailed{domain::CompileFailureReason::Timeout, "60 s"}).rule, "compile_limit");
  EXPECT_EQ(firstOf(domain::CompileFailed{domain::CompileFailureReason::Error, "something"}).rule, "compile_error");
}

TEST(Judge, HasNothingToSayOfADuplicateOrOfWhatHasNotEnded) {
  Bench bench;
  bench.evaluation = domain::Duplicate{};
  EXPECT_THAT(bench.advice(), IsEmpty());
  EXPECT_THAT(judge(rules(), {}), IsEmpty());
}

// Plans come from records, too: a case that does not fit together must not read out of range.
TEST(Judge, SurvivesACaseThatDoesNotFitTogether) {
  Bench bench;
  bench.program.plan.outputs = {domain::ValueId(77)};
  bench.program.plan.inputs = {domain::ValueId()};
  bench.step().arguments = {domain::ValueId(99)};
  EXPECT_THAT(idsOf(bench.advice()), Not(Contains("intermediate_traffic")));
  bench.evaluation = wrongAt(5, 12, 1.0, 2.0);
  EXPECT_EQ(bench.advice().front().rule, "wrong_output");
}

}  // namespace
}  // namespace swage::judge
