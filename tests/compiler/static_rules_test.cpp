// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "tests/compiler/test_toolchain.h"

// What no candidate may have, in real objects of the real compilers.
namespace swage::toolchain {
namespace {

using domain::CompileFailureReason;
using ::testing::HasSubstr;

std::string cpuKernel(const std::string& before, const std::string& body) {
  return fmt::format(
      "#include <cstring>\n#include <omp.h>\n{}\nextern \"C\" void kernel(void** arguments) {{\n"
      "  const float* in = *static_cast<const float**>(arguments[0]);\n"
      "  float* out = *static_cast<float**>(arguments[1]);\n  {}\n}}\n",
      before, body);
}

void expectRefused(const domain::CompileRequest& request, const std::string& words) {
  const domain::CompileFailed outcome = failed(request);
  EXPECT_EQ(outcome.reason, CompileFailureReason::Refused) << outcome.log;
  EXPECT_THAT(outcome.log, HasSubstr(words));
}

TEST(WritableData, OfACpuKernelIsRefused) {
  expectRefused(cpuRequest(dataFile("cpu/remembers.cpp")), "16384 bytes of writable module data ('_ZL10remembered')");
  expectRefused(cpuRequest(cpuKernel("", "static int calls = 7; out[0] = in[0] + float(++calls);")),
                "writable module data");
  expectRefused(cpuRequest(cpuKernel("thread_local float kept;", "out[0] = kept; kept = in[0];")),
                "writable module data");
}

TEST(WritableData, OfNoSizeIsRefused) {
  expectRefused(cpuRequest(cpuKernel("static float kept[0];", "float* k = kept; out[0] = k[1]; k[1] += in[0];")),
                "writable module data without a size ('_ZL4kept')");
  expectRefused(cpuRequest(cpuKernel("struct Nothing { float values[0]; };\nNothing kept;",
                                     "float* k = kept.values; out[0] = k[1]; k[1] += in[0];")),
                "writable module data without a size ('kept')");
}

TEST(WritableData, OfTheRuntimeIsNotRefused) {
  (void)compiled(cpuRequest(cpuKernel("",
                                      "_Pragma(\"omp parallel for\") for (int i = 0; i < 64; ++i) {\n"
                                      "_Pragma(\"omp critical(sums)\") out[0] += in[i];\n"
                                      "_Pragma(\"omp critical\") out[1] += in[i]; }")));
}

TEST(ProcessState, IsRefused) {
  for (const char* statement : {"__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);",
                                "_MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);"}) {
    expectRefused(cpuRequest(cpuKernel("#include <immintrin.h>", std::string(statement) + " out[0] = in[0];")),
                  "keeps something in registers of the process");
  }
}

TEST(WritableData, DoesNotMeanTablesThatAreOnlyRead) {
  (void)compiled(cpuRequest(cpuKernel("static const float table[4] = {1, 2, 3, 4};",
                                      "for (int i = 0; i < 64; ++i) out[i] = in[i] * table[i % 4];")));
}

TEST(WritableData, OfACudaKernelIsRefused) {
  SWAGE_NEEDS_NVRTC();
  expectRefused(cudaRequest(dataFile("cuda/writable_global.cu")), "256 bytes of writable module data ('remembered')");
  expectRefused(cudaRequest("__device__ unsigned calls = 3;\nextern \"C\" __global__ void kernel(unsigned* p) "
                            "{ *p = atomicAdd(&calls, 1u); }\n"),
                "writable module data ('calls')");
}

TEST(WritableData, OfACudaKernelIsFoundThroughPointers) {
  SWAGE_NEEDS_NVRTC();
  expectRefused(cudaRequest("__device__ float kept[64];\n__device__ __noinline__ void keep(float* where, float v) "
                            "{ *where = v; }\nextern \"C\" __global__ void kernel(float* p, int n) {\n"
                            "  float* where = n > 3 ? kept + n : p; p[0] = where[1]; keep(where, p[1]); }\n"),
                "writable module data ('kept')");
  expectRefused(cudaRequest("__device__ const float table[4] = {1, 2, 3, 4};\n"
                            "extern \"C\" __global__ void kernel(float* p) "
                            "{ const_cast<float*>(table)[threadIdx.x] = p[0]; p[1] = table[threadIdx.y]; }\n"),
                "writable module data");
}

TEST(WritableData, DoesNotMeanConstantMemory) {
  SWAGE_NEEDS_NVRTC();
  (void)compiled(
      cudaRequest("__device__ const float table[4] = {1, 2, 3, 4};\nconstexpr int kFour = 4;\n"
                  "extern \"C\" __global__ void kernel(float* p) "
                  "{ p[threadIdx.x] *= table[threadIdx.x % kFour]; }\n"));
  (void)compiled(
      cudaRequest("__constant__ float table[4] = {1, 2, 3, 4};\nextern \"C\" __global__ void kernel(float* p) "
                  "{ p[threadIdx.x] *= table[threadIdx.x % 4]; }\n"));
}

TEST(ComputedCalls, AreRefused) {
  expectRefused(cpuRequest(cpuKernel("",
                                     "const auto base = reinterpret_cast<unsigned long>(&std::memcpy);\n"
                                     "  const auto hidden = reinterpret_cast<int (*)(float)>(base + 4096);\n"
                                     "  out[0] = in[0] + float(hidden(in[1]));")),
                "calls an address that it works out");
  expectRefused(cpuRequest(cpuKernel("", "reinterpret_cast<void (*)(void**)>(&arguments[7])(arguments);")),
                "calls an address that it works out");
}

TEST(ComputedCalls, AreNotWhatASwitchBecomes) {
  (void)compiled(cpuRequest(cpuKernel(
      "",
      "for (int i = 0; i < 64; ++i) switch (int(in[i])) { case 0: out[i] = 3; break; case 1: out[i] = 1; break; "
      "case 2: out[i] = 4; break; case 3: out[i] = 15; break; case 4: out[i] = 9; break; case 5: out[i] = 2; "
      "break; default: out[i] = std::memcmp(in, out, 4) > 0 ? 1 : 0; }")));
}

TEST(HalfARegion, IsRefused) {
  expectRefused(cpuRequest(cpuKernel("extern \"C\" void GOMP_parallel_start(void (*)(void*), void*, unsigned);\n"
                                     "static void later(void* out) { static_cast<float*>(out)[0] = 1; }",
                                     "out[1] = in[1]; GOMP_parallel_start(later, out, 2);")),
                "calls 'GOMP_parallel_start'");
  // A loop inside a region has a function of a similar name.
  (void)compiled(cpuRequest(cpuKernel("",
                                      "_Pragma(\"omp parallel\") { _Pragma(\"omp for schedule(dynamic) nowait\") "
                                      "for (int i = 0; i < 64; ++i) out[i] = in[i]; }")));
}

TEST(DeviceHeap, IsRefused) {
  SWAGE_NEEDS_NVRTC();
  expectRefused(cudaRequest("extern \"C\" __global__ void kernel(float** p) "
                            "{ p[threadIdx.x] = static_cast<float*>(malloc(64)); }\n"),
                "device's heap");
}

}  // namespace
}  // namespace swage::toolchain
