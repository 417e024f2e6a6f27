// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::device {

// Whether the driver's documentation of this error code (CUresult, or cudaError_t, which has the same numbers for
// these) says that the process must be ended and launched again. The only place that decides it.
[[nodiscard]] bool isSticky(int code);

}  // namespace swage::device
