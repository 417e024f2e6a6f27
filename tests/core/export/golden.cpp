// SPDX-License-Identifier: Apache-2.0
#include "tests/core/export/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"

namespace swage::exporting::testing {

void expectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(SWAGE_TEST_DATA) / name;
  if (std::getenv("SWAGE_UPDATE_GOLDEN") != nullptr) {
    ASSERT_THAT(writeFileAtomically(file, text), swage::testing::IsOk());
  }
  const auto golden = readTextFile(file);
  ASSERT_THAT(golden, swage::testing::IsOk());
  EXPECT_EQ(text, *golden);
}

}  // namespace swage::exporting::testing
