// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>

namespace swage::detail {
[[noreturn]] void assertionFailed(const char* condition, std::source_location where = std::source_location::current());
}  // namespace swage::detail

// A programmer's mistake: aborts in release builds too. Never used on data from disk, wire, user or driver.
#define SWAGE_ASSERT(condition) ((condition) ? void(0) : ::swage::detail::assertionFailed(#condition))
