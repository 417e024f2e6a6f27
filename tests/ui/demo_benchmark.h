// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/services/benchmark_service.h"

namespace swage::testing {

// Problems won, lost and failed, as no device has measured them.
[[nodiscard]] services::BenchmarkResults demoBenchmark();

}  // namespace swage::testing
