// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/result.h"

namespace swage::device {

// A handle of dlopen for CUPTI, which is never closed: its threads may be in it. `file` is a path or a name for the
// loader; empty: $SWAGE_CUPTI where it is set, else what the loader finds (PyTorch's packages), else a toolkit's. Fails
// with kind Environment.
[[nodiscard]] Result<void*> loadCupti(const std::string& file = {});

}  // namespace swage::device
