// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/support/no_warnings.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new swage::testing::NoWarnings);
  return RUN_ALL_TESTS();
}
