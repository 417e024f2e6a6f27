// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "tests/compiler/test_toolchain.h"

// Which cell the kernels of data/ land in, decided by what the compilers of this machine make of them.
namespace swage::toolchain {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Pair;

struct Golden {
  std::string file;
  std::string cell;
  std::string evidence;  // one thing that must have been counted
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.file;
}

std::string nameOf(const ::testing::TestParamInfo<Golden>& info) {
  return info.param.file.substr(0, info.param.file.find('.'));
}

std::string cellOf(const domain::CompiledBinary& binary) {
  return domain::classify(binary.kernels, 1).name();
}

std::string printed(const domain::CompiledBinary& binary) {
  std::string text;
  for (const domain::KernelFacts& facts : binary.kernels) {
    for (const auto& [what, count] : facts.evidence) {
      text += fmt::format("{}={} ", what, count);
    }
  }
  return text + "\n" + binary.assembly;
}

class CudaCells : public ::testing::TestWithParam<Golden> {};

TEST_P(CudaCells, AreReadFromCompiledCode) {
  SWAGE_NEEDS_NVRTC();
  const auto binary = compiled(cudaRequest(dataFile("cuda/" + GetParam().file)));
  EXPECT_EQ(cellOf(binary), GetParam().cell) << printed(binary);
  ASSERT_EQ(binary.kernels.size(), 1U);
  EXPECT_THAT(binary.kernels[0].evidence, Contains(Key(GetParam().evidence))) << printed(binary);
  EXPECT_GT(binary.kernels[0].registers, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Data, CudaCells,
    ::testing::Values(Golden{"naive.cu", "A0B0C1", "ld.global"}, Golden{"unrolled.cu", "A0B0C1", "ld.global"},
                      Golden{"linear_index.cu", "A0B0C1", "ld.global"}, Golden{"float4.cu", "A1B0C1", "ld.global.v4"},
                      Golden{"tiled.cu", "A2B0C1", "ld.shared"}, Golden{"cp_async.cu", "A3B0C1", "cp.async"},
                      Golden{"half2.cu", "A0B1C1", "fma.f16x2"}, Golden{"called_function.cu", "A0B1C1", "shfl.sync"},
                      Golden{"tensor_core.cu", "A0B2C1", "mma.sync"},
                      Golden{"shuffle_atomic.cu", "A0B1C2", "nctaid.loop"},
                      Golden{"grid_stride.cu", "A0B0C2", "nctaid.loop"}, Golden{"cluster.cu", "A0B0C2", "cluster"},
                      Golden{"tensor_map.cu", "A3B0C1", "cp.async.bulk"},
                      Golden{"warp_group.cu", "A0B2C1", "wgmma.mma_async"}),
    nameOf);

class CpuCells : public ::testing::TestWithParam<Golden> {};

TEST_P(CpuCells, AreReadFromCompiledCode) {
  const auto binary = compiled(cpuRequest(dataFile("cpu/" + GetParam().file)));
  EXPECT_EQ(cellOf(binary), GetParam().cell) << printed(binary);
  ASSERT_EQ(binary.kernels.size(), 1U);
  EXPECT_THAT(binary.kernels[0].evidence, Contains(Key(GetParam().evidence))) << printed(binary);
}

INSTANTIATE_TEST_SUITE_P(
    Data, CpuCells,
    ::testing::Values(Golden{"scalar.cpp", "A0B0C1", "load.scalar"}, Golden{"copy.cpp", "A1B0C1", "store.ymm"},
                      Golden{"vector.cpp", "A1B1C1", "arith.ymm"}, Golden{"tile.cpp", "A2B1C1", "stack.store"},
                      Golden{"prefetch.cpp", "A3B1C1", "prefetch"}, Golden{"stream.cpp", "A3B0C1", "stream.store"},
                      Golden{"atomic.cpp", "A0B0C2", "lock"}),
    nameOf);

TEST(CudaFacts, HoldSharedMemoryOfTheKernelThatUsesIt) {
  SWAGE_NEEDS_NVRTC();
  auto request = cudaRequest(
      "extern \"C\" __global__ void first(float* p) { __shared__ float s[64]; s[threadIdx.x] = p[threadIdx.x]; "
      "__syncthreads(); p[threadIdx.x] = s[63 - threadIdx.x]; }\n"
      "extern \"C\" __global__ void second(float* p) { p[threadIdx.x] += 1.0f; }\n");
  request.entries = {"first", "second"};
  const auto binary = compiled(request);
  ASSERT_EQ(binary.kernels.size(), 2U);
  EXPECT_EQ(binary.kernels[0].staticSharedBytes, 256);
  EXPECT_EQ(binary.kernels[1].staticSharedBytes, 0);
  EXPECT_EQ(binary.kernels[1].movement, domain::DataMovement::Direct);
}

TEST(CudaFacts, HoldSpills) {
  SWAGE_NEEDS_NVRTC();
  std::string body;
  for (int i = 0; i < 60; ++i) {
    body += fmt::format("float v{0} = p[threadIdx.x + {0} * 32];\n", i);
  }
  body += "__syncthreads();\n";
  for (int i = 0; i < 60; ++i) {
    body += fmt::format("q[threadIdx.x + {0} * 32] = v{0} * v{1};\n", i, (i * 7 + 3) % 60);
  }
  auto request = cudaRequest("extern \"C\" __global__ void kernel(const float* p, float* q) {" + body + "}");
  request.flags = {"-maxrregcount=24"};
  const auto binary = compiled(request);
  ASSERT_EQ(binary.kernels.size(), 1U);
  EXPECT_LE(binary.kernels[0].registers, 24);
  EXPECT_GT(binary.kernels[0].spillBytes, 0);
}

}  // namespace
}  // namespace swage::toolchain
