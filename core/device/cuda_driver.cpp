// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_driver.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "core/device/cuda_errors.h"

#define SWAGE_CUDA_TEXT2(name) #name
#define SWAGE_CUDA_TEXT(name) SWAGE_CUDA_TEXT2(name)

namespace swage::device {
namespace {

constexpr const char* kHint = "Install or update the NVIDIA driver, or work with --target cpu.";

// An older driver lacks the newest version of a function, whose earlier version takes the same arguments.
void* findFunction(void* library, const std::string& name) {
  if (void* found = ::dlsym(library, name.c_str())) {
    return found;
  }
  const auto suffix = name.rfind("_v2");
  return suffix == std::string::npos ? nullptr : ::dlsym(library, name.substr(0, suffix).c_str());
}

Result<CudaDriver> open() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return Error(ErrorKind::Environment,
                 fmt::format("cannot load the NVIDIA driver: {}", reason != nullptr ? reason : "libcuda.so.1"), kHint);
  }
  CudaDriver driver;
#define SWAGE_CUDA_FIND(function)                                                                                  \
  driver.function = reinterpret_cast<decltype(driver.function)>(findFunction(library, SWAGE_CUDA_TEXT(function))); \
  if (driver.function == nullptr) {                                                                                \
    return Error(ErrorKind::Environment, "the NVIDIA driver lacks " SWAGE_CUDA_TEXT(function), kHint);             \
  }
  SWAGE_CUDA_FUNCTIONS(SWAGE_CUDA_FIND)
#undef SWAGE_CUDA_FIND
#define SWAGE_CUDA_FIND_OPTIONAL(function) \
  driver.function = reinterpret_cast<decltype(driver.function)>(findFunction(library, SWAGE_CUDA_TEXT(function)));
  SWAGE_CUDA_OPTIONAL_FUNCTIONS(SWAGE_CUDA_FIND_OPTIONAL)
#undef SWAGE_CUDA_FIND_OPTIONAL
  if (const CUresult code = driver.cuInit(0); code != CUDA_SUCCESS) {
    return Error(ErrorKind::Environment, fmt::format("cannot start the NVIDIA driver: {}", driver.describe(code)),
                 std::string(adviceOn(static_cast<int>(code))));
  }
  return driver;
}

}  // namespace

Result<const CudaDriver*> CudaDriver::load() {
  static const Result<CudaDriver> driver = open();
  if (!driver) {
    return driver.error();
  }
  return &*driver;
}

std::string CudaDriver::describe(CUresult code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS || cuGetErrorString(code, &text) != CUDA_SUCCESS) {
    return fmt::format("CUDA error {}", static_cast<int>(code));
  }
  return fmt::format("{} ({}): {}", name, static_cast<int>(code), text);
}

DeviceStatus CudaDriver::check(CUresult code, std::string_view attempted) const {
  if (code == CUDA_SUCCESS) {
    return std::nullopt;
  }
  return DeviceFailure{fmt::format("cannot {}: {}", attempted, describe(code)), isSticky(static_cast<int>(code)),
                       code == CUDA_ERROR_OUT_OF_MEMORY};
}

}  // namespace swage::device
