// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

namespace swage {

// Where the time comes from; tests have a clock of their own.
using MonotonicNow = std::function<std::chrono::steady_clock::time_point()>;

}  // namespace swage
