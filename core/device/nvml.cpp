// SPDX-License-Identifier: Apache-2.0
#include "core/device/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/device/tenant_watch.h"

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
using ParentFunction = int (*)(NvmlDevice, NvmlDevice*);
struct UtilizationSample {
  unsigned process;
  unsigned long long microseconds;
  unsigned multiprocessors;  // percent, like the others
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};
using UtilizationFunction = int (*)(NvmlDevice, UtilizationSample*, unsigned*, unsigned long long since);

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuTemperature = 0;
constexpr std::size_t kMostSamples = 1024;  // of processes; the library keeps a few for each

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

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

// Functions that the library lacks, and a device that it does not know, are null. Stays where it is.
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
  UtilizationFunction utilization = nullptr;
  bool isInstance = false;
  std::optional<TenantWatch> tenants;

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
    utilization = find<UtilizationFunction>(library, "nvmlDeviceGetProcessUtilization");
    tenants.emplace([this](std::uint64_t since) { return uses(since); }, steadySeconds,
                    static_cast<unsigned>(::getpid()));
  }

  // An instance of a GPU in multi-instance mode has a name of its own, and of everything but memory the library only
  // speaks for the whole GPU.
  void choose(const std::string& uuid) {
    const auto handleOf = find<HandleFunction>(handle.get(), "nvmlDeviceGetHandleByUUID");
    const auto parentOf = find<ParentFunction>(handle.get(), "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    constexpr std::string_view kGpu = "GPU-";
    if (handleOf == nullptr || handleOf(uuid.c_str(), &device) == 0 || !uuid.starts_with(kGpu)) {
      return;
    }
    NvmlDevice instance = nullptr;
    device = nullptr;
    isInstance = handleOf(("MIG-" + uuid.substr(kGpu.size())).c_str(), &instance) == 0;
    if (isInstance && parentOf != nullptr && parentOf(instance, &device) != 0) {
      device = nullptr;
    }
  }

  [[nodiscard]] std::vector<ProcessUse> uses(std::uint64_t since) const {
    std::vector<UtilizationSample> samples(kMostSamples);
    auto count = static_cast<unsigned>(samples.size());
    if (utilization == nullptr || device == nullptr || utilization(device, samples.data(), &count, since) != 0) {
      return {};
    }
    std::vector<ProcessUse> found;
    samples.resize(std::min<std::size_t>(count, samples.size()));
    found.reserve(samples.size());
    for (const UtilizationSample& sample : samples) {
      found.push_back({sample.process, sample.microseconds, sample.multiprocessors});
    }
    return found;
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
  opened.choose(uuid);
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
  facts.isInstance = library.isInstance;
  return facts;
}

ConditionSample NvmlSession::sample() {
  ConditionSample sample;
  Library& library = *m_library;
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
  if (library.tenants && library.tenants->isShared()) {
    sample.reasons.emplace_back("another process");
    sample.throttled = true;
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
