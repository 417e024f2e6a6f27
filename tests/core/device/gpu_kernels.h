// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "core/device/device.h"
#include "core/domain/launch_plan.h"

// Kernels whose counters are known, and what it takes to run them on a GPU without PyTorch.
namespace swage::testing {

// A cubin by NVRTC, with line information, as the compiler makes them for candidates.
[[nodiscard]] Result<std::string> compileCubin(const std::string& source, const std::string& architecture);

// Device memory of the current context, zero. Freed at destruction.
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t bytes);
  ~DeviceArray();
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] void* address() const { return m_address; }

 private:
  void* m_address = nullptr;
};

// Entries take (const float* in, float* out). Line 1 of the source is its first line.
extern const char* const kProbeSource;
inline constexpr std::size_t kProbeElements = std::size_t{64} << 20U;

struct ProbeKernel {
  const char* entry;
  std::uint32_t blocks;
  std::uint32_t threads;
  double readBytes;     // from memory; 0: not known
  double writtenBytes;  // to memory, were the cache written back at once; 0: not known
};
// One element for each thread; a sum of each block through shared memory; much arithmetic with many registers.
inline constexpr ProbeKernel kProbeKernels[] = {
    {"probe_copy", kProbeElements / 256, 256, 4.0 * kProbeElements, 4.0 * kProbeElements},
    {"probe_sum", kProbeElements / 4096, 256, 4.0 * kProbeElements, 0.0},
    {"probe_math", 132 * 16, 128, 0.0, 0.0},
};
[[nodiscard]] domain::KernelStep stepOf(const ProbeKernel& kernel);

}  // namespace swage::testing
