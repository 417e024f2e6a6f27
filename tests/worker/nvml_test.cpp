// SPDX-License-Identifier: Apache-2.0
#include "core/device/nvml.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace swage::device {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A session with the fake library, whose samples are `script` in turn.
class Nvml : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("SWAGE_FAKE_NVML"); }
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
