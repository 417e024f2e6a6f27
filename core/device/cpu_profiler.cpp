// SPDX-License-Identifier: Apache-2.0
#include "core/device/cpu_profiler.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/device/perf_counters.h"
#include "core/device/process_map.h"

namespace swage::device {
namespace {

using std::chrono::steady_clock;

constexpr int kPasses = 5;  // of each set; the median counts
constexpr std::int64_t kWantedSamples = 4000;
constexpr std::chrono::seconds kLongestSampling{2};

constexpr std::uint64_t cacheEvent(std::uint64_t cache, std::uint64_t operation, std::uint64_t result) {
  return cache | operation << 8U | result << 16U;
}

constexpr std::array kSystem = {
    PerfEvent{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    PerfEvent{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
};
// Each set fits the four counters that every processor of the last ten years has at least.
constexpr std::array kWork = {
    PerfEvent{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    PerfEvent{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    PerfEvent{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    PerfEvent{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};
constexpr std::array kCaches = {
    PerfEvent{"L1-dcache-loads", PERF_TYPE_HW_CACHE,
              cacheEvent(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    PerfEvent{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
              cacheEvent(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    PerfEvent{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    PerfEvent{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};
constexpr std::array kStalls = {
    PerfEvent{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    PerfEvent{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

ProfilerFailure failureOf(const DeviceFailure& failure) {
  return {failure.detail, "", failure.poisoned};
}

// Runs the program with `start` and `stop` around its kernel, which finds the caches cold.
DeviceStatus runBetween(const Profiler::Program& program, const std::function<void()>& flush,
                        const std::function<void()>& start, const std::function<void()>& stop) {
  return program([&](const Profiler::Launch& launch) {
    flush();
    start();
    DeviceStatus failed = launch();
    stop();
    return failed;
  });
}

// Where an address lies: in a kernel, in the library that runs its threads, or elsewhere.
enum class Place : std::uint8_t { Kernel, Threads, Other };

struct Located {
  Place place = Place::Other;
  std::int64_t offset = 0;  // in its object
};

Located locate(const ProcessMap& map, std::uint64_t address) {
  const auto found = map.find(address);
  if (!found) {
    return {};
  }
  if (found->file.find("memfd:swage-kernel") != std::string_view::npos) {
    return {Place::Kernel, found->offset};
  }
  const std::string_view name = found->file.substr(found->file.rfind('/') + 1);
  const bool runsThreads = name.starts_with("libgomp") || name.starts_with("libomp") || name.starts_with("libiomp");
  return {runsThreads ? Place::Threads : Place::Other, found->offset};
}

SampleReport reportOf(const std::vector<PerfSampler::Addresses>& threads, const ProcessMap& map, std::int64_t lost) {
  std::map<std::int64_t, std::int64_t> instructions;
  std::array<double, 3> places{};
  double most = 0.0;
  for (const PerfSampler::Addresses& thread : threads) {
    double here = 0.0;
    for (const auto& [address, samples] : thread) {
      const Located at = locate(map, address);
      places[static_cast<std::size_t>(at.place)] += static_cast<double>(samples);
      if (at.place == Place::Kernel) {
        instructions[at.offset] += samples;
        here += static_cast<double>(samples);
      }
    }
    most = std::max(most, here);
  }
  SampleReport report;
  report.dropped = lost;
  for (const auto& [offset, samples] : instructions) {
    report.instructions.push_back({offset, {}, 0, samples, {}});
    report.samples += samples;
  }
  report.values = {{"samples-kernel", places[0]}, {"samples-openmp", places[1]}, {"samples-other", places[2]}};
  if (most > 0.0) {
    report.values.push_back({"samples-parallelism", places[0] / most});
  }
  return report;
}

}  // namespace

CpuProfiler::CpuProfiler(PerfSystem& system, Options options) : m_system(system), m_options(std::move(options)) {}

ProfilerResult<SampleReport> CpuProfiler::samples(const Program& program, const std::string&, const std::string&) {
  auto sampler = PerfSampler::open(m_system, m_options.threads());
  if (!sampler) {
    return tl::make_unexpected(std::move(sampler).error());
  }
  std::vector<PerfSampler::Addresses> threads;
  const auto end = steady_clock::now() + kLongestSampling;
  const auto taken = [&threads] {
    return std::accumulate(threads.begin(), threads.end(), std::int64_t{0}, [](std::int64_t sum, const auto& thread) {
      return std::accumulate(thread.begin(), thread.end(), sum,
                             [](std::int64_t all, const auto& at) { return all + at.second; });
    });
  };
  do {
    const DeviceStatus failed = runBetween(
        program, m_options.flushCaches, [&] { sampler->start(); }, [&] { sampler->stop(); });
    if (failed) {
      return tl::make_unexpected(failureOf(*failed));
    }
    sampler->drain(threads);
  } while (taken() < kWantedSamples && steady_clock::now() < end);
  return reportOf(threads, ProcessMap::of(m_options.process()), sampler->lost());
}

ProfilerResult<CounterReport> CpuProfiler::counters(const Program& program) {
  CounterReport report;
  const std::vector<pid_t> threads = m_options.threads();
  bool countsHardware = false;
  for (const PerfEventSet set :
       {PerfEventSet(kSystem), PerfEventSet(kWork), PerfEventSet(kCaches), PerfEventSet(kStalls)}) {
    const bool isHardware = set.data() != kSystem.data();
    auto counters = PerfCounters::open(m_system, set, threads);
    if (!counters) {
      if (!isHardware || !report.missing) {
        report.missing = std::move(counters).error();
      }
      continue;
    }
    std::vector<std::vector<double>> passes(set.size());
    for (int pass = 0; pass < kPasses; ++pass) {
      std::vector<std::optional<double>> counted;
      const DeviceStatus failed = runBetween(
          program, m_options.flushCaches, [&] { counters->start(); }, [&] { counted = counters->stop(); });
      if (failed) {
        return tl::make_unexpected(failureOf(*failed));
      }
      for (std::size_t i = 0; i < counted.size(); ++i) {
        if (counted[i]) {
          passes[i].push_back(*counted[i]);
        }
      }
    }
    report.passes += kPasses;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (passes[i].empty()) {
        report.unknown.emplace_back(set[i].name);
      } else {
        report.values.push_back({std::string(set[i].name), median(std::move(passes[i]))});
        countsHardware = countsHardware || isHardware;
      }
    }
  }
  if (countsHardware) {
    report.missing.reset();
  }
  return report;
}

}  // namespace swage::device
