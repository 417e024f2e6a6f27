// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/window_fixture.h"

#include "core/base/files.h"

namespace swage::testing {

void WindowTest::write(const std::filesystem::path& file, const char* text) {
  ASSERT_TRUE(writeFileAtomically(file, text).has_value());
}

}  // namespace swage::testing
