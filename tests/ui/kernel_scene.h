// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_services.h"

namespace swage::testing {

// A CUDA candidate as a GPU's run leaves one: its source, the PTX that NVRTC made of it, and a profile with samples.
enum class KernelScene { Profiled, Failed };
void fillKernel(FakeRecordService& record, FakeEditService& edits, KernelScene scene);

}  // namespace swage::testing
