// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_comparison.h"

#include <algorithm>

namespace swage::testing {
namespace {

// clang-format off: it would indent the text
constexpr const char* kAncestor = R"(// softmax over rows of [2048, 1024]
#include <cuda_runtime.h>

constexpr int kColumns = 1024;

__device__ float rowMax(const float* row, int lane) {
  float best = -INFINITY;
  for (int i = lane; i < kColumns; i += 32) {
    best = fmaxf(best, row[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    best = fmaxf(best, __shfl_xor_sync(~0u, best, offset));
  }
  return best;
}

extern "C" __global__ void softmax_rows(const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const int lane = threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float best = rowMax(x + row * kColumns, lane);
  float sum = 0.0f;
  for (int i = lane; i < kColumns; i += 32) {
    sum += expf(x[row * kColumns + i] - best);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(~0u, sum, offset);
  }
  for (int i = lane; i < kColumns; i += 32) {
    y[row * kColumns + i] = expf(x[row * kColumns + i] - best) / sum;
  }
}
)";
// clang-format on

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The left one multiplies instead of dividing and uses the fast exponential.
std::string leftSource() {
  std::string text = replaced(kAncestor, "    sum += expf(x[", "    sum += __expf(x[");
  text = replaced(text, "  for (int i = lane; i < kColumns; i += 32) {\n    y[",
                  "  const float scale = 1.0f / sum;\n  for (int i = lane; i < kColumns; i += 32) {\n    y[");
  return replaced(text, "= expf(x[row * kColumns + i] - best) / sum;",
                  "= __expf(x[row * kColumns + i] - best) * scale;");
}

// The right one keeps the row in registers.
std::string rightSource() {
  std::string text = replaced(kAncestor, "// softmax over rows", "// softmax in registers over rows");
  text = replaced(text, "constexpr int kColumns = 1024;",
                  "constexpr int kColumns = 1024;\nconstexpr int kPerLane = kColumns / 32;");
  text = replaced(text, "  float sum = 0.0f;\n",
                  "  float kept[kPerLane];  // the row is read once\n  float sum = 0.0f;\n");
  text = replaced(text, "    sum += expf(x[row * kColumns + i] - best);\n",
                  "    kept[i / 32] = __expf(x[row * kColumns + i] - best);\n    sum += kept[i / 32];\n");
  return replaced(text, "expf(x[row * kColumns + i] - best) / sum;", "kept[i / 32] / sum;");
}

domain::KernelStep step(const char* entry, std::uint32_t blocks) {
  domain::KernelStep kernel;
  kernel.entry = entry;
  kernel.grid.x = blocks;
  kernel.block.x = 32;
  kernel.block.y = 8;
  kernel.arguments = {domain::ValueId(0), domain::ValueId(1)};
  return kernel;
}

void shape(services::CandidateDetail& detail, const DemoComparison& demo) {
  const bool isLeft = detail.row.id == demo.left;
  const bool isRight = detail.row.id == demo.right;
  detail.program.language = domain::Language::CudaCpp;
  detail.program.source = isLeft ? leftSource() : isRight ? rightSource() : kAncestor;
  detail.assembly = isRight ? "  ld.global.f32 %f1, [%rd1];\n  ex2.approx.f32 %f2, %f1;\n  st.global.f32 [%rd2], %f2;\n"
                            : "  ld.global.f32 %f1, [%rd1];\n  st.global.f32 [%rd2], %f1;\n";
  detail.program.plan.steps.clear();
  if (isLeft) {
    detail.program.plan.steps.emplace_back(domain::ZeroStep{domain::ValueId(1)});
  }
  detail.program.plan.steps.emplace_back(step("softmax_rows", isRight ? 128 : 256));
  detail.genome.emplace().regions = {{{0, 1}, "row_block", {{"rows", isRight ? 4 : 8}, {"unroll", 2}}}};
  if (isRight) {
    detail.genome->regions.front().parameters["keep"] = 1;
  }
  domain::KernelFacts& facts = detail.kernels.front();
  facts.registers = isRight ? 56 : 32;
  detail.row.registers = facts.registers;
}

services::CandidateRow& rowOf(FakeRecordService& record, domain::CandidateId id) {
  return *std::find_if(record.rows.begin(), record.rows.end(), [id](const auto& row) { return row.id == id; });
}

}  // namespace

DemoComparison fillDemoComparison(FakeRecordService& record) {
  std::vector<domain::CandidateId> correct;
  for (const services::CandidateRow& row : record.rows) {
    if (row.status == domain::CandidateStatus::Correct) {
      correct.push_back(row.id);
    }
  }
  const DemoComparison demo{correct[0], correct[1], correct[2]};
  const double time = rowOf(record, demo.left).timeNs;
  for (const auto& [id, share] :
       {std::pair(demo.ancestor, 1.2), std::pair(demo.left, 1.0), std::pair(demo.right, 0.88)}) {
    services::CandidateRow& row = rowOf(record, id);
    row.timeNs = time * share;
    row.lowNs = row.timeNs * 0.995;
    row.highNs = row.timeNs * 1.006;
    row.speedup = {1.6 / share, 1.59 / share, 1.61 / share};
  }
  const auto makeDetail = record.makeDetail;
  record.makeDetail = [makeDetail, demo](const services::CandidateRow& row) {
    services::CandidateDetail detail = makeDetail(row);
    if (row.id == demo.ancestor || row.id == demo.left || row.id == demo.right) {
      shape(detail, demo);
    }
    return detail;
  };
  return demo;
}

}  // namespace swage::testing
