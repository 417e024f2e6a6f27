// SPDX-License-Identifier: Apache-2.0
#include "core/device/open_device.h"

#include "core/device/cpu_device.h"
#ifdef SWAGE_HAVE_CUDA_HEADERS
#include "core/device/cuda_device.h"
#endif

namespace swage::device {
#ifndef SWAGE_HAVE_CUDA_HEADERS
namespace {

Error withoutCuda(int ordinal) {
  return Error(ErrorKind::Environment,
               "cannot open CUDA device " + std::to_string(ordinal) + ": this swage-worker was built without CUDA",
               "Build it where a Python environment or toolkit has cuda.h, or work with --target cpu.");
}

}  // namespace
#endif

Result<std::unique_ptr<Device>> openDevice(domain::Target target, int ordinal, int threads) {
  if (target == domain::Target::Cpu) {
    return std::unique_ptr<Device>(CpuDevice::create(threads));
  }
#ifdef SWAGE_HAVE_CUDA_HEADERS
  return openCudaDevice(ordinal);
#else
  return withoutCuda(ordinal);
#endif
}

Result<> checkDevice(domain::Target target, int ordinal) {
  if (target == domain::Target::Cpu) {
    return {};
  }
#ifdef SWAGE_HAVE_CUDA_HEADERS
  return checkCudaDevice(ordinal);
#else
  return withoutCuda(ordinal);
#endif
}

}  // namespace swage::device
