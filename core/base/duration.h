// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace swage {

// Seconds of "60s", "2m", "1h30m", "1.5 min", "500ms"; a bare number is seconds. Usage error for other text, for what
// is not positive and for more than a year.
[[nodiscard]] Result<double> parseDuration(std::string_view text);

}  // namespace swage
