// SPDX-License-Identifier: Apache-2.0
#include "core/verify/torch_runtime.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/version.h>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

// Of the device's memory, for all tensors together: a candidate that wants more fails, and the rest is for the context,
// the modules and the timing's own buffers. PyTorch reads it when its allocator starts; what the user set stands.
constexpr const char* kAllocatorOptions = "per_process_memory_fraction:0.92";

// The registrations of libtorch_cuda.so find the dispatcher of the libtorch_cpu.so that is already loaded.
Result<> openCudaBackend() {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<const void*>(&at::globalContext), &where) == 0 || where.dli_fname == nullptr) {
    return Error(ErrorKind::Environment, "cannot find out where libtorch was loaded from");
  }
  if (std::getenv("PYTORCH_ALLOC_CONF") == nullptr) {
    ::setenv("PYTORCH_CUDA_ALLOC_CONF", kAllocatorOptions, 0);  // NOLINT(concurrency-mt-unsafe): before any thread
  }
  const auto path = std::filesystem::path(where.dli_fname).parent_path() / "libtorch_cuda.so";
  if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = ::dlerror();
    return Error(ErrorKind::Environment,
                 fmt::format("cannot load PyTorch's CUDA library: {}", reason != nullptr ? reason : path.string()),
                 "Install PyTorch with CUDA in the environment that Swage uses, or work with --target cpu.");
  }
  return {};
}

}  // namespace

Result<> loadTorch(domain::DeviceKind target) {
  return target == domain::DeviceKind::Cuda ? openCudaBackend() : Result<>();
}

Result<int> startTorch(domain::DeviceKind target, int ordinal, int threads) {
  SWAGE_TRY(loadTorch(target));
  int used = 1;
  const auto failure = attempt([&] {
    if (threads > 0) {
      at::set_num_threads(threads);
    }
    used = at::get_num_threads();
    if (target == domain::DeviceKind::Cuda) {
      at::globalContext().lazyInitDevice(at::kCUDA);
      c10::impl::getDeviceGuardImpl(c10::kCUDA)
          ->setDevice(c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(ordinal)));
    }
  });
  if (failure) {
    return Error(ErrorKind::Environment, fmt::format("cannot start PyTorch: {}", failure->message));
  }
  return used;
}

std::string torchVersion() {
  return TORCH_VERSION;
}

void releaseCachedMemory(domain::DeviceKind target) {
  if (target != domain::DeviceKind::Cuda) {
    return;
  }
  if (const auto failure = attempt([] { c10::getDeviceAllocator(c10::kCUDA)->emptyCache(); })) {
    log::warn("PyTorch's memory cache could not be emptied: {}", failure->message);
  }
}

}  // namespace swage::verify
