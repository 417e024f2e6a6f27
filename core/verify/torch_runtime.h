// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/domain/device_kind.h"

// The process-wide part of libtorch, free of its headers.
namespace swage::verify {

// Loads the libraries that startTorch() needs, and takes nothing of a device. Optional.
[[nodiscard]] Result<> loadTorch(domain::DeviceKind target);

// Sets the number of threads (0: PyTorch's default) and returns it. Fails with kind Environment when
// libtorch_cuda.so, which stands beside libtorch_cpu.so, is needed and not there. Call once, on the thread that will
// run tensors.
[[nodiscard]] Result<int> startTorch(domain::DeviceKind target, int ordinal, int threads);

[[nodiscard]] std::string torchVersion();

// Gives memory that libtorch keeps for reuse back to the driver. Does nothing on a CPU.
void releaseCachedMemory(domain::DeviceKind target);

}  // namespace swage::verify
