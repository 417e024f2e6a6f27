// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <vector>

#include "core/device/open_device.h"
#include "core/measure/paired.h"
#include "core/stats/agreement.h"
#include "tests/support/result_matchers.h"

// The clocks of a GPU against each other, with calls whose work is known: fills of device memory, on the stream that is
// timed or beside it. The driver is asked by name, because only core/device sees its header.
namespace swage::device {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kBytes = std::size_t{2} << 30;
constexpr unsigned kNonBlocking = 1;

// Each block says which multiprocessor it runs on.
constexpr const char* kPlaces = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry places(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  mov.u32 %r2, %smid;
  st.global.u32 [%d3], %r2;
  ret;
}
)";
constexpr std::uint32_t kPlacedBlocks = 1000;

class CudaTiming : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = openDevice(domain::DeviceKind::Cuda, 0, 1);
    if (!device) {
      GTEST_SKIP() << device.error().message();
    }
    m_device = std::move(*device);
    void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto allocate = reinterpret_cast<int (*)(std::uint64_t*, std::size_t)>(::dlsym(driver, "cuMemAlloc_v2"));
    const auto makeStream = reinterpret_cast<int (*)(void**, unsigned)>(::dlsym(driver, "cuStreamCreate"));
    m_fill = reinterpret_cast<Fill>(::dlsym(driver, "cuMemsetD8Async"));
    m_read = reinterpret_cast<decltype(m_read)>(::dlsym(driver, "cuMemcpyDtoH_v2"));
    ASSERT_EQ(allocate(&m_memory, kBytes), 0);
    ASSERT_EQ(makeStream(&m_otherStream, kNonBlocking), 0);
  }

  [[nodiscard]] Device::Call fill(std::size_t bytes, void* stream = nullptr) {
    return [this, bytes, stream]() -> DeviceStatus {
      return m_fill(m_memory, 1, bytes, stream) == 0 ? DeviceStatus() : DeviceFailure{"cannot fill"};
    };
  }
  [[nodiscard]] domain::Timing timed(const Device::Call& call) {
    measure::PairOptions options;
    options.timing.clock = m_device->clock();
    options.timing.conditions = [this] { return m_device->conditions(); };
    options.trace = [this, call] { return m_device->traceCold(call); };
    const auto timing = measure::timePair([this, call] { return m_device->timeCold(call); },
                                          [this] { return m_device->timeCold(fill(kBytes / 2)); }, options);
    EXPECT_TRUE(timing.has_value());
    if (!timing) {
      return {};
    }
    const domain::Timing& candidate = timing->candidate;
    std::printf("events %.1f us, host %.1f us, activity %.1f us, %d MHz, %d C, %.0f W\n", candidate.medianNs / 1e3,
                candidate.hostMedianNs / 1e3, candidate.activityMedianNs / 1e3, candidate.conditions.smClockMhz,
                candidate.conditions.temperatureCelsius, candidate.conditions.powerWatts);
    return candidate;
  }

  // How many multiprocessors the blocks of a kernel are on.
  [[nodiscard]] std::size_t placesOf(bool isConfined) {
    const auto module = m_device->loadModule(kPlaces, {});
    domain::KernelStep step;
    step.entry = "places";
    step.grid.x = kPlacedBlocks;
    step.block.x = 1024;
    step.arguments = {domain::ValueId(0)};
    const auto kernel = module ? (*module)->bind(step) : tl::make_unexpected(module.error());
    if (!kernel) {
      ADD_FAILURE() << kernel.error().detail;
      return 0;
    }
    std::array<void*, 1> arguments = {&m_memory};
    const auto launch = [&] { return (*kernel)->launch(arguments.data()); };
    const DeviceStatus failed = isConfined ? m_device->callConfined(launch) : launch();
    EXPECT_FALSE(failed) << failed->detail;
    std::vector<std::uint32_t> places(kPlacedBlocks);
    EXPECT_EQ(m_read(places.data(), m_memory, places.size() * sizeof places.front()), 0);
    return std::set(places.begin(), places.end()).size();
  }

  using Fill = int (*)(std::uint64_t, unsigned char, std::size_t, void*);
  std::unique_ptr<Device> m_device;
  Fill m_fill = nullptr;
  int (*m_read)(void*, std::uint64_t, std::size_t) = nullptr;
  std::uint64_t m_memory = 0;
  void* m_otherStream = nullptr;
};

TEST_F(CudaTiming, ThreeClocksAgreeOnHonestWork) {
  for (const std::size_t bytes : {std::size_t{4} << 10, std::size_t{16} << 20, kBytes}) {
    const domain::Timing timing = timed(fill(bytes));
    EXPECT_EQ(timing.clock, "device events");
    EXPECT_GT(timing.activityMedianNs, 0.0) << "CUPTI is not there";
    EXPECT_FALSE(stats::findDisagreement(timing)) << *stats::findDisagreement(timing);
  }
}

TEST_F(CudaTiming, AConfinedCallHasOneMultiprocessor) {
  EXPECT_GT(placesOf(false), 1U);
  EXPECT_EQ(placesOf(true), 1U);
  EXPECT_GT(placesOf(false), 1U) << "the others are let go";
}

TEST_F(CudaTiming, WorkBesideTheTimedStreamIsFoundOut) {
  const domain::Timing timing = timed(fill(kBytes, m_otherStream));
  EXPECT_LT(timing.medianNs, 100e3) << "the events see nothing of it";
  const auto found = stats::findDisagreement(timing);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, HasSubstr("device events: "));
}

TEST_F(CudaTiming, HavingTracedDoesNotSlowDownWhatIsTimedLater) {
  const Device::Call call = fill(std::size_t{64} << 20);
  const auto median = [&] {
    const auto timing = measure::timeAlone([&] { return m_device->timeCold(call); }, {.maxSamples = 200});
    EXPECT_TRUE(timing.has_value());
    return timing ? timing->medianNs : 0.0;
  };
  const double before = median();
  ASSERT_TRUE(m_device->traceCold(call).has_value());
  const double after = median();
  std::printf("before %.1f us, after %.1f us\n", before / 1e3, after / 1e3);
  EXPECT_LE(after / before, 1.03);
}

TEST_F(CudaTiming, TheManagementLibraryKnowsTheDevice) {
  const ConditionSample sample = m_device->conditions();
  ASSERT_TRUE(sample.known);
  EXPECT_GT(sample.smClockMhz, 100);
  EXPECT_GT(sample.memoryClockMhz, 100);
  EXPECT_GT(sample.temperatureCelsius, 10);
  EXPECT_GT(sample.powerWatts, 10.0);
}

}  // namespace
}  // namespace swage::device
