// SPDX-License-Identifier: Apache-2.0
#include "core/device/nvml.h"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "core/base/scope_exit.h"

namespace swage::device {
namespace {

// Our own prototypes, because the library's header comes with no Python package. From its public documentation.
using NvmlDevice = void*;
using InitFunction = int (*)();
using VersionFunction = int (*)(char*, unsigned);
using HandleFunction = int (*)(const char*, NvmlDevice*);
using ClockFunction = int (*)(NvmlDevice, int, unsigned*);

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;

struct Closer {
  void operator()(void* library) const { ::dlclose(library); }
};

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

int clockOf(void* library, const char* function, NvmlDevice device, int kind) {
  const auto query = find<ClockFunction>(library, function);
  unsigned megahertz = 0;
  return query != nullptr && query(device, kind, &megahertz) == 0 ? static_cast<int>(megahertz) : 0;
}

}  // namespace

NvmlFacts queryNvml(const std::string& uuid) {
  NvmlFacts facts;
  const std::unique_ptr<void, Closer> library(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library) {
    return facts;
  }
  const auto start = find<InitFunction>(library.get(), "nvmlInit_v2");
  const auto stop = find<InitFunction>(library.get(), "nvmlShutdown");
  if (start == nullptr || stop == nullptr || start() != 0) {
    return facts;
  }
  const ScopeExit shutDown([stop] { stop(); });
  std::array<char, 96> version{};
  const auto versionOf = find<VersionFunction>(library.get(), "nvmlSystemGetDriverVersion");
  if (versionOf != nullptr && versionOf(version.data(), static_cast<unsigned>(version.size())) == 0) {
    facts.driverVersion = version.data();
  }
  NvmlDevice device = nullptr;
  const auto handleOf = find<HandleFunction>(library.get(), "nvmlDeviceGetHandleByUUID");
  if (handleOf != nullptr && handleOf(uuid.c_str(), &device) == 0) {
    facts.smClockMhz = clockOf(library.get(), "nvmlDeviceGetClockInfo", device, kSmClock);
    facts.maxSmClockMhz = clockOf(library.get(), "nvmlDeviceGetMaxClockInfo", device, kSmClock);
    facts.memoryClockMhz = clockOf(library.get(), "nvmlDeviceGetClockInfo", device, kMemoryClock);
  }
  return facts;
}

}  // namespace swage::device
