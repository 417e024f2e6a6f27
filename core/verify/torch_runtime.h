// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/domain/target.h"

// The process-wide part of libtorch, free of its headers.
namespace swage::verify {

// Sets the number of threads (0: PyTorch's default) and returns it. On CUDA opens libtorch_cuda.so, which stands beside
// libtorch_cpu.so, and fails with kind Environment when there is none. Call once, on the thread that will run tensors.
[[nodiscard]] Result<int> startTorch(domain::Target target, int ordinal, int threads);

[[nodiscard]] std::string torchVersion();

// Gives memory that libtorch keeps for reuse back to the driver. Does nothing on a CPU.
void releaseCachedMemory(domain::Target target);

}  // namespace swage::verify
