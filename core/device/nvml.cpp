// SPDX-License-Identifier: Apache-2.0
#include "core/device/nvml.h"

#include <dlfcn.h>

#include <array>
#include <string_view>
#include <utility>

namespace swage::device {
namespace {

// Our own prototypes, because the library's header comes with no Python package. From its public documentation.
using NvmlDevice = void*;
using InitFunction = int (*)();
using VersionFunction = int (*)(char*, unsigned);
using HandleFunction = int (*)(const char*, NvmlDevice*);
using IndexedFunction = int (*)(NvmlDevice, int, unsigned*);
using PowerFunction = int (*)(NvmlDevice, unsigned*);
using ReasonsFunction = int (*)(NvmlDevice, unsigned long long*);

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuTemperature = 0;

// nvmlClocksEventReasons, as the documentation of the library numbers them.
struct Reason {
  std::uint64_t bit;
  std::string_view word;
  bool throttles;
};
constexpr std::array<Reason, 8> kReasons = {{
    {0x2, "application clocks", false},
    {0x4, "power cap", false},
    {0x8, "hardware slowdown", true},
    {0x10, "sync boost", false},
    {0x20, "thermal", true},
    {0x40, "hardware thermal", true},
    {0x80, "power brake", true},
    {0x100, "display clocks", false},
}};

struct Closer {
  void operator()(void* library) const { ::dlclose(library); }
};

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

// Functions that the library lacks, and a device that it does not know, are null.
struct NvmlSession::Library {
  std::unique_ptr<void, Closer> handle;
  NvmlDevice device = nullptr;
  InitFunction shutdown = nullptr;
  VersionFunction driverVersion = nullptr;
  IndexedFunction clock = nullptr;
  IndexedFunction maxClock = nullptr;
  IndexedFunction temperature = nullptr;
  PowerFunction power = nullptr;
  ReasonsFunction reasons = nullptr;

  void bind() {
    void* const library = handle.get();
    driverVersion = find<VersionFunction>(library, "nvmlSystemGetDriverVersion");
    clock = find<IndexedFunction>(library, "nvmlDeviceGetClockInfo");
    maxClock = find<IndexedFunction>(library, "nvmlDeviceGetMaxClockInfo");
    temperature = find<IndexedFunction>(library, "nvmlDeviceGetTemperature");
    power = find<PowerFunction>(library, "nvmlDeviceGetPowerUsage");
    reasons = find<ReasonsFunction>(library, "nvmlDeviceGetCurrentClocksEventReasons");
    if (reasons == nullptr) {  // its name in drivers before 535
      reasons = find<ReasonsFunction>(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
  }

  [[nodiscard]] int ask(IndexedFunction query, int which) const {
    unsigned value = 0;
    return query != nullptr && device != nullptr && query(device, which, &value) == 0 ? static_cast<int>(value) : 0;
  }
};

std::unique_ptr<NvmlSession> NvmlSession::open(const std::string& uuid, const char* library) {
  auto session = std::unique_ptr<NvmlSession>(new NvmlSession(std::make_unique<Library>()));
  Library& opened = *session->m_library;
  opened.handle.reset(::dlopen(library, RTLD_NOW | RTLD_LOCAL));
  if (!opened.handle) {
    return session;
  }
  const auto start = find<InitFunction>(opened.handle.get(), "nvmlInit_v2");
  const auto stop = find<InitFunction>(opened.handle.get(), "nvmlShutdown");
  if (start == nullptr || stop == nullptr || start() != 0) {
    return session;
  }
  opened.shutdown = stop;
  opened.bind();
  const auto handleOf = find<HandleFunction>(opened.handle.get(), "nvmlDeviceGetHandleByUUID");
  if (handleOf == nullptr || handleOf(uuid.c_str(), &opened.device) != 0) {
    opened.device = nullptr;
  }
  return session;
}

NvmlSession::NvmlSession(std::unique_ptr<Library> library) : m_library(std::move(library)) {}

NvmlSession::~NvmlSession() {
  if (m_library->shutdown != nullptr) {
    m_library->shutdown();
  }
}

NvmlFacts NvmlSession::facts() const {
  NvmlFacts facts;
  std::array<char, 96> version{};
  const Library& library = *m_library;
  if (library.driverVersion != nullptr &&
      library.driverVersion(version.data(), static_cast<unsigned>(version.size())) == 0) {
    facts.driverVersion = version.data();
  }
  facts.smClockMhz = library.ask(library.clock, kSmClock);
  facts.maxSmClockMhz = library.ask(library.maxClock, kSmClock);
  facts.memoryClockMhz = library.ask(library.clock, kMemoryClock);
  return facts;
}

ConditionSample NvmlSession::sample() const {
  ConditionSample sample;
  const Library& library = *m_library;
  if (library.device == nullptr) {
    return sample;
  }
  sample.known = true;
  sample.smClockMhz = library.ask(library.clock, kSmClock);
  sample.memoryClockMhz = library.ask(library.clock, kMemoryClock);
  sample.temperatureCelsius = library.ask(library.temperature, kGpuTemperature);
  unsigned milliwatts = 0;
  if (library.power != nullptr && library.power(library.device, &milliwatts) == 0) {
    sample.powerWatts = static_cast<double>(milliwatts) * 1e-3;
  }
  unsigned long long mask = 0;
  if (library.reasons != nullptr && library.reasons(library.device, &mask) == 0) {
    sample.reasons = clockReasons(mask);
    sample.throttled = isThrottled(mask);
  }
  return sample;
}

std::vector<std::string> clockReasons(std::uint64_t mask) {
  std::vector<std::string> words;
  for (const Reason& reason : kReasons) {
    if ((mask & reason.bit) != 0) {
      words.emplace_back(reason.word);
    }
  }
  return words;
}

bool isThrottled(std::uint64_t mask) {
  for (const Reason& reason : kReasons) {
    if (reason.throttles && (mask & reason.bit) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace swage::device
