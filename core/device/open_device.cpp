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

Result<std::unique_ptr<Device>> openDevice(domain::DeviceKind target, int ordinal, int threads) {
  if (target == domain::DeviceKind::Cpu) {
    return std::unique_ptr<Device>(CpuDevice::create(threads));
  }
#ifdef SWAGE_HAVE_CUDA_HEADERS
  return openCudaDevice(ordinal);
#else
  return withoutCuda(ordinal);
#endif
}

DeviceList listDevices(int threads) {
  DeviceList list;
  list.devices.push_back({CpuDevice::describe(threads), std::nullopt});
#ifdef SWAGE_HAVE_CUDA_HEADERS
  const Result<int> count = countCudaDevices();
  for (int ordinal = 0; count && ordinal < *count; ++ordinal) {
    ListedDevice device;
    device.info.kind = domain::DeviceKind::Cuda;
    device.info.ordinal = ordinal;
    if (Result<domain::DeviceInfo> info = describeCudaDevice(ordinal); !info) {
      device.trouble = info.error();
    } else {
      device.info = std::move(*info);
      if (const Result<> usable = checkCudaDevice(ordinal); !usable) {
        device.trouble = usable.error();
      }
    }
    list.devices.push_back(std::move(device));
  }
  if (!count) {
    list.cudaTrouble = count.error();
  }
#else
  list.cudaTrouble = withoutCuda(0);
#endif
  return list;
}

Result<> checkDevice(domain::DeviceKind target, int ordinal) {
  if (target == domain::DeviceKind::Cpu) {
    return {};
  }
#ifdef SWAGE_HAVE_CUDA_HEADERS
  return checkCudaDevice(ordinal);
#else
  return withoutCuda(ordinal);
#endif
}

}  // namespace swage::device
