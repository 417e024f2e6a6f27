// SPDX-License-Identifier: Apache-2.0
#include "core/measure/condition_watch.h"

#include <gmock/gmock.h>

namespace swage::measure {
namespace {

using Look = ConditionWatch::Look;

class Watch : public ::testing::Test {
 protected:
  double m_seconds = 0.0;
  device::ConditionSample m_now;
  int m_asked = 0;
  Clock m_clock = [this] { return m_seconds; };
  ConditionProbe m_probe = [this] {
    ++m_asked;
    return m_now;
  };
};

TEST_F(Watch, AsksSeldom) {
  ConditionWatch watch(m_probe, m_clock);
  EXPECT_EQ(watch.look(), Look::NotYet);
  m_seconds = 0.019;
  EXPECT_EQ(watch.look(), Look::NotYet);
  m_seconds = 0.021;
  EXPECT_EQ(watch.look(), Look::Fine);
  EXPECT_EQ(watch.look(), Look::NotYet);
  EXPECT_EQ(m_asked, 1);
}

TEST_F(Watch, SumsUpWhatItSaw) {
  ConditionWatch watch(m_probe, m_clock);
  m_now = {true, 1980, 3201, 50, 300.0, {}, false};
  EXPECT_EQ(watch.lookNow(), Look::Fine);
  m_now = {true, 1200, 3201, 88, 250.0, {"thermal"}, true};
  EXPECT_EQ(watch.lookNow(), Look::Throttled);
  m_now = {true, 1950, 3201, 80, 700.0, {"power cap", "thermal"}, false};
  EXPECT_EQ(watch.lookNow(), Look::Fine);
  const domain::DeviceConditions seen = watch.summary();
  EXPECT_EQ(seen.smClockMhz, 1950);
  EXPECT_EQ(seen.lowestSmClockMhz, 1200);
  EXPECT_EQ(seen.memoryClockMhz, 3201);
  EXPECT_EQ(seen.temperatureCelsius, 88);
  EXPECT_DOUBLE_EQ(seen.powerWatts, 700.0);
  EXPECT_THAT(seen.throttleReasons, ::testing::ElementsAre("power cap", "thermal"));
  EXPECT_THAT(seen.looks,
              ::testing::ElementsAre(domain::ConditionLook{1980, 50, false}, domain::ConditionLook{1200, 88, true},
                                     domain::ConditionLook{1950, 80, false}));
}

TEST_F(Watch, KeepsSomeLooksOfALongMeasurement) {
  ConditionWatch watch(m_probe, m_clock);
  for (int i = 1; i <= 1000; ++i) {
    m_now = {true, i, 0, 0, 0.0, {}, false};
    static_cast<void>(watch.lookNow());
  }
  const auto looks = watch.summary().looks;
  ASSERT_EQ(looks.size(), domain::kKeptSamples);
  EXPECT_EQ(looks.front().smClockMhz, 1);
  EXPECT_EQ(looks.back().smClockMhz, 1000);
}

TEST_F(Watch, KnowsNothingWhereNobodyCanBeAsked) {
  const ConditionProbe none;
  ConditionWatch watch(none, m_clock);
  EXPECT_EQ(watch.lookNow(), Look::Fine);
  EXPECT_EQ(watch.summary(), domain::DeviceConditions());
}

}  // namespace
}  // namespace swage::measure
