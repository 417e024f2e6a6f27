// SPDX-License-Identifier: Apache-2.0
#include "core/base/duration.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

TEST(Duration, IsReadInEveryUnit) {
  EXPECT_DOUBLE_EQ(parseDuration("60s").value(), 60.0);
  EXPECT_DOUBLE_EQ(parseDuration("2m").value(), 120.0);
  EXPECT_DOUBLE_EQ(parseDuration("1h").value(), 3600.0);
  EXPECT_DOUBLE_EQ(parseDuration("1h30m").value(), 5400.0);
  EXPECT_DOUBLE_EQ(parseDuration(" 1.5 min ").value(), 90.0);
  EXPECT_DOUBLE_EQ(parseDuration("500ms").value(), 0.5);
  EXPECT_DOUBLE_EQ(parseDuration("45").value(), 45.0);
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", " ", "s", "-5s", "5x", "5s6", "1h2", "1 2", "0", "nan", "inf", "1e3s", "99999h"}) {
    EXPECT_THAT(parseDuration(text), IsError(ErrorKind::Usage, HasSubstr("is not a duration"))) << text;
  }
}

}  // namespace
}  // namespace swage
