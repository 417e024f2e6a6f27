// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_data.h"

#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

namespace swage::testing {
namespace {

using domain::Cell;
using services::CandidateDetail;
using services::CandidateRow;
using services::CellSummary;

constexpr double kBaselineNs = 1.214e6;
constexpr double kRoofNs = 4.1e5;
constexpr double kSearchSeconds = 54.0;
constexpr int kCandidates = 742;

constexpr const char* kSource = R"(// softmax over rows of [2048, 1024]: one pass for maximum and sum, one to write
#include <cmath>
#include <cstdint>

#define LANES 16
#define ROWS_PER_TASK 4

namespace {

// Running maximum and scaled sum of one row; merging two is associative.
struct Partial {
  float maximum;
  float sum;
};

inline Partial merge(Partial a, Partial b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

}  // namespace

extern "C" void softmax_rows(void** arguments) {
  const float* __restrict__ x = *static_cast<const float* const*>(arguments[0]);
  float* __restrict__ y = *static_cast<float* const*>(arguments[1]);
  const std::int64_t rows = 2048, columns = 1024;

#pragma omp parallel for schedule(static, ROWS_PER_TASK)
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float maximum[LANES], sum[LANES];
    for (int lane = 0; lane < LANES; ++lane) {
      maximum[lane] = -INFINITY;
      sum[lane] = 0.0f;
    }
    for (std::int64_t i = 0; i < columns; i += LANES) {
#pragma omp simd
      for (int lane = 0; lane < LANES; ++lane) {
        const float value = in[i + lane];
        const float next = fmaxf(maximum[lane], value);
        sum[lane] = sum[lane] * expf(maximum[lane] - next) + expf(value - next);
        maximum[lane] = next;
      }
    }
    Partial total{maximum[0], sum[0]};
    for (int lane = 1; lane < LANES; ++lane) {
      total = merge(total, {maximum[lane], sum[lane]});
    }
    const float scale = 1.0f / total.sum;
    for (std::int64_t i = 0; i < columns; ++i) {
      out[i] = expf(in[i] - total.maximum) * scale;
    }
  }
}
)";

constexpr const char* kAssembly = R"(softmax_rows:
  push   rbp
  mov    rbp, rsp
  vmovups zmm0, ZMMWORD PTR [rdi+rax*4]
  vmaxps zmm2, zmm1, zmm0
  vsubps zmm0, zmm0, zmm2
  vfmadd231ps zmm3, zmm0, zmm4
  vmovups ZMMWORD PTR [rsi+rax*4], zmm3
  ret
)";

bool isReachableOnCpu(const Cell& cell) {
  return cell.arithmetic != domain::Arithmetic::TensorCore && cell.movement != domain::DataMovement::Pipelined;
}

bool isHopeless(const Cell& cell) {
  return cell.movement == domain::DataMovement::Staged && cell.decomposition == domain::Decomposition::InterBlock;
}

// Wider, packed and single launches are faster, as on a real machine.
double typicalSpeedup(const Cell& cell) {
  return 0.55 * std::exp2(0.55 * static_cast<double>(cell.movement)) *
         (cell.arithmetic == domain::Arithmetic::Packed ? 1.45 : 1.0) *
         (cell.decomposition == domain::Decomposition::OneLaunch ? 1.35 : 1.0);
}

domain::Evaluation failureOf(int kind) {
  switch (kind) {
    case 0: return domain::Duplicate{domain::CandidateId(12), "binary"};
    case 1: return domain::CompileFailed{domain::CompileFailureReason::Error, "kernel.cpp:31: error: no match"};
    case 2: return domain::Wrong{0, 4711, 0.0123, 0.0119, "error", {}, {}};
    case 3: return domain::TimedOut{"running", 5.0};
    default: return domain::Crashed{11, "segmentation fault in softmax_rows"};
  }
}

domain::Timing timingOf(int samples, int discarded, double medianNs, double lowNs, double highNs) {
  domain::Timing timing;
  timing.samples = samples;
  timing.discarded = discarded;
  timing.medianNs = medianNs;
  timing.lowNs = lowNs;
  timing.highNs = highNs;
  timing.minNs = lowNs * 0.98;
  timing.stopReason = "precise";
  timing.clock = "device events";
  // Most samples about the median, a few slower ones, one of them far away.
  std::minstd_rand random(7);
  std::normal_distribution<double> spread(0.0, 2.0 * (highNs - lowNs));
  for (std::size_t i = 0; i < domain::kKeptSamples; ++i) {
    const double slower = i % 17 == 5 ? 0.04 * medianNs : i == 40 ? medianNs : 0.0;
    timing.sequenceNs.push_back(medianNs + spread(random) + slower);
    const int clock = i < 30 ? 1980 : i < 40 ? 1905 : 1965;
    timing.conditions.looks.push_back({clock, 48 + static_cast<int>(i) / 20, i >= 30 && i < 40});
  }
  return timing;
}

domain::Evaluation successOf(const CandidateRow& row) {
  domain::Correct correct;
  correct.errors = {{0, row.relativeError, 3.1e-7, 1.9e-7, 4.0e-7}};
  correct.timing.candidate = timingOf(120, 3, row.timeNs, row.lowNs, row.highNs);
  correct.timing.eager = timingOf(120, 5, 1.31e6, 1.30e6, 1.33e6);
  correct.timing.speedup = 1.31e6 / row.timeNs;
  correct.timing.speedupLow = correct.timing.speedup * 0.985;
  correct.timing.speedupHigh = correct.timing.speedup * 1.012;
  return correct;
}

domain::LaunchPlan demoPlan() {
  domain::LaunchPlan plan;
  const domain::TensorType matrix = domain::contiguousTensor(domain::ScalarType::Float32, {2048, 1024});
  plan.buffers = {matrix, matrix};
  plan.inputs = {domain::ValueId(0)};
  plan.outputs = {domain::ValueId(1)};
  domain::KernelStep step;
  step.entry = "softmax_rows";
  step.arguments = {domain::ValueId(0), domain::ValueId(1)};
  plan.steps = {step};
  return plan;
}

CandidateDetail detailOf(const CandidateRow& row) {
  CandidateDetail detail;
  detail.row = row;
  detail.program.source = kSource;
  detail.program.plan = demoPlan();
  detail.assembly = kAssembly;
  detail.genome.emplace().regions = {{{0}, "row_block", {{"lanes", 16}, {"rows_per_task", 4}, {"unroll", 2}}}};
  domain::KernelFacts facts;
  facts.entry = "softmax_rows";
  if (row.cell) {
    facts.movement = row.cell->movement;
    facts.arithmetic = row.cell->arithmetic;
  }
  facts.evidence = {{"vmovups zmm", 12}, {"vfmadd231ps zmm", 48}, {"vmaxps zmm", 8}, {"call expf", 0}};
  detail.kernels = {facts};
  const int kind = static_cast<int>(row.id.value() % 5);
  detail.evaluation = row.status == domain::CandidateStatus::Correct ? successOf(row) : failureOf(kind);
  return detail;
}

CandidateRow makeRow(int number, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  constexpr std::array kMakers = {domain::OperatorKind::Synthesis, domain::OperatorKind::Parameter,
                                  domain::OperatorKind::Parameter, domain::OperatorKind::PatternSwap,
                                  domain::OperatorKind::Crossover, domain::OperatorKind::Aimed};
  CandidateRow row;
  row.id = domain::CandidateId(number);
  row.run = kDemoRun;
  row.island = number % 4;
  row.madeBy = kMakers[static_cast<std::size_t>(uniform(random) * kMakers.size())];
  row.elapsedSeconds = kSearchSeconds * number / kCandidates;
  Cell cell = Cell::fromIndex(static_cast<int>(uniform(random) * domain::kCellCount));
  while (!isReachableOnCpu(cell) || cell.index() % 13 == 5) {
    cell = Cell::fromIndex(static_cast<int>(uniform(random) * domain::kCellCount));
  }
  row.cell = cell;
  const bool isCorrect = !isHopeless(cell) && uniform(random) < 0.72;
  if (isCorrect) {
    const double learnt = 0.7 + 0.3 * (1.0 - std::exp(-row.elapsedSeconds / 12.0));
    row.status = domain::CandidateStatus::Correct;
    const double speedup = typicalSpeedup(cell) * learnt * (0.8 + 0.2 * uniform(random));
    row.timeNs = kBaselineNs / speedup;
    row.lowNs = row.timeNs * (1.0 - 0.012 * uniform(random));
    row.highNs = row.timeNs * (1.0 + 0.015 * uniform(random));
    row.speedup = {speedup, kBaselineNs / row.highNs, kBaselineNs / row.lowNs};
    row.relativeError = 1.1e-7 * (1.0 + uniform(random));
    row.roofShare = kRoofNs / row.timeNs;
    row.registers = 24 + static_cast<int>(uniform(random) * 40);
  } else {
    const domain::Evaluation evaluation = failureOf(number % 5);
    row.status = domain::statusOf(evaluation);
    row.summary = domain::summary(evaluation);
    if (row.status == domain::CandidateStatus::CompileFailed) {
      row.cell.reset();
    }
  }
  if (number > 4) {
    row.parents = {domain::CandidateId(number - 3)};
  }
  return row;
}

void fillCells(FakeRecordService& record) {
  record.cellRows.resize(domain::kCellCount);
  for (int i = 0; i < domain::kCellCount; ++i) {
    CellSummary& cell = record.cellRows[static_cast<std::size_t>(i)];
    cell.cell = Cell::fromIndex(i);
    cell.state = isReachableOnCpu(cell.cell) ? CellSummary::State::Empty : CellSummary::State::Unavailable;
  }
  record.cellRows = record.gather(std::nullopt, kSearchSeconds);
}

void fillHistory(FakeRecordService& record) {
  domain::Speedup best;
  for (const CandidateRow& row : record.rows) {
    if (domain::ranksBefore(row.speedup, best)) {
      best = row.speedup;
      record.points.push_back({row.elapsedSeconds, best, row.id});
    }
  }
}

void fillRun(FakeRecordService& record) {
  services::RunSummary run;
  run.id = kDemoRun;
  run.taskName = "softmax_rows";
  run.deviceName = "Example CPU, 2 cores";
  run.target = "cpu";
  run.status = domain::RunStatus::Finished;
  run.elapsedSeconds = kSearchSeconds;
  run.evaluations = static_cast<std::int64_t>(record.rows.size());
  run.correct = std::count_if(record.rows.begin(), record.rows.end(),
                              [](const CandidateRow& row) { return row.status == domain::CandidateStatus::Correct; });
  run.best = record.points.back().candidate;
  run.bestSpeedup = record.points.back().speedup;
  run.bestTimeNs = kBaselineNs / run.bestSpeedup.value;
  run.baselineMode = "compile";
  run.baselineNs = kBaselineNs;
  record.runRows = {run};
}

}  // namespace

void fillDemo(FakeRecordService& record) {
  std::mt19937 random(20);
  for (int number = 1; number <= kCandidates; ++number) {
    record.rows.push_back(makeRow(number, random));
  }
  fillCells(record);
  fillHistory(record);
  fillRun(record);
  domain::Baseline compile;
  compile.mode = "compile";
  compile.timing.medianNs = kBaselineNs;
  record.baselineRows = {compile};
  record.makeDetail = detailOf;
}

services::Progress demoProgress(const FakeRecordService& record) {
  const services::RunSummary& run = record.runRows.front();
  services::Progress progress;
  progress.state = services::RunState::Running;
  progress.stage = "compiling 2, verifying 1";
  progress.elapsedSeconds = kSearchSeconds;
  progress.budgetSeconds = 60.0;
  progress.evaluations = run.evaluations;
  progress.correct = run.correct;
  progress.perSecond = 13.7;
  progress.bestSpeedup = run.bestSpeedup;
  progress.best = run.best;
  progress.filledCells = 14;
  return progress;
}

std::vector<services::PatternInfo> demoPatterns() {
  return {{.id = "row",
           .language = "C++",
           .family = "row",
           .description = "Reduction over the innermost axis, one row after another",
           .sourceFile = "kernel.cpp",
           .source = "extern \"C\" void SWAGE_ENTRY(void** arguments) {\n  // one row after another\n}\n",
           .parameters = {{"lanes", {1, 4, 8, 16}, 8, "elements of one step"},
                          {"rows_per_task", {1, 2, 4, 8, 16, 32}, 4, "rows a thread takes at once"}},
           .facts = {{"movement", "A1"}}},
          {.id = "row_warp",
           .language = "CUDA C++",
           .family = "row",
           .description = "Reduction over the innermost axis, one warp for each row",
           .sourceFile = "kernel.cu",
           .source = "extern \"C\" __global__ void SWAGE_ENTRY(float* out, const float* in) {}\n",
           .parameters = {{"vector_width", {1, 2, 4}, 4, "elements of one load"}},
           .facts = {}},
          {.id = "map",
           .language = "CUDA C++",
           .family = "map",
           .description = "Pointwise chain: one pass over all elements",
           .sourceFile = "kernel.cu",
           .source = "extern \"C\" __global__ void SWAGE_ENTRY(float* out, const float* in) {}\n",
           .parameters = {},
           .facts = {}}};
}

std::vector<services::DoctorCheck> demoChecks() {
  using Status = services::DoctorCheck::Status;
  return {{"C++ compiler", Status::Ok, "g++ 12.2.0 at /usr/bin/g++", "apt install g++", true},
          {"sandbox", Status::Warning, "bwrap was not found", "apt install bubblewrap", false},
          {"NVIDIA driver", Status::Failed, "no device: CUDA targets cannot be searched",
           "install NVIDIA's driver 580 or newer where there is a GPU", false}};
}

}  // namespace swage::testing
