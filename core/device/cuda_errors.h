// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace swage::device {

// Whether the driver's documentation of this error code (CUresult, or cudaError_t, which has the same numbers for
// these) says that the process must be ended and launched again. The only place that decides it.
[[nodiscard]] bool isSticky(int code);

// What a person can do when the driver does not start with this code, or does not open a device.
[[nodiscard]] std::string_view adviceOn(int code);

}  // namespace swage::device
