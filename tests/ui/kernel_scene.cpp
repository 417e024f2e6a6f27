// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/kernel_scene.h"

#include "core/base/files.h"
#include "tests/ui/demo_data.h"

namespace swage::testing {
namespace {

struct Sample {
  const char* text;
  int line;
  std::int64_t samples;
  std::vector<domain::ProfileMetric> stalls{};
};

// What an H200 would be seen to wait for.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = {
      {"LDC R1, c[0x0][0x28] ;", 3, 2, {}},
      {"S2R R0, SR_CTAID.X ;", 7, 4, {}},
      {"S2R R3, SR_TID.X ;", 5, 3, {}},
      {"LDG.E.128.CONSTANT R8, [R6.64] ;", 7, 31, {{"lg_throttle", 18}, {"wait", 6}}},
      {"FMNMX R2, R8, R9, !PT ;", 8, 412, {{"long_scoreboard", 396}, {"wait", 11}}},
      {"FMNMX R4, R10, R11, !PT ;", 8, 12, {{"wait", 9}}},
      {"SHFL.BFLY PT, R5, R2, 0x10, 0x1f ;", 10, 38, {{"short_scoreboard", 21}}},
      {"FMNMX R2, R2, R5, !PT ;", 10, 57, {{"short_scoreboard", 48}}},
      {"@!P0 STS [R13], R2 ;", 12, 9, {{"mio_throttle", 5}}},
      {"BAR.SYNC.DEFER_BLOCKING 0x0 ;", 13, 141, {{"barrier", 133}}},
      {"LDS.128 R16, [R12] ;", 15, 22, {{"mio_throttle", 12}}},
      {"FMNMX R2, R2, R16, !PT ;", 15, 44, {{"short_scoreboard", 37}}},
      {"FADD R8, R8, -R2 ;", 17, 13, {{"wait", 8}}},
      {"MUFU.EX2 R20, R8 ;", 17, 36, {{"math_pipe_throttle", 20}}},
      {"FADD R24, R20, R21 ;", 18, 17, {{"wait", 10}}},
      {"SHFL.BFLY PT, R25, R24, 0x10, 0x1f ;", 20, 33, {{"short_scoreboard", 19}}},
      {"BAR.SYNC.DEFER_BLOCKING 0x0 ;", 24, 96, {{"barrier", 90}}},
      {"MUFU.RCP R26, R24 ;", 29, 15, {{"wait", 9}}},
      {"FMUL R20, R20, R26 ;", 30, 11, {{"wait", 6}}},
      {"STG.E.128 [R14.64], R20 ;", 30, 88, {{"lg_throttle", 61}, {"drain", 20}}},
      {"EXIT ;", 31, 24, {{"drain", 23}}},
  };
  return kSamples;
}

domain::Profile demoProfile() {
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  domain::KernelProfile kernel;
  kernel.entry = "softmax_rows";
  std::int64_t offset = 0;
  for (const Sample& sample : samples()) {
    kernel.instructions.push_back({offset, sample.text, sample.line, sample.samples, sample.stalls});
    offset += 16;
  }
  profile.kernels = {kernel};
  return profile;
}

std::string dataFile(const char* name) {
  return readTextFile(std::filesystem::path(SWAGE_UI_DATA) / name).value_or(std::string());
}

void breakIt(services::CandidateDetail& detail) {
  detail.row.status = domain::CandidateStatus::CompileFailed;
  detail.row.summary = "compile error: identifier \"fmaxx\" is undefined";
  detail.row.cell.reset();
  detail.row.timeNs = 0.0;
  detail.row.speedup = {};
  detail.row.registers = 0;
  detail.row.madeBy = domain::OperatorKind::Human;
  detail.assembly.clear();
  std::string& source = detail.program.source;
  if (const std::size_t at = source.find("fmaxf(fmaxf("); at != std::string::npos) {
    source.replace(at, 5, "fmaxx");
  }
  if (const std::size_t at = source.find("const int warp = threadIdx.x >> 5;"); at != std::string::npos) {
    source.insert(at, "int unused = 3;\n  ");
  }
  detail.evaluation = domain::CompileFailed{domain::CompileFailureReason::Error,
                                            R"(source.cu(9): error: identifier "fmaxx" is undefined
    float maximum = fmaxx(fmaxf(in.x, in.y), fmaxf(in.z, in.w));
                    ^

source.cu(6): warning #177-D: variable "unused" was declared but never referenced
    int unused = 3;
        ^

1 error detected in the compilation of "source.cu".
)"};
}

services::RegionParameters demoRegion() {
  services::RegionParameters region;
  region.pattern = "row_shared";
  region.description = "One block for each row; the row stays in shared memory between its passes.";
  region.nodes = {0, 1, 2};
  region.parameters = {{"threads", "Threads of a block", {32, 64, 128, 256, 512, 1024}, 256, 128},
                       {"vector_bits", "Width of one load or store", {32, 64, 128}, 128, 128},
                       {"unroll", "Elements in flight for each thread", {1, 2, 4, 8}, 4, 2},
                       {"fused", "Passes that share one loop", {0, 1}, 1, 0}};
  return region;
}

}  // namespace

void fillKernel(FakeRecordService& record, FakeEditService& edits, KernelScene scene) {
  fillDemo(record);
  record.makeDetail = [scene](const services::CandidateRow& row) {
    services::CandidateDetail detail;
    detail.row = row;
    detail.row.cell = domain::Cell::parse("A2B0C1");
    detail.row.registers = 22;
    detail.program.language = domain::Language::CudaCpp;
    detail.program.source = dataFile("softmax_rows.cu");
    detail.assembly = dataFile("softmax_rows.ptx");
    domain::KernelStep step;
    step.entry = "softmax_rows";
    step.grid = {4096, 1, 1};
    step.block = {256, 1, 1};
    detail.program.plan.steps = {step};
    detail.genome.emplace().regions = {
        {{0, 1, 2}, "row_shared", {{"threads", 256}, {"vector_bits", 128}, {"unroll", 4}, {"fused", 1}}}};
    if (scene == KernelScene::Failed) {
      breakIt(detail);
    }
    return detail;
  };
  if (scene == KernelScene::Profiled) {
    record.makeProfile = [](domain::CandidateId) { return demoProfile(); };
  }
  edits.regionRows = {demoRegion()};
}

}  // namespace swage::testing
