// SPDX-License-Identifier: Apache-2.0
#include "core/device/cpu_device.h"

#include <omp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/device/cpu_info.h"
#include "core/device/cpu_profiler.h"
#include "core/device/one_processor.h"
#include "core/device/perf_system.h"
#include "core/device/thread_confinement.h"

namespace swage::device {
namespace {

constexpr std::int64_t kFilledAtOnce = std::int64_t{1} << 20;  // by one thread
constexpr std::chrono::milliseconds kLongestConfinement{50};   // a few time slices of the system
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

// Beside the program that runs, as it is installed and built; tests lie in a folder beside it.
std::filesystem::path cellProgram() {
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
  for (const std::filesystem::path& place : {folder, folder.parent_path() / "bin"}) {
    if (std::filesystem::path found = place / "swage-cell"; std::filesystem::exists(found, failure)) {
      return found;
    }
  }
  return folder / "swage-cell";
}

class TimedTurn {
 public:
  explicit TimedTurn(CellRegister& cells) : m_cells(cells) { m_cells.isTiming = true; }
  ~TimedTurn() {
    m_cells.isTiming = false;
    if (m_cells.current != nullptr) {
      m_cells.current->yield();
    }
  }
  TimedTurn(const TimedTurn&) = delete;
  TimedTurn& operator=(const TimedTurn&) = delete;

 private:
  CellRegister& m_cells;
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
          [this] {
            std::vector<pid_t> cells;
            for (const CellModule* module : m_cells.modules) {
              cells.push_back(module->process());
            }
            return readProcessorTimes(cells);
          },
          [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
          m_info.threads) {
  const std::int64_t cache = m_info.cacheBytes > 0 ? m_info.cacheBytes : kDefaultCacheBytes;
  m_flushed.resize(static_cast<std::size_t>(std::min(2 * cache, kMaxFlushBytes)));
  ::sched_getaffinity(0, sizeof m_cells.allowed, &m_cells.allowed);
  m_cells.team.spread(m_cells.allowed);
}

std::unique_ptr<CpuDevice> CpuDevice::create(int threads) {
  domain::DeviceInfo info = describe(threads);
  info.copyBytesPerSecond = measureCopyBandwidth(info.cacheBytes > 0 ? info.cacheBytes : kDefaultCacheBytes);
  return std::unique_ptr<CpuDevice>(new CpuDevice(std::move(info)));
}

DeviceResult<std::unique_ptr<KernelModule>> CpuDevice::loadModule(const std::string& binary,
                                                                  const domain::LaunchPlan& plan) {
  if (m_isLocal) {
    m_openness = "a process of their own";
    return loadLocalKernels(binary);
  }
  auto module = CellModule::load({.program = cellProgram(), .threads = m_info.threads}, binary, plan, m_cells);
  if (module) {
    const std::string& gaps = static_cast<const CellModule&>(**module).gaps();
    if (!gaps.empty() && m_openness.empty()) {
      log::warn("kernels run without {}, which this system does not offer: their process is kept in by the rest", gaps);
    }
    m_openness = gaps;
  }
  return module;
}

// Kernels in a cell cannot reach the stacks and the arithmetic of this process.
void CpuDevice::scrub() {
  if (m_isLocal) {
    renewLocalTeam(m_info.threads);
  }
  if (m_cells.current != nullptr) {
    m_cells.current->renew();
  }
}

DeviceStatus CpuDevice::callConfined(const Call& call) {
  const OneProcessor here;  // the thread that calls kernels follows this one
  CellModule* const module = m_cells.current;
  if (module != nullptr) {
    module->setConfined(true);
  }
  DeviceStatus failed;
  {
    const ThreadConfinement confinement(cellProcess(), kLongestConfinement, here.allowed());
    failed = call();
  }
  if (module != nullptr && m_cells.modules.contains(module)) {
    module->setConfined(false);
  }
  return failed;
}

pid_t CpuDevice::cellProcess() const {
  const CellModule* module = m_cells.current != nullptr ? m_cells.current
                             : !m_cells.modules.empty() ? *m_cells.modules.begin()
                                                        : nullptr;
  return module != nullptr ? module->process() : ::getpid();
}

std::vector<pid_t> CpuDevice::cellThreads() const {
  if (m_isLocal) {
    return localTeam();
  }
  return m_cells.modules.empty() ? std::vector<pid_t>{} : (*m_cells.modules.begin())->threads();
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

// PyTorch in this process and kernels in a cell find the same: the caches of the same processors are cold, on each of
// these a thread is awake, no other thread looks for work, and the one that calls is kept where it is.
DeviceResult<CallTime> CpuDevice::timeColdAfter(const Call& before, const Call& call) {
  const OneProcessor here;
  m_cells.allowed = here.allowed();
  m_cells.team.spread(m_cells.allowed);
  if (DeviceStatus failed = before ? before() : std::nullopt) {
    return tl::make_unexpected(std::move(*failed));
  }
  const TimedTurn turn(m_cells);
  if (DeviceStatus failed = prepareCold()) {
    return tl::make_unexpected(std::move(*failed));
  }
  m_cells.outsideNs = 0.0;
  const auto start = std::chrono::steady_clock::now();
  DeviceStatus failed = call();
  const double elapsed = secondsSince(start);
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  return CallTime{.ns = std::max(0.0, elapsed * 1e9 - m_cells.outsideNs)};
}

// By this process, because the code in a cell could leave it out.
DeviceStatus CpuDevice::prepareCold() {
  m_cells.team.spread(m_cells.allowed);
  flushCaches();
  m_cells.team.spread(m_cells.allowed);  // threads that were done early may sleep, and some may have moved
  return m_cells.current != nullptr ? m_cells.current->warm() : std::nullopt;
}

// What cannot be counted is found out when it is asked for.
ProfilerResult<std::unique_ptr<Profiler>> CpuDevice::openProfiler() {
  // What fails here fails again in the launch that follows.
  return std::make_unique<CpuProfiler>(linuxPerf(),
                                       CpuProfiler::Options{.flushCaches = [this] { static_cast<void>(prepareCold()); },
                                                            .threads = [this] { return cellThreads(); },
                                                            .process = [this] { return cellProcess(); }});
}

}  // namespace swage::device
