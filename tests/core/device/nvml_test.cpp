// SPDX-License-Identifier: Apache-2.0
#include "core/device/nvml.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "core/device/tenant_watch.h"

namespace swage::device {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A session with the fake library, whose samples are `script` in turn.
class Nvml : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("SWAGE_FAKE_NVML");
    ::unsetenv("SWAGE_FAKE_NVML_USES");
  }
  static std::unique_ptr<NvmlSession> open(const char* script, const char* uuid = "GPU-fake") {
    ::setenv("SWAGE_FAKE_NVML", script, 1);
    return NvmlSession::open(uuid, SWAGE_FAKE_NVML_LIBRARY);
  }
};

TEST_F(Nvml, SaysHowTheGpuIs) {
  const auto session = open("1755,3201,61,512500,0x0");
  EXPECT_EQ(session->facts().driverVersion, "580.1");
  EXPECT_EQ(session->facts().maxSmClockMhz, 1980);
  const ConditionSample sample = session->sample();
  EXPECT_TRUE(sample.known);
  EXPECT_EQ(sample.smClockMhz, 1755);
  EXPECT_EQ(sample.memoryClockMhz, 3201);
  EXPECT_EQ(sample.temperatureCelsius, 61);
  EXPECT_DOUBLE_EQ(sample.powerWatts, 512.5);
  EXPECT_THAT(sample.reasons, IsEmpty());
  EXPECT_FALSE(sample.throttled);
}

TEST_F(Nvml, ASessionSeesTheGpuChange) {
  const auto session = open("1980,3201,50,300000,0x1;1200,3201,88,300000,0x40;1980,3201,60,300000,0x4");
  EXPECT_FALSE(session->sample().throttled);
  const ConditionSample hot = session->sample();
  EXPECT_TRUE(hot.throttled);
  EXPECT_EQ(hot.smClockMhz, 1200);
  EXPECT_THAT(hot.reasons, ElementsAre("hardware thermal"));
  const ConditionSample capped = session->sample();
  EXPECT_FALSE(capped.throttled);
  EXPECT_THAT(capped.reasons, ElementsAre("power cap"));
}

TEST_F(Nvml, KnowsNothingOfAnotherGpu) {
  const auto session = open("1755,3201,61,512500,0x8", "GPU-other");
  EXPECT_FALSE(session->sample().known);
  EXPECT_FALSE(session->sample().throttled);
}

TEST_F(Nvml, KnowsNothingWithoutALibraryOrADriver) {
  EXPECT_FALSE(NvmlSession::open("GPU-fake", "/nonexistent/libnvidia-ml.so")->sample().known);
  ::unsetenv("SWAGE_FAKE_NVML");
  const auto session = NvmlSession::open("GPU-fake", SWAGE_FAKE_NVML_LIBRARY);
  EXPECT_FALSE(session->sample().known);
  EXPECT_THAT(session->facts().driverVersion, IsEmpty());
}

TEST_F(Nvml, AnInstanceOfAGpuHasTheClocksOfTheWhole) {
  const auto session = open("1755,3201,61,512500,0x0", "GPU-part");
  EXPECT_TRUE(session->facts().isInstance);
  EXPECT_EQ(session->sample().smClockMhz, 1755);
  EXPECT_FALSE(open("1755,3201,61,512500,0x0")->facts().isInstance);
}

TEST_F(Nvml, AnotherProcessThatComputesSpoilsAMeasurement) {
  const auto session = open("1980,3201,50,300000,0x0");
  ::setenv("SWAGE_FAKE_NVML_USES", "self,93;77,40", 1);
  EXPECT_FALSE(session->sample().throttled) << "it may have been there before";
  std::this_thread::sleep_for(300ms);
  const ConditionSample shared = session->sample();
  EXPECT_TRUE(shared.throttled);
  EXPECT_THAT(shared.reasons, ElementsAre("another process"));
}

class Tenants : public ::testing::Test {
 protected:
  // What the library says from now on, half a second later.
  bool isSharedBy(std::vector<ProcessUse> uses) {
    m_uses = std::move(uses);
    m_now += 0.5;
    return m_watch.isShared();
  }

  std::vector<ProcessUse> m_uses;
  std::uint64_t m_since = 0;
  double m_now = 100.0;
  TenantWatch m_watch{[this](std::uint64_t since) {
                        m_since = since;
                        return m_uses;
                      },
                      [this] { return m_now; }, 7};
};

TEST_F(Tenants, AreThoseThatComputeBesideUs) {
  EXPECT_FALSE(isSharedBy({{8, 1, 90}})) << "what was before the first question is nobody's business";
  EXPECT_TRUE(isSharedBy({{7, 2, 90}, {8, 3, 40}}));
  EXPECT_EQ(m_since, 1U);
  EXPECT_FALSE(isSharedBy({{7, 4, 90}, {8, 5, 0}})) << "it holds memory only";
  EXPECT_FALSE(isSharedBy({{7, 6, 90}, {8, 7, 3}})) << "a desktop";
  EXPECT_FALSE(isSharedBy({}));
}

TEST_F(Tenants, AreCountedWhereOurOwnNumberIsNotTheLibrarys) {
  EXPECT_FALSE(isSharedBy({}));
  EXPECT_FALSE(isSharedBy({{4711, 1, 95}})) << "that is this process, seen from outside of its container";
  EXPECT_TRUE(isSharedBy({{4711, 2, 95}, {4712, 2, 30}}));
}

TEST_F(Tenants, AreAskedForAFewTimesASecondAndForgottenInAPause) {
  EXPECT_FALSE(isSharedBy({}));
  EXPECT_TRUE(isSharedBy({{7, 1, 50}, {8, 1, 50}}));
  m_uses.clear();
  m_now += 0.1;
  EXPECT_TRUE(m_watch.isShared());
  m_now += 10.0;
  m_uses = {{7, 2, 50}, {8, 2, 50}};
  EXPECT_FALSE(m_watch.isShared());
}

TEST(ClockReasons, HeatAndThePowerSupplySpoilAMeasurementAndIdlenessIsNoReason) {
  EXPECT_THAT(clockReasons(0x1), IsEmpty());
  EXPECT_THAT(clockReasons(0x1FF), ElementsAre("application clocks", "power cap", "hardware slowdown", "sync boost",
                                               "thermal", "hardware thermal", "power brake", "display clocks"));
  for (const std::uint64_t spoils : {0x8, 0x20, 0x40, 0x80}) {
    EXPECT_TRUE(isThrottled(spoils)) << spoils;
  }
  EXPECT_FALSE(isThrottled(0x1 | 0x2 | 0x4 | 0x10 | 0x100));
}

}  // namespace
}  // namespace swage::device
