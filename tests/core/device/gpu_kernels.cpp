// SPDX-License-Identifier: Apache-2.0
#include "tests/core/device/gpu_kernels.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/assert.h"

namespace swage::testing {
namespace {

template <class Function>
Function find(const char* library, const char* name) {
  void* handle = ::dlopen(library, RTLD_NOW);
  return handle == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(handle, name));
}

constexpr const char* kNvrtc = "libnvrtc.so.13";
constexpr const char* kDriver = "libcuda.so.1";

}  // namespace

const char* const kProbeSource = R"(
extern "C" __global__ void probe_copy(const float* in, float* out) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  out[i] = in[i] + 1.0f;
}
extern "C" __global__ void probe_sum(const float* in, float* out) {
  __shared__ float part[256];
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    sum += in[blockIdx.x * 4096u + k * 256u + threadIdx.x];
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int width = 128; width > 0; width /= 2) {
    if (threadIdx.x < width) {
      part[threadIdx.x] += part[threadIdx.x + width];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = part[0];
  }
}
extern "C" __global__ void __launch_bounds__(128) probe_math(const float* in, float* out) {
  float a[48];
  #pragma unroll
  for (int k = 0; k < 48; ++k) {
    a[k] = in[k * 128 + threadIdx.x];
  }
  for (int round = 0; round < 512; ++round) {
    #pragma unroll
    for (int k = 0; k < 48; ++k) {
      a[k] = a[k] * 0.999f + a[(k + 1) % 48];
    }
  }
  float sum = 0.0f;
  #pragma unroll
  for (int k = 0; k < 48; ++k) {
    sum += a[k];
  }
  out[blockIdx.x * 128u + threadIdx.x] = sum;
}
)";

domain::KernelStep stepOf(const ProbeKernel& kernel) {
  domain::KernelStep step;
  step.entry = kernel.entry;
  step.grid = {kernel.blocks, 1, 1};
  step.block = {kernel.threads, 1, 1};
  step.cluster = {1, 1, 1};
  step.arguments = {domain::ValueId(0), domain::ValueId(1)};
  return step;
}

Result<std::string> compileCubin(const std::string& source, const std::string& architecture) {
  using Program = void*;
  const auto create = find<int (*)(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
      kNvrtc, "nvrtcCreateProgram");
  const auto compile = find<int (*)(Program, int, const char* const*)>(kNvrtc, "nvrtcCompileProgram");
  const auto sizeOf = find<int (*)(Program, std::size_t*)>(kNvrtc, "nvrtcGetCUBINSize");
  const auto bytesOf = find<int (*)(Program, char*)>(kNvrtc, "nvrtcGetCUBIN");
  if (create == nullptr || compile == nullptr || sizeOf == nullptr || bytesOf == nullptr) {
    return Error(ErrorKind::Environment, "NVRTC cannot be loaded");
  }
  const std::string target = "-arch=" + architecture;
  const std::array<const char*, 3> options = {target.c_str(), "--std=c++20", "-lineinfo"};
  Program program = nullptr;
  if (create(&program, source.c_str(), "source.cu", 0, nullptr, nullptr) != 0 ||
      compile(program, static_cast<int>(options.size()), options.data()) != 0) {
    return Error(ErrorKind::Internal, "NVRTC cannot compile the source for " + architecture);
  }
  std::size_t size = 0;
  if (sizeOf(program, &size) != 0) {
    return Error(ErrorKind::Internal, "NVRTC gives no cubin");
  }
  std::string cubin(size, '\0');
  return bytesOf(program, cubin.data()) == 0 ? Result<std::string>(cubin)
                                             : Error(ErrorKind::Internal, "NVRTC gives no cubin");
}

DeviceArray::DeviceArray(std::size_t bytes) {
  const auto allocate = find<int (*)(std::uint64_t*, std::size_t)>(kDriver, "cuMemAlloc_v2");
  const auto fill = find<int (*)(std::uint64_t, unsigned char, std::size_t)>(kDriver, "cuMemsetD8_v2");
  std::uint64_t address = 0;
  SWAGE_ASSERT(allocate != nullptr && fill != nullptr);
  SWAGE_ASSERT(allocate(&address, bytes) == 0 && fill(address, 0, bytes) == 0);
  m_address = reinterpret_cast<void*>(address);
}

DeviceArray::~DeviceArray() {
  if (const auto free = find<int (*)(std::uint64_t)>(kDriver, "cuMemFree_v2"); free != nullptr) {
    free(reinterpret_cast<std::uint64_t>(m_address));
  }
}

}  // namespace swage::testing
