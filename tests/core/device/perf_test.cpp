// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "core/device/cpu_device.h"
#include "core/device/cpu_profiler.h"
#include "core/device/perf_counters.h"
#include "core/device/perf_sampler.h"
#include "tests/core/verify/kernel_compiler.h"

namespace swage::device {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

// A Linux kernel of our own: every event grows by a number of its own from one reading to the next.
class FakePerf final : public PerfSystem {
 public:
  struct Event {
    perf_event_attr attributes{};
    pid_t thread = 0;
    int leader = -1;
  };

  int open(const perf_event_attr& attributes, pid_t thread, int leader) override {
    if (const auto refused = refusals.find(attributes.type); refused != refusals.end()) {
      return -refused->second;
    }
    if (missing.contains({attributes.type, attributes.config})) {
      return -ENOENT;
    }
    const int fd = ++m_last;
    events[fd] = {attributes, thread, leader};
    ++opened;
    return fd;
  }
  void enable(int leader) override { enabled.push_back(leader); }
  void disable(int) override {}
  std::int64_t read(int fd, void* target, std::size_t bytes) override {
    const auto members = static_cast<std::uint64_t>(std::count_if(
        events.begin(), events.end(), [fd](const auto& one) { return one.first == fd || one.second.leader == fd; }));
    ++m_readings[fd];
    std::vector<std::uint64_t> words = {members, m_readings[fd] * enabledNs, m_readings[fd] * runningNs};
    for (std::uint64_t i = 0; i < members; ++i) {
      words.push_back(m_readings[fd] * (i + 1) * 100);
    }
    const std::size_t size = words.size() * sizeof words[0];
    if (size > bytes) {
      return -ENOSPC;
    }
    std::memcpy(target, words.data(), size);
    return static_cast<std::int64_t>(size);
  }
  void* map(int, std::size_t bytes) override {
    if (!mayMap) {
      return nullptr;
    }
    m_rings.push_back(std::make_unique<unsigned char[]>(bytes));
    ringBytes = bytes;
    return m_rings.back().get();
  }
  void unmap(void*, std::size_t) override { ++unmapped; }
  void close(int fd) override { closed.insert(fd); }
  std::optional<int> paranoid() const override { return paranoidLevel; }
  int maxSampleRate() const override { return 5000; }

  // What the kernel would write into the ring of an event.
  void addRecord(std::size_t ring, std::uint32_t type, std::vector<std::uint64_t> words) {
    auto* const page = reinterpret_cast<perf_event_mmap_page*>(m_rings[ring].get());
    const auto pageBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    perf_event_header header{};
    header.type = type;
    const std::size_t bytesOfWords = words.size() * sizeof words[0];
    std::vector<unsigned char> record(sizeof header + bytesOfWords);
    header.size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data(), &header, sizeof header);
    const auto* first = reinterpret_cast<const unsigned char*>(words.data());
    std::copy(first, first + bytesOfWords, record.begin() + sizeof header);
    for (const unsigned char byte : record) {
      m_rings[ring][pageBytes + page->data_head++ % (ringBytes - pageBytes)] = byte;
    }
  }

  std::map<int, Event> events;
  std::map<std::uint32_t, int> refusals;  // errno by type of event
  std::set<std::pair<std::uint32_t, std::uint64_t>> missing;
  std::uint64_t enabledNs = 1000;
  std::uint64_t runningNs = 1000;
  std::optional<int> paranoidLevel = 2;
  bool mayMap = true;
  std::vector<int> enabled;
  std::set<int> closed;
  int opened = 0;
  int unmapped = 0;
  std::size_t ringBytes = 0;

 private:
  int m_last = 100;
  std::map<int, std::uint64_t> m_readings;
  std::vector<std::unique_ptr<unsigned char[]>> m_rings;
};

constexpr PerfEvent kTwo[] = {{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                              {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}};

CpuProfiler::Options optionsFor(std::vector<pid_t> threads, int* flushes = nullptr) {
  return {.flushCaches = [flushes] { flushes != nullptr ? void(++*flushes) : void(); },
          .threads = [threads = std::move(threads)] { return threads; },
          .process = [] { return ::getpid(); }};
}

const Profiler::Program kNothing = [](const Profiler::Bracket& bracket) {
  return bracket([]() -> DeviceStatus { return std::nullopt; });
};

double valueOf(const std::vector<domain::ProfileMetric>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(), [name](const auto& one) { return one.name == name; });
  return found == values.end() ? -1.0 : found->value;
}

TEST(PerfCounters, AddUpWhatAllThreadsCountedAndCloseWhatTheyOpened) {
  FakePerf system;
  {
    auto counters = PerfCounters::open(system, kTwo, {11, 12});
    ASSERT_TRUE(counters.has_value());
    counters->start();
    EXPECT_THAT(counters->stop(), ElementsAre(Optional(200.0), Optional(400.0)));
    EXPECT_EQ(system.enabled, (std::vector<int>{103, 101})) << "the calling thread is the last to begin";
  }
  EXPECT_EQ(system.opened, 4);
  EXPECT_THAT(system.closed, SizeIs(4));
  EXPECT_TRUE(system.events[101].attributes.exclude_kernel);
  EXPECT_EQ(system.events[102].leader, 101);
}

TEST(PerfCounters, AreScaledWhereTheyHadToShareTheProcessor) {
  FakePerf system;
  system.runningNs = 250;
  auto counters = PerfCounters::open(system, kTwo, {11});
  ASSERT_TRUE(counters.has_value());
  counters->start();
  EXPECT_THAT(counters->stop(), ElementsAre(Optional(400.0), Optional(800.0)));
  system.runningNs = 0;
  auto starved = PerfCounters::open(system, kTwo, {11});
  ASSERT_TRUE(starved.has_value());
  starved->start();
  EXPECT_THAT(starved->stop(), ElementsAre(std::nullopt, std::nullopt)) << "never had a counter";
}

TEST(PerfCounters, LeaveOutWhatTheProcessorDoesNotHave) {
  FakePerf system;
  system.missing = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}};
  auto counters = PerfCounters::open(system, kTwo, {11, 12});
  ASSERT_TRUE(counters.has_value());
  counters->start();
  EXPECT_THAT(counters->stop(), ElementsAre(std::nullopt, Optional(200.0)));
}

TEST(PerfFailure, SaysWhatToDo) {
  const ProfilerFailure paranoid = perfFailure(EACCES, 3);
  EXPECT_EQ(paranoid.cause, "counters are forbidden: /proc/sys/kernel/perf_event_paranoid is 3");
  EXPECT_THAT(paranoid.fix, HasSubstr("sudo sysctl kernel.perf_event_paranoid=2"));
  EXPECT_THAT(perfFailure(EPERM, 1).fix, HasSubstr("--cap-add PERFMON")) << "a container's seccomp, then";
  EXPECT_THAT(perfFailure(ENOENT, 2).cause, HasSubstr("virtual machines"));
  EXPECT_THAT(perfFailure(EMFILE, 2).fix, HasSubstr("ulimit -n"));
  EXPECT_THAT(perfFailure(ENOSYS, std::nullopt).cause, HasSubstr("Linux kernel cannot count"));
}

TEST(CpuProfiler, CountsEverySetWithColdCaches) {
  FakePerf system;
  int flushes = 0;
  CpuProfiler profiler(system, optionsFor({11}, &flushes));
  const auto report = profiler.counters(kNothing);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->missing);
  EXPECT_THAT(report->unknown, IsEmpty());
  EXPECT_EQ(valueOf(report->values, "cycles"), 100.0);
  EXPECT_EQ(valueOf(report->values, "branch-misses"), 400.0);
  EXPECT_EQ(valueOf(report->values, "stalled-cycles-backend"), 200.0);
  EXPECT_EQ(valueOf(report->values, "task-clock"), 100.0);
  EXPECT_EQ(flushes, report->passes);
  EXPECT_FALSE(profiler.staysInProcess());
}

TEST(CpuProfiler, WithoutAPmuStillHasWhatTheSystemCounts) {
  FakePerf system;
  system.refusals = {{PERF_TYPE_HARDWARE, ENOENT}, {PERF_TYPE_HW_CACHE, ENOENT}};
  const auto report = CpuProfiler(system, optionsFor({11})).counters(kNothing);
  ASSERT_TRUE(report.has_value());
  ASSERT_TRUE(report->missing);
  EXPECT_THAT(report->missing->cause, HasSubstr("virtual machines"));
  EXPECT_EQ(valueOf(report->values, "task-clock"), 100.0);
  EXPECT_EQ(valueOf(report->values, "cycles"), -1.0);
}

TEST(CpuProfiler, SaysThatCountingIsForbidden) {
  FakePerf system;
  system.paranoidLevel = 3;
  system.refusals = {{PERF_TYPE_HARDWARE, EACCES}, {PERF_TYPE_HW_CACHE, EACCES}, {PERF_TYPE_SOFTWARE, EACCES}};
  CpuProfiler profiler(system, optionsFor({11}));
  const auto report = profiler.counters(kNothing);
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->missing->cause, HasSubstr("perf_event_paranoid is 3"));
  EXPECT_THAT(report->values, IsEmpty());
  const auto samples = profiler.samples(kNothing, "k", "");
  ASSERT_FALSE(samples.has_value());
  EXPECT_THAT(samples.error().cause, HasSubstr("perf_event_paranoid is 3"));
}

TEST(PerfSampler, ReadsTheRingsAroundTheirEnd) {
  FakePerf system;
  auto sampler = PerfSampler::open(system, {11, 12});
  ASSERT_TRUE(sampler.has_value());
  EXPECT_EQ(system.events[101].attributes.sample_freq, 5000U) << "no faster than the system allows";
  std::vector<PerfSampler::Addresses> samples;
  std::int64_t added = 0;
  for (int round = 0; round < 5; ++round) {  // of 16 bytes each: past the end of the ring in the second one
    for (int i = 0; i < 700; ++i, ++added) {
      system.addRecord(0, PERF_RECORD_SAMPLE, {0x1000U});
    }
    system.addRecord(0, PERF_RECORD_LOST, {7, 3});
    system.addRecord(1, PERF_RECORD_SAMPLE, {0x2000U});
    sampler->drain(samples);
  }
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0], (PerfSampler::Addresses{{0x1000U, added}}));
  EXPECT_EQ(samples[1], (PerfSampler::Addresses{{0x2000U, 5}}));
  EXPECT_EQ(sampler->lost(), 15);
}

TEST(PerfSampler, TakesTheClockWhereTheProcessorHasNoCounters) {
  FakePerf system;
  system.refusals = {{PERF_TYPE_HARDWARE, ENOENT}};
  ASSERT_TRUE(PerfSampler::open(system, {11}).has_value());
  EXPECT_EQ(system.events[101].attributes.type, static_cast<std::uint32_t>(PERF_TYPE_SOFTWARE));
  EXPECT_EQ(system.unmapped, 1);
}

TEST(PerfSampler, IsContentWithTheThreadsItsMemoryIsEnoughFor) {
  FakePerf system;
  system.mayMap = false;
  const auto refused = PerfSampler::open(system, {11});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(system.closed, Contains(101));
}

// The processor this runs on, whatever it has.
class RealPerf : public ::testing::Test {
 protected:
  static constexpr const char* kSource = R"(
extern "C" void spin(void** a) {
  float* x = *static_cast<float**>(a[0]);
  for (int round = 0; round < 2000; ++round)
    for (int i = 0; i < 1024; ++i) x[i] = x[i] * 0.5f + 1.0f;
}
)";

  void SetUp() override {
    m_device = CpuDevice::create(1);
    domain::KernelStep step;
    step.entry = "spin";
    step.arguments = {domain::ValueId(0)};
    domain::LaunchPlan plan;
    plan.buffers = {domain::contiguousTensor(domain::ScalarType::Float32, {1024})};
    plan.outputs = {domain::ValueId(0)};
    plan.steps = {step};
    auto module = m_device->loadModule(testing::compileSharedObject(kSource), plan);
    ASSERT_TRUE(module.has_value()) << module.error().detail;
    m_module = std::move(*module);
    auto kernel = m_module->bind(step);
    ASSERT_TRUE(kernel.has_value());
    m_kernel = std::move(*kernel);
    m_profiler = std::move(*m_device->openProfiler());
  }

  [[nodiscard]] Profiler::Program program() {
    return [this](const Profiler::Bracket& bracket) {
      return bracket([this] {
        float* data = m_data.data();
        void* argument = &data;
        return m_kernel->launch(&argument);
      });
    };
  }

  std::vector<float> m_data = std::vector<float>(1024);
  std::unique_ptr<CpuDevice> m_device;
  std::unique_ptr<KernelModule> m_module;
  std::unique_ptr<Kernel> m_kernel;
  std::unique_ptr<Profiler> m_profiler;
};

TEST_F(RealPerf, CountsInstructions) {
  const auto report = m_profiler->counters(program());
  ASSERT_TRUE(report.has_value()) << report.error().cause;
  if (report->missing) {
    GTEST_SKIP() << report->missing->cause;
  }
  EXPECT_GT(valueOf(report->values, "instructions"), 100000.0) << "two million additions, at most 16 at a time";
  EXPECT_GT(valueOf(report->values, "cycles"), 10000.0);
}

TEST_F(RealPerf, FindsTheKernelWhereTheTimeGoes) {
  const auto report = m_profiler->samples(program(), "spin", "");
  if (!report) {
    GTEST_SKIP() << report.error().cause;
  }
  EXPECT_GT(report->samples, 100);
  EXPECT_GT(valueOf(report->values, "samples-kernel"), 10.0 * valueOf(report->values, "samples-other"));
  EXPECT_NEAR(valueOf(report->values, "samples-parallelism"), 1.0, 1e-9);
  EXPECT_THAT(report->instructions, Not(IsEmpty()));
  EXPECT_GT(report->instructions.front().offset, 0) << "in the object, not in memory";
  EXPECT_LT(report->instructions.back().offset, 1 << 20);
}

}  // namespace
}  // namespace swage::device
