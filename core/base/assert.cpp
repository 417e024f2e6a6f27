// SPDX-License-Identifier: Apache-2.0
#include "core/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace swage::detail {

void assertionFailed(const char* condition, std::source_location where) {
  std::fprintf(stderr, "%s:%u: %s: assertion failed: %s\n", where.file_name(), where.line(), where.function_name(),
               condition);
  std::abort();
}

}  // namespace swage::detail
