// SPDX-License-Identifier: Apache-2.0
#include "core/device/cpu_device.h"

#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/device/cpu_info.h"
#include "core/device/cpu_profiler.h"
#include "core/device/perf_system.h"
#include "core/device/shared_object.h"
#include "core/device/thread_confinement.h"
#include "core/device/thread_stack.h"

namespace swage::device {
namespace {

using Entry = void (*)(void**);

constexpr std::int64_t kFilledAtOnce = std::int64_t{1} << 20;   // by one thread
constexpr std::size_t kScrubbedBytes = std::size_t{64} << 10U;  // kernels keep a few hundred bytes on the stack
constexpr std::size_t kPagesAtOnce = 512;                       // that the system is asked about
constexpr unsigned kUsualArithmetic = 0x1F80;                   // of MXCSR: to nearest, with denormals, no exceptions
constexpr std::chrono::milliseconds kLongestConfinement{50};    // a few time slices of the system
constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kMaxFlushBytes = std::int64_t{256} << 20;
constexpr std::int64_t kDefaultCacheBytes = std::int64_t{32} << 20;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Copies between buffers that fit in no cache, each thread its own part; the best of a few rounds, read plus written.
double measureCopyBandwidth(std::int64_t cacheBytes) {
  const std::int64_t bytes = std::clamp(cacheBytes * 2, std::int64_t{64} << 20, kMaxFlushBytes);
  constexpr std::int64_t kChunk = 1 << 20;
  const std::int64_t chunks = bytes / kChunk;
  const std::vector<char> source(static_cast<std::size_t>(bytes), 1);
  std::vector<char> target(static_cast<std::size_t>(bytes));
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(static)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::memcpy(target.data() + chunk * kChunk, source.data() + chunk * kChunk, static_cast<std::size_t>(kChunk));
    }
    best = std::min(best, secondsSince(start));
  }
  return best > 0.0 ? 2.0 * static_cast<double>(chunks * kChunk) / best : 0.0;
}

std::string hostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("localhost");
}

// Not inlined: its frame must end before the next call, whose own will lie there. All bits set are NaN.
[[gnu::noinline]] void scrubStack() {
  std::array<volatile std::uint64_t, kScrubbedBytes / sizeof(std::uint64_t)> frame{};
  for (volatile std::uint64_t& word : frame) {
    word = ~std::uint64_t{0};
  }
}

// What lies deeper than scrubStack() reaches, as far down as anything was ever written: a kernel may write there
// without a frame. Pages that nobody has touched stay so. Given back instead, they would cost the next call that needs
// them.
void scrubDeepStack() {
  thread_local const std::uintptr_t low = lowestStackAddress();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::array<unsigned char, kPagesAtOnce> isThere{};
  std::size_t pages = kPagesAtOnce;
  std::uintptr_t end = (here - kScrubbedBytes / 2) / kStackPageBytes * kStackPageBytes;
  while (low != 0 && end >= low + kStackPageBytes) {
    pages = std::min<std::size_t>(pages, (end - low) / kStackPageBytes);
    const std::uintptr_t begin = end - pages * kStackPageBytes;
    if (::mincore(reinterpret_cast<void*>(begin), pages * kStackPageBytes, isThere.data()) != 0) {
      if (pages == 1) {
        return;  // the stack has not grown further
      }
      pages = 1;
      continue;
    }
    for (std::size_t page = 0; page < pages; ++page) {
      if ((isThere.at(page) & 1U) != 0) {
        std::memset(reinterpret_cast<void*>(begin + page * kStackPageBytes), 0xFF, kStackPageBytes);
      }
    }
    end = begin;
  }
}

// Those that run a kernel, the calling one first. The team keeps its threads from one parallel region to the next.
std::vector<pid_t> teamThreads() {
  std::vector<pid_t> threads(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  threads[static_cast<std::size_t>(omp_get_thread_num())] = ::gettid();
  std::erase(threads, 0);
  return threads;
}

class CpuKernel final : public Kernel {
 public:
  explicit CpuKernel(Entry entry) : m_entry(entry) {}
  [[nodiscard]] DeviceStatus launch(void** arguments) override {
    m_entry(arguments);
    return {};
  }

 private:
  Entry m_entry;
};

class CpuModule final : public KernelModule {
 public:
  explicit CpuModule(SharedObject object) : m_object(std::move(object)) {}
  [[nodiscard]] DeviceResult<std::unique_ptr<Kernel>> bind(const domain::KernelStep& step) override {
    void* symbol = m_object.find(step.entry);
    if (symbol == nullptr) {
      return tl::make_unexpected(DeviceFailure{fmt::format("the shared object has no entry '{}'", step.entry)});
    }
    for (const domain::KernelArgument& argument : step.arguments) {
      if (std::holds_alternative<domain::TensorMap>(argument)) {
        return tl::make_unexpected(
            DeviceFailure{fmt::format("'{}' takes a tensor map, which a CPU has not", step.entry)});
      }
    }
    return std::make_unique<CpuKernel>(reinterpret_cast<Entry>(symbol));
  }

 private:
  SharedObject m_object;
};

}  // namespace

domain::DeviceInfo CpuDevice::describe(int threads) {
  utsname machine{};
  const std::string_view architecture = ::uname(&machine) == 0 ? machine.machine : "unknown";
  const CpuDescription cpu = describeCpu(readTextFile("/proc/cpuinfo").value_or(""), architecture);
  domain::DeviceInfo info;
  info.kind = domain::DeviceKind::Cpu;
  info.host = hostName();
  info.name = cpu.name;
  info.architecture = cpu.architecture;
  info.multiprocessors = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  info.threads = threads;
  info.uuid =
      "CPU-" + sha256Hex(fmt::format("{}|{}|{}", info.name, info.architecture, info.multiprocessors)).substr(0, 12);
  info.memoryBytes = totalMemoryBytes();
  info.cacheBytes = lastLevelCacheBytes();
  return info;
}

CpuDevice::CpuDevice(domain::DeviceInfo info)
    : m_info(std::move(info)),
      m_contention(
          readProcessorTimes,
          [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
          m_info.threads, m_info.multiprocessors) {
  const std::int64_t cache = m_info.cacheBytes > 0 ? m_info.cacheBytes : kDefaultCacheBytes;
  m_flushed.resize(static_cast<std::size_t>(std::min(2 * cache, kMaxFlushBytes)));
}

std::unique_ptr<CpuDevice> CpuDevice::create(int threads) {
  domain::DeviceInfo info = describe(threads);
  info.copyBytesPerSecond = measureCopyBandwidth(info.cacheBytes > 0 ? info.cacheBytes : kDefaultCacheBytes);
  return std::unique_ptr<CpuDevice>(new CpuDevice(std::move(info)));
}

DeviceResult<std::unique_ptr<KernelModule>> CpuDevice::loadModule(const std::string& binary) {
  auto object = SharedObject::load(binary);
  if (!object) {
    return tl::make_unexpected(std::move(object).error());
  }
  return std::make_unique<CpuModule>(std::move(*object));
}

void CpuDevice::scrub() {
  omp_set_num_threads(m_info.threads);  // eager's as well as the kernels'
#pragma omp parallel
  {
    _mm_setcsr(kUsualArithmetic);
    scrubStack();
    scrubDeepStack();
  }
}

DeviceStatus CpuDevice::callConfined(const Call& call) {
  const ThreadConfinement confinement(kLongestConfinement);
  return call();
}

std::vector<int> CpuDevice::otherThreadCounts() const {
  return m_info.threads > 1 ? std::vector{1, m_info.threads + 1} : std::vector{2};
}

DeviceStatus CpuDevice::callWithThreads(int threads, const Call& call) {
  omp_set_num_threads(threads);
  DeviceStatus status = call();
  omp_set_num_threads(m_info.threads);
  return status;
}

DeviceStatus CpuDevice::fill(void* address, std::uint8_t value, std::size_t bytes) {
  auto* const first = static_cast<unsigned char*>(address);
  const auto size = static_cast<std::int64_t>(bytes);
#pragma omp parallel for schedule(static) if (size > kFilledAtOnce)
  for (std::int64_t begin = 0; begin < size; begin += kFilledAtOnce) {
    std::memset(first + begin, value, static_cast<std::size_t>(std::min(kFilledAtOnce, size - begin)));
  }
  return {};
}

std::int64_t CpuDevice::freeBytes() const {
  return availableMemoryBytes();
}

ConditionSample CpuDevice::conditions() {
  ConditionSample sample;
  sample.known = m_contention.isKnown();
  sample.throttled = m_contention.isContended();
  if (sample.throttled) {
    sample.reasons = {"other processes"};
  }
  return sample;
}

// Reads and writes one byte of each line, because memset of a large buffer bypasses the caches it should fill. By all
// threads, so that the private caches of their cores are flushed too.
void CpuDevice::flushCaches() {
  unsigned char* const bytes = m_flushed.data();
  const auto size = static_cast<std::int64_t>(m_flushed.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < size; at += kLineBytes) {
    bytes[at] = static_cast<unsigned char>(bytes[at] + 1);
  }
}

DeviceResult<CallTime> CpuDevice::timeColdAfter(const Call& before, const Call& call) {
  if (DeviceStatus failed = before ? before() : std::nullopt) {
    return tl::make_unexpected(std::move(*failed));
  }
  flushCaches();
  const auto start = std::chrono::steady_clock::now();
  DeviceStatus failed = call();
  const double elapsed = secondsSince(start);
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  return CallTime{.ns = elapsed * 1e9};
}

// What cannot be counted is found out when it is asked for.
ProfilerResult<std::unique_ptr<Profiler>> CpuDevice::openProfiler() {
  return std::make_unique<CpuProfiler>(
      linuxPerf(), CpuProfiler::Options{.flushCaches = [this] { flushCaches(); }, .threads = teamThreads});
}

}  // namespace swage::device
