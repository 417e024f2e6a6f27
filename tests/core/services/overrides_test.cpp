// SPDX-License-Identifier: Apache-2.0
#include "core/services/overrides.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage::services {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

TEST(Override, IsSplitAtTheFirstEqualsSign) {
  const auto pair = parseOverride("shape=[1, 2]=x");
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->first, "shape");
  EXPECT_EQ(pair->second, "[1, 2]=x");
  for (const char* text : {"=3", "dim", "dim="}) {
    EXPECT_THAT(parseOverride(text), IsError(ErrorKind::Usage, HasSubstr("NAME=VALUE"))) << text;
  }
}

}  // namespace
}  // namespace swage::services
