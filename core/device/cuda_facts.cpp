// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_facts.h"

#include <unistd.h>

#include <array>

#include <fmt/format.h>

namespace swage::device {
namespace {

// From sm_90 on the instructions of one architecture only exist under its name with an "a".
std::string architectureOf(int capability) {
  return fmt::format("sm_{}{}", capability, capability >= 90 ? "a" : "");
}

std::string driverVersionOf(const CudaDriver& driver) {
  int version = 0;
  return driver.cuDriverGetVersion(&version) == CUDA_SUCCESS
             ? fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10)
             : std::string();
}

}  // namespace

int attributeOf(const CudaDriver& driver, CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  return driver.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

MultiprocessorLimits limitsOf(const CudaDriver& driver, CUdevice device) {
  MultiprocessorLimits limits;
  limits.threads = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.blocks = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits.registers = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits.sharedBytes = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits.reservedSharedBytes = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return limits;
}

std::string uuidOf(const CudaDriver& driver, CUdevice device) {
  CUuuid uuid{};
  if (driver.cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS) {
    return {};
  }
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

domain::DeviceInfo describeDevice(const CudaDriver& driver, CUdevice device, int ordinal, const std::string& uuid,
                                  const NvmlFacts& facts) {
  domain::DeviceInfo info;
  std::array<char, 256> text{};
  info.kind = domain::DeviceKind::Cuda;
  info.ordinal = ordinal;
  info.host = ::gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "localhost";
  text.fill('\0');
  if (driver.cuDeviceGetName(text.data(), static_cast<int>(text.size()) - 1, device) == CUDA_SUCCESS) {
    info.name = text.data();
  }
  info.uuid = uuid;
  info.driverVersion = facts.driverVersion.empty() ? driverVersionOf(driver) : facts.driverVersion;
  info.computeCapability = 10 * attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                           attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.architecture = architectureOf(info.computeCapability);
  info.multiprocessors = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.cacheBytes = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.sharedBytesPerBlock = attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  std::size_t bytes = 0;
  if (driver.cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS) {
    info.memoryBytes = static_cast<std::int64_t>(bytes);
  }
  return info;
}

}  // namespace swage::device
