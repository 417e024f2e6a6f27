// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/device/failure.h"

// Every function of the driver that Swage calls. The macros of cuda.h rename them to their current versions.
#define SWAGE_CUDA_FUNCTIONS(X)  \
  X(cuInit)                      \
  X(cuDriverGetVersion)          \
  X(cuGetErrorName)              \
  X(cuGetErrorString)            \
  X(cuDeviceGet)                 \
  X(cuDeviceGetCount)            \
  X(cuDeviceGetName)             \
  X(cuDeviceGetUuid)             \
  X(cuDeviceGetAttribute)        \
  X(cuDeviceTotalMem)            \
  X(cuDevicePrimaryCtxRetain)    \
  X(cuDevicePrimaryCtxRelease)   \
  X(cuCtxSetCurrent)             \
  X(cuCtxSetLimit)               \
  X(cuCtxSynchronize)            \
  X(cuCtxResetPersistingL2Cache) \
  X(cuModuleLoadData)            \
  X(cuModuleUnload)              \
  X(cuModuleGetFunction)         \
  X(cuFuncSetAttribute)          \
  X(cuFuncGetAttribute)          \
  X(cuFuncGetParamInfo)          \
  X(cuLaunchKernelEx)            \
  X(cuStreamCreate)              \
  X(cuStreamDestroy)             \
  X(cuStreamSynchronize)         \
  X(cuEventCreate)               \
  X(cuEventDestroy)              \
  X(cuEventRecord)               \
  X(cuEventElapsedTime)          \
  X(cuMemAlloc)                  \
  X(cuMemFree)                   \
  X(cuMemGetInfo)                \
  X(cuMemHostAlloc)              \
  X(cuMemFreeHost)               \
  X(cuMemsetD8Async)             \
  X(cuMemcpyDtoDAsync)           \
  X(cuMemcpyDtoH)                \
  X(cuMemcpyHtoD)

// Functions that are not there with every driver, and without which something less is known.
#define SWAGE_CUDA_OPTIONAL_FUNCTIONS(X)         \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuTensorMapEncodeTiled)                      \
  X(cuStreamBeginCapture)                        \
  X(cuStreamEndCapture)                          \
  X(cuGraphInstantiateWithFlags)                 \
  X(cuGraphLaunch)                               \
  X(cuGraphExecDestroy)                          \
  X(cuGraphDestroy)

namespace swage::device {

// The driver's functions, found when the program runs, so that one build works on machines without a driver.
struct CudaDriver {
#define SWAGE_CUDA_MEMBER(function) decltype(&::function) function = nullptr;
  SWAGE_CUDA_FUNCTIONS(SWAGE_CUDA_MEMBER)
  SWAGE_CUDA_OPTIONAL_FUNCTIONS(SWAGE_CUDA_MEMBER)  // may be null
#undef SWAGE_CUDA_MEMBER

  // Loaded and initialised once for the process; the driver stays loaded. Fails with kind Environment.
  [[nodiscard]] static Result<const CudaDriver*> load();

  // "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"
  [[nodiscard]] std::string describe(CUresult code) const;

  // No value for success; else what was tried and why it failed.
  [[nodiscard]] DeviceStatus check(CUresult code, std::string_view attempted) const;
};

}  // namespace swage::device
